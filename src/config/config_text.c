#include "config/config_text.h"

#include <sodium.h>
#include <yyjson.h>

/* Longest name of an environment variable in ${NAME}. */
#define NAME_MAX_BYTES 128

static bool is_name_char(char c, bool is_first)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (!is_first && c >= '0' && c <= '9');
}

/* The name in "${NAME}" at the start of text; not given when it is malformed. */
static struct slice variable_name(struct slice text)
{
    const struct slice rest = {.data = text.data + 2, .len = text.len - 2};
    size_t len = 0;
    while (len < rest.len && is_name_char(rest.data[len], len == 0))
        len++;
    if (len == 0 || len >= NAME_MAX_BYTES || len == rest.len || rest.data[len] != '}')
        return SLICE_NONE;
    return (struct slice){.data = rest.data, .len = len};
}

/* Adds the variable's value to out, and moves *text past "${NAME}". */
static bool expand_one(struct loader *loader, struct slice *text, struct buf *out)
{
    const struct slice name = variable_name(*text);
    if (!slice_is_given(name)) {
        loader_mistake(loader, "expected ${NAME} with the name of an environment variable "
                               "(\"$${\" for a plain \"${\"), found something else after \"${\"");
        return false;
    }
    char copy[NAME_MAX_BYTES];
    memcpy(copy, name.data, name.len);
    copy[name.len] = '\0';
    const char *const value = loader->env == NULL ? NULL : loader->env(copy);
    if (value == NULL) {
        loader_mistake(loader, "expected the environment variable %s, found it not set", copy);
        return false;
    }
    buf_add(out, slice_from(value));
    text->data += name.len + 3;
    text->len -= name.len + 3;
    return true;
}

/* Replaces every ${NAME}; "$${" stands for a plain "${". */
static bool expand(struct loader *loader, struct slice text, struct buf *out)
{
    while (text.len > 0) {
        const bool is_plain = slice_starts_with(text, SLICE_OF("$${"));
        if (!is_plain && slice_starts_with(text, SLICE_OF("${"))) {
            if (!expand_one(loader, &text, out))
                return false;
            continue;
        }
        const size_t step = is_plain ? 3 : 1;
        buf_add(out, is_plain ? SLICE_OF("${") : (struct slice){.data = text.data, .len = 1});
        text = (struct slice){.data = text.data + step, .len = text.len - step};
    }
    return true;
}

static bool has_control(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7f)
            return true;
    return false;
}

/* The expanded text in buffer; false after telling a mistake. */
static bool expand_value(struct loader *loader, const struct option *option,
                         struct yyjson_val *value, struct buf *buffer)
{
    if (!yyjson_is_str(value))
        return loader_expected(loader, option, value);
    const struct slice raw = {.data = yyjson_get_str(value), .len = yyjson_get_len(value)};
    if (loader->origin != ORIGIN_FILE)
        buf_add(buffer, raw);
    else if (!expand(loader, raw, buffer))
        return false;
    if (buffer->is_full) {
        loader_mistake(loader, "expected at most %d bytes, found more", CONFIG_TEXT_MAX - 1);
        return false;
    }
    if (has_control(buf_slice(buffer))) {
        loader_mistake(loader, "expected a text without control characters, found some");
        return false;
    }
    return true;
}

bool text_read(struct loader *loader, const struct option *option, struct yyjson_val *value,
               char out[CONFIG_TEXT_MAX], struct slice *text)
{
    struct buf buffer;
    buf_init(&buffer, CONFIG_TEXT_MAX - 1);
    const bool is_good = expand_value(loader, option, value, &buffer);
    if (is_good) {
        const struct slice expanded = buf_slice(&buffer);
        memcpy(out, expanded.data, expanded.len);
        out[expanded.len] = '\0';
        *text = (struct slice){.data = out, .len = expanded.len};
    }
    /* It may have been a key. */
    if (buffer.data != NULL)
        sodium_memzero(buffer.data, buffer.room);
    buf_close(&buffer);
    return is_good;
}
