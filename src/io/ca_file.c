#include "io/ca_file.h"

#include "base/buf.h"

#include <stdio.h>

/* A bundle of every public authority is about 200 KiB. */
#define CA_FILE_MAX_BYTES ((size_t)4 * 1024 * 1024)

bool ca_file_is_good(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    struct buf text;
    buf_init(&text, CA_FILE_MAX_BYTES);
    size_t count = 1;
    while (count > 0 && !text.is_full) {
        char chunk[4096];
        count = fread(chunk, 1, sizeof(chunk), file);
        buf_add(&text, (struct slice){.data = chunk, .len = count});
    }
    (void)fclose(file);
    static const char begin[] = "-----BEGIN CERTIFICATE-----";
    const struct slice all = buf_slice(&text);
    const bool is_found = memmem(all.data, all.len, begin, sizeof(begin) - 1) != NULL;
    buf_close(&text);
    return is_found;
}
