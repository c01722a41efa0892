#include "cli/bench_images.h"

#include "base/assert.h"
#include "base/rand.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_MIN_BYTES 100
#define IMAGE_MAX_BYTES (1024 * 1024)
#define VARIANT sodium_base64_VARIANT_ORIGINAL

/* ---- made up ----------------------------------------------------------------------------- */

/* A Windows bitmap of 64 by 32 pixels with one bit each, since that needs neither compression nor a checksum. */
#define BITMAP_HEAD 62
#define BITMAP_PIXELS (64 / 8 * 32)
static const unsigned char bitmap_head[BITMAP_HEAD] = {
    'B', 'M', 62, 1, 0,   0,   0,   0, 0,  0, 62, 0, 0, 0, /* size of the file, offset */
    40,  0,   0,  0, 64,  0,   0,   0, 32, 0, 0,  0, 1, 0,
    1,   0,   0,  0, 0,   0, /* width, height, one bit */
    0,   1,   0,  0, 0,   0,   0,   0, 0,  0, 0,  0, 2, 0,
    0,   0,   2,  0, 0,   0, /* size of the pixels, colours */
    0,   0,   0,  0, 255, 255, 255, 0,
};
_Static_assert(sodium_base64_ENCODED_LEN(BITMAP_HEAD + BITMAP_PIXELS, VARIANT) <=
                   BENCH_IMAGE_TEXT_MAX,
               "a generated image fits");

static const char *make_image(uint64_t seed, uint64_t target, char room[BENCH_IMAGE_TEXT_MAX])
{
    unsigned char image[BITMAP_HEAD + BITMAP_PIXELS];
    struct rand rand;
    rand_init(&rand, seed);
    rand_mix(&rand, target);
    memcpy(image, bitmap_head, BITMAP_HEAD);
    for (size_t at = BITMAP_HEAD; at < sizeof image; at += sizeof(uint64_t)) {
        const uint64_t bits = rand_u64(&rand);
        memcpy(image + at, &bits, sizeof bits);
    }
    return sodium_bin2base64(room, BENCH_IMAGE_TEXT_MAX, image, sizeof image, VARIANT);
}

const char *bench_images_text(const struct bench_images *images, uint64_t seed, uint64_t target,
                              char room[BENCH_IMAGE_TEXT_MAX])
{
    if (images != NULL && images->count > 0)
        return images->texts[target % images->count];
    return make_image(seed, target, room);
}

/* ---- of a folder ------------------------------------------------------------------------- */

static void keep(struct bench_images *images, const unsigned char *bytes, size_t len)
{
    const size_t room = sodium_base64_encoded_len(len, VARIANT);
    char *const text = malloc(room);
    ASSERT(text != NULL);
    (void)sodium_bin2base64(text, room, bytes, len, VARIANT);
    images->texts[images->count++] = text;
}

static void read_image(struct bench_images *images, int fd, unsigned char *room)
{
    size_t len = 0;
    ssize_t count;
    while ((count = read(fd, room + len, IMAGE_MAX_BYTES + 1 - len)) > 0)
        len += (size_t)count;
    if (count == 0 && len >= IMAGE_MIN_BYTES && len <= IMAGE_MAX_BYTES)
        keep(images, room, len);
}

int bench_images_load(struct bench_images *images, const char *folder)
{
    DIR *const directory = opendir(folder);
    const struct dirent *entry;
    *images = (struct bench_images){.texts = NULL};
    if (directory == NULL)
        return errno;
    unsigned char *const room = malloc(IMAGE_MAX_BYTES + 1);
    images->texts = calloc(BENCH_IMAGES_MAX, sizeof *images->texts);
    ASSERT(room != NULL && images->texts != NULL);
    const int folder_fd = dirfd(directory);
    while (folder_fd >= 0 && images->count < BENCH_IMAGES_MAX &&
           (entry = readdir(directory)) != NULL) {
        struct stat about;
        const int fd = openat(folder_fd, entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
            read_image(images, fd, room);
        if (fd >= 0)
            (void)close(fd);
    }
    free(room);
    (void)closedir(directory);
    return images->count == 0 ? ENODATA : 0;
}

void bench_images_close(struct bench_images *images)
{
    for (size_t i = 0; i < images->count; i++)
        free(images->texts[i]);
    free(images->texts);
    *images = (struct bench_images){.texts = NULL};
}
