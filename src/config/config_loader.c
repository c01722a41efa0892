#include "config/config_loader.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <yyjson.h>

/* Longest piece of a stranger's text in a message. */
#define SHOWN_MAX 60
#define LINE_MAX_BYTES 1024

void loader_enter(struct loader *loader, enum origin origin, const char *path)
{
    loader->origin = origin;
    loader->path_len = 0;
    loader->path[0] = '\0';
    (void)loader_push_key(loader, "", slice_from(path));
}

/* Visible ASCII as it is, everything else as \xNN, so that a message stays one harmless line. */
static void add_shown(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c > '~')
            buf_addf(out, "\\x%02x", c);
        else
            buf_add_char(out, (char)c);
    }
    if (text.len > SHOWN_MAX)
        buf_add(out, SLICE_OF("..."));
}

static void append_path(struct loader *loader, struct slice text)
{
    const size_t room = sizeof(loader->path) - 1 - loader->path_len;
    const size_t len = text.len < room ? text.len : room;
    memcpy(loader->path + loader->path_len, text.data, len);
    loader->path_len += len;
    loader->path[loader->path_len] = '\0';
}

size_t loader_push_key(struct loader *loader, const char *separator, struct slice key)
{
    const size_t mark = loader->path_len;
    struct buf shown;
    buf_init(&shown, LINE_MAX_BYTES);
    if (loader->path_len > 0)
        buf_add(&shown, slice_from(separator));
    add_shown(&shown, key);
    append_path(loader, buf_slice(&shown));
    buf_close(&shown);
    return mark;
}

size_t loader_push_index(struct loader *loader, size_t index)
{
    const size_t mark = loader->path_len;
    char text[32];
    const int len = snprintf(text, sizeof(text), "[%zu]", index);
    append_path(loader, (struct slice){.data = text, .len = (size_t)len});
    return mark;
}

void loader_pop(struct loader *loader, size_t mark)
{
    ASSERT(mark <= loader->path_len);
    loader->path_len = mark;
    loader->path[mark] = '\0';
}

static const char *origin_name(const struct loader *loader)
{
    switch (loader->origin) {
    case ORIGIN_PRESET:
    case ORIGIN_FILE:
        return loader->file_name;
    case ORIGIN_ENVIRONMENT:
        return "environment";
    case ORIGIN_COMMAND_LINE:
        return "command line";
    }
    UNREACHABLE();
}

void loader_mistake(struct loader *loader, const char *format, ...)
{
    loader->mistake_count++;
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    /* In one piece: a line either fits into the caller's buffer or is left out whole. */
    const char *const origin = origin_name(loader);
    buf_addf(loader->mistakes, "%s%s%s%s%s\n", origin == NULL ? "" : origin,
             origin == NULL ? "" : ": ", loader->path, loader->path_len == 0 ? "" : ": ", text);
}

static bool is_secret(const struct option *option)
{
    return option->kind == OPTION_SECRET || option->kind == OPTION_KEY ||
           option->kind == OPTION_KEY_HASH;
}

static void write_found_text(const struct option *option, struct slice text, struct buf *out)
{
    if (text.len == 0)
        buf_add(out, SLICE_OF("an empty text"));
    else if (is_secret(option))
        buf_addf(out, "a text of %zu bytes", text.len);
    else if (option->kind == OPTION_URL && memchr(text.data, '@', text.len) != NULL)
        buf_add(out, SLICE_OF("a URL with a user in it"));
    else {
        buf_add_char(out, '"');
        add_shown(out, text);
        buf_add_char(out, '"');
    }
}

/* What a value is, for a person: a short text quoted, or just its kind. */
static void write_found(const struct option *option, const struct yyjson_val *found,
                        struct buf *out)
{
    yyjson_val *const value = (yyjson_val *)(uintptr_t)found; /* yyjson's getters are not const */
    if (yyjson_is_str(value))
        write_found_text(option, (struct slice){yyjson_get_str(value), yyjson_get_len(value)}, out);
    else if (yyjson_is_obj(value))
        buf_add(out, SLICE_OF("an object"));
    else if (yyjson_is_arr(value))
        buf_add(out, SLICE_OF("a list"));
    else if (yyjson_is_null(value))
        buf_add(out, SLICE_OF("null"));
    else if (yyjson_is_bool(value))
        buf_add(out, yyjson_get_bool(value) ? SLICE_OF("true") : SLICE_OF("false"));
    else if (is_secret(option))
        buf_add(out, SLICE_OF("a number"));
    else if (yyjson_is_uint(value))
        buf_add_u64(out, yyjson_get_uint(value));
    else if (yyjson_is_sint(value))
        buf_addf(out, "%" PRId64, yyjson_get_sint(value));
    else
        buf_addf(out, "%g", yyjson_get_real(value));
}

bool loader_expected_text(struct loader *loader, const struct option *option, const char *expected,
                          const struct yyjson_val *found)
{
    struct buf text;
    buf_init(&text, LINE_MAX_BYTES);
    write_found(option, found, &text);
    loader_mistake(loader, "expected %s, found %.*s", expected, (int)text.len, text.data);
    buf_close(&text);
    return false;
}

bool loader_expected(struct loader *loader, const struct option *option,
                     const struct yyjson_val *found)
{
    struct buf expected;
    buf_init(&expected, LINE_MAX_BYTES);
    option_write_expected(option, &expected);
    buf_add_char(&expected, '\0');
    (void)loader_expected_text(loader, option, expected.data, found);
    buf_close(&expected);
    return false;
}

bool loader_is_repeated(struct loader *loader, struct yyjson_val *object, struct slice name,
                        const struct yyjson_val *value)
{
    if (yyjson_obj_getn(object, name.data, name.len) == value)
        return false;
    loader_mistake(loader, "given twice");
    return true;
}

static const struct seen *seen_of(const struct loader *loader, const char *path)
{
    const struct option *const option = option_find(SLICE_OF(""), slice_from(path));
    ASSERT(option != NULL);
    return &loader->seen[option - option_table];
}

void loader_enter_option(struct loader *loader, const char *path)
{
    const enum origin origin = seen_of(loader, path)->origin;
    char variable[VARIABLE_MAX];
    loader_variable_name(path, "", variable);
    loader_enter(loader, origin, origin == ORIGIN_ENVIRONMENT ? variable : path);
}

bool loader_is_good(const struct loader *loader, const char *path)
{
    return !seen_of(loader, path)->is_bad;
}

void loader_variable_name(const char *path, const char *tail, char out[VARIABLE_MAX])
{
    const int len =
        snprintf(out, VARIABLE_MAX, "SOLVEGATE_%s%s%s", path, *tail == '\0' ? "" : "_", tail);
    ASSERT(len > 0 && len < VARIABLE_MAX);
    for (char *c = out; *c != '\0'; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - ('a' - 'A'));
        else if (*c == '.')
            *c = '_';
    }
}
