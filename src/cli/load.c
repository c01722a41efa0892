#include "cli/load.h"

#include "sys/files.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

/* Fits a thousand clients with all their hosts, but not a disk image given by mistake. */
#define FILE_MAX_BYTES (4 << 20)
#define MISTAKES_MAX_BYTES (256 << 10)
#define REFERENCE_MAX_BYTES (1 << 20)

const char *load_file_name(const char *file)
{
    return file != NULL && strcmp(file, "-") == 0 ? "standard input" : file;
}

/* Reads fd to its end; returns 0 or an errno. */
static int read_all(int fd, struct buf *text)
{
    for (;;) {
        char *const place = buf_reserve(text, 4096);
        if (place == NULL)
            return EFBIG;
        const ssize_t count = read(fd, place, 4096);
        if (count == 0)
            return 0;
        if (count > 0)
            buf_commit(text, (size_t)count);
        else if (errno != EINTR)
            return errno;
    }
}

/* Returns NULL or why the file cannot be read. */
static const char *read_file(const char *file, struct buf *text)
{
    const bool is_standard = strcmp(file, "-") == 0;
    const char *why = NULL;
    const int fd = is_standard ? STDIN_FILENO : file_open(file, &why);
    if (fd < 0)
        return why;
    const int code = read_all(fd, text);
    if (!is_standard)
        (void)close(fd);
    return code == 0 ? NULL : strerror(code);
}

/* The file may hold keys, which must not stay behind in freed memory. */
static void wipe(struct buf *text)
{
    if (text->data != NULL)
        sodium_memzero(text->data, text->room);
    buf_close(text);
}

static const char *environment(const char *name)
{
    return getenv(name);
}

int load_config_quietly(struct config *config, const char *file, const struct config_flag *flags,
                        size_t flag_count, struct buf *mistakes)
{
    *config = (struct config){.listen_count = 0};
    struct buf text;
    buf_init(&text, FILE_MAX_BYTES);
    buf_init(mistakes, MISTAKES_MAX_BYTES);
    const char *const why = file == NULL ? NULL : read_file(file, &text);
    int code = 0;
    if (why != NULL)
        buf_addf(mistakes, "%s: cannot be read: %s\n", load_file_name(file), why);
    else if (file != NULL && text.len == 0)
        buf_addf(mistakes, "%s: expected an object, found an empty file\n", load_file_name(file));
    else
        code = config_load(config, buf_slice(&text), load_file_name(file), environment, flags,
                           flag_count, mistakes);
    wipe(&text);
    return code == 0 && mistakes->len == 0 ? EX_OK : EX_CONFIG;
}

int load_config(struct config *config, const char *file, const struct config_flag *flags,
                size_t flag_count)
{
    struct buf mistakes;
    const int code = load_config_quietly(config, file, flags, flag_count, &mistakes);
    (void)fwrite(buf_slice(&mistakes).data, 1, mistakes.len, stderr);
    if (mistakes.is_full)
        (void)fputs("... and more\n", stderr);
    buf_close(&mistakes);
    return code;
}

int load_print_reference(void (*write)(struct buf *out))
{
    struct buf text;
    buf_init(&text, REFERENCE_MAX_BYTES);
    write(&text);
    const size_t written = fwrite(buf_slice(&text).data, 1, text.len, stdout);
    const int code = written == text.len && !text.is_full ? EX_OK : EX_IOERR;
    buf_close(&text);
    return code;
}
