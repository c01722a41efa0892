#include "upstream/ca_file.h"

#include "base/buf.h"
#include "sys/files.h"

#include <dirent.h>
#include <stdio.h>

/* A bundle of every public authority is about 200 KiB. */
#define CA_FILE_MAX_BYTES ((size_t)4 * 1024 * 1024)
/* "9f1a2b3c" in "9f1a2b3c.0": the hash of a subject, by which OpenSSL looks it up. */
#define HASH_CHARS 8

/* Counts certificates in PEM form; 0 also if the file cannot be read. */
static size_t count_in_file(const char *path)
{
    const char *why;
    const int fd = file_open(path, &why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (file == NULL)
        return 0;
    struct buf text;
    buf_init(&text, CA_FILE_MAX_BYTES);
    size_t read = 1;
    while (read > 0 && !text.is_full) {
        char chunk[4096];
        read = fread(chunk, 1, sizeof chunk, file);
        buf_add(&text, (struct slice){.data = chunk, .len = read});
    }
    (void)fclose(file);
    static const char begin[] = "-----BEGIN CERTIFICATE-----";
    const struct slice all = buf_slice(&text);
    const char *end = all.data + all.len;
    size_t count = 0;
    for (const char *at = all.data;
         at < end && (at = memmem(at, (size_t)(end - at), begin, sizeof begin - 1)) != NULL; at++)
        count++;
    buf_close(&text);
    return count;
}

bool ca_file_is_good(const char *path)
{
    return count_in_file(path) > 0;
}

static bool is_hashed_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH_CHARS && name[HASH_CHARS] == '.' &&
           strspn(name + HASH_CHARS + 1, "0123456789") == strlen(name + HASH_CHARS + 1) &&
           name[HASH_CHARS + 1] != '\0';
}

bool ca_directory_is_complete(const char *directory, const char *bundle)
{
    DIR *folder = directory == NULL ? NULL : opendir(directory);
    if (folder == NULL)
        return false;
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += is_hashed_name(entry->d_name);
    (void)closedir(folder);
    return count > 0 && (bundle == NULL || count >= count_in_file(bundle));
}
