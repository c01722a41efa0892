#include "config/config_loader.h"

#include "base/assert.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <yyjson.h>

/* Longest piece of the user's text in a message. */
#define SHOWN_MAX 60
#define LINE_MAX_BYTES 1024

void loader_enter(struct loader *loader, enum origin origin, const char *path)
{
    loader->origin = origin;
    loader->path.len = 0;
    (void)loader_push(loader, slice_from(path));
}

/* Adds visible ASCII unchanged and everything else as \xNN, so that a message stays one harmless
 * line. */
static void add_shown(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        buf_addf(out, c < ' ' || c > '~' ? "\\x%02x" : "%c", c);
    }
    if (text.len > SHOWN_MAX)
        buf_add(out, SLICE_OF("..."));
}

size_t loader_push(struct loader *loader, struct slice key)
{
    const size_t mark = loader->path.len;
    buf_add(&loader->path, mark > 0 ? SLICE_OF(".") : SLICE_OF(""));
    add_shown(&loader->path, key);
    return mark;
}

size_t loader_push_index(struct loader *loader, size_t index)
{
    const size_t mark = loader->path.len;
    buf_addf(&loader->path, "[%zu]", index);
    return mark;
}

void loader_pop(struct loader *loader, size_t mark)
{
    ASSERT(mark <= loader->path.len);
    loader->path.len = mark;
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

bool loader_mistake(struct loader *loader, const char *format, ...)
{
    loader->mistake_count++;
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Added in one piece: a line either fits into the caller's buffer or is left out whole. */
    const char *const origin = origin_name(loader);
    const struct slice path = buf_slice(&loader->path);
    buf_addf(loader->mistakes, "%s%s%.*s%s%s\n", origin == NULL ? "" : origin,
             origin == NULL ? "" : ": ", (int)path.len, path.data, path.len == 0 ? "" : ": ", text);
    return false;
}

static void write_found_text(const struct option *option, bool is_secret, struct slice text,
                             struct buf *out)
{
    if (text.len == 0)
        buf_add(out, SLICE_OF("an empty text"));
    else if (is_secret)
        buf_addf(out, "a text of %zu bytes", text.len);
    else if (option->kind == OPTION_URL && memchr(text.data, '@', text.len) != NULL)
        buf_add(out, SLICE_OF("a URL with a user in it"));
    else {
        buf_add_char(out, '"');
        add_shown(out, text);
        buf_add_char(out, '"');
    }
}

/* Describes a value for people: a short text in quotes, or just its kind. */
static void write_found(const struct option *option, yyjson_val *value, struct buf *out)
{
    const bool is_secret = option->kind == OPTION_SECRET || option->kind == OPTION_STORE ||
                           option->kind == OPTION_KEY || option->kind == OPTION_KEY_HASH;
    if (yyjson_is_str(value))
        write_found_text(option, is_secret,
                         (struct slice){yyjson_get_str(value), yyjson_get_len(value)}, out);
    else if (yyjson_is_obj(value))
        buf_add(out, SLICE_OF("an object"));
    else if (yyjson_is_arr(value))
        buf_add(out, SLICE_OF("a list"));
    else if (yyjson_is_null(value))
        buf_add(out, SLICE_OF("null"));
    else if (yyjson_is_bool(value))
        buf_add(out, yyjson_get_bool(value) ? SLICE_OF("true") : SLICE_OF("false"));
    else if (is_secret)
        buf_add(out, SLICE_OF("a number"));
    else if (yyjson_is_uint(value))
        buf_add_u64(out, yyjson_get_uint(value));
    else if (yyjson_is_sint(value))
        buf_addf(out, "%" PRId64, yyjson_get_sint(value));
    else
        buf_addf(out, "%g", yyjson_get_real(value));
}

bool loader_expected(struct loader *loader, const char *expected, const struct yyjson_val *found)
{
    struct buf text;
    buf_init(&text, LINE_MAX_BYTES);
    if (expected != NULL)
        buf_add(&text, slice_from(expected));
    else
        option_write_expected(loader->option, &text);
    buf_add(&text, SLICE_OF(", found "));
    /* yyjson's getters are not const. */
    write_found(loader->option, (yyjson_val *)(uintptr_t)found, &text);
    (void)loader_mistake(loader, "expected %.*s", (int)text.len, text.data);
    buf_close(&text);
    return false;
}

bool loader_is_repeated(struct loader *loader, struct yyjson_val *object, struct slice name,
                        const struct yyjson_val *value)
{
    return yyjson_obj_getn(object, name.data, name.len) != value &&
           !loader_mistake(loader, "given twice");
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

bool loader_is_given(const struct loader *loader, const char *path)
{
    return seen_of(loader, path)->origin != ORIGIN_PRESET;
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
    for (char *c = out; *c != '\0'; c++)
        *c = *c == '.' ? '_' : (char)(*c >= 'a' && *c <= 'z' ? *c - ('a' - 'A') : *c);
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Longest name of an environment variable in ${NAME}, and the letters it may have. */
#define NAME_MAX_BYTES 128
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
#define NAME_CHARS NAME_LETTERS "0123456789"

/* Adds the variable's value to out, and moves *text, which yyjson ended with a NUL, past "${NAME}". */
static bool expand_one(struct loader *loader, const char **text, struct buf *out)
{
    char name[NAME_MAX_BYTES];
    const char *const start = *text + 2;
    const size_t len = strspn(start, NAME_CHARS);
    if (strspn(start, NAME_LETTERS) == 0 || len >= sizeof name || start[len] != '}')
        return loader_mistake(loader,
                              "expected ${NAME} with the name of an environment variable "
                              "(\"$${\" for a plain \"${\"), found something else after \"${\"");
    memcpy(name, start, len);
    name[len] = '\0';
    const char *const value = loader->env == NULL ? NULL : loader->env(name);
    if (value == NULL)
        return loader_mistake(loader, "expected the environment variable %s, found it not set",
                              name);
    buf_add(out, slice_from(value));
    *text = start + len + 1;
    return true;
}

/* Replaces every ${NAME}; "$${" stands for a plain "${". */
static bool expand(struct loader *loader, const char *text, const char *end, struct buf *out)
{
    while (text < end) {
        if (loader->origin == ORIGIN_FILE && strncmp(text, "${", 2) == 0) {
            if (!expand_one(loader, &text, out))
                return false;
            continue;
        }
        if (loader->origin == ORIGIN_FILE && strncmp(text, "$${", 3) == 0) {
            buf_add_char(out, '$');
            text += 2;
        }
        buf_add_char(out, *text++);
    }
    return true;
}

/* The expanded text in buffer; false after telling a mistake. */
static bool expand_value(struct loader *loader, struct yyjson_val *value, struct buf *buffer)
{
    if (!yyjson_is_str(value))
        return loader_expected(loader, NULL, value);
    const char *const raw = yyjson_get_str(value);
    if (!expand(loader, raw, raw + yyjson_get_len(value), buffer))
        return false;
    if (buffer->is_full)
        return loader_mistake(loader, "expected at most %d bytes, found more", CONFIG_TEXT_MAX - 1);
    for (size_t i = 0; i < buffer->len; i++)
        if ((unsigned char)buffer->data[i] < ' ' || buffer->data[i] == 0x7f)
            return loader_mistake(loader, "expected a text without control characters, found some");
    return true;
}

bool text_read(struct loader *loader, struct yyjson_val *value, char out[CONFIG_TEXT_MAX],
               struct slice *text)
{
    struct buf buffer;
    buf_init(&buffer, CONFIG_TEXT_MAX - 1);
    const bool is_good = expand_value(loader, value, &buffer);
    *text = (struct slice){.data = out, .len = is_good ? buffer.len : 0};
    if (text->len > 0)
        memcpy(out, buffer.data, text->len);
    out[text->len] = '\0';
    /* The buffer may hold a key. */
    if (buffer.data != NULL)
        sodium_memzero(buffer.data, buffer.room);
    buf_close(&buffer);
    return is_good;
}
