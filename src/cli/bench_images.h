/* Images to solve: those of a folder, or small ones that are made up. */
#ifndef SOLVEGATE_CLI_BENCH_IMAGES_H
#define SOLVEGATE_CLI_BENCH_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_IMAGES_MAX 10000
/* Room for a generated image in base64, with its NUL. */
#define BENCH_IMAGE_TEXT_MAX 512

struct bench_images {
    char **texts; /* owned, as are the texts: base64 */
    size_t count;
};

/* Reads every file of the folder that can be an image of the vendor's: 100 bytes to 1 MiB. Returns 0 or an errno;
 * ENODATA if there is none. Close it in any case. */
int bench_images_load(struct bench_images *images, const char *folder);
void bench_images_close(struct bench_images *images);

/* The image of a target in base64: of the folder's, in turn, if there are any, else made in `room`. */
const char *bench_images_text(const struct bench_images *images, uint64_t seed, uint64_t target,
                              char room[BENCH_IMAGE_TEXT_MAX]);

#endif
