#include "config/config_scalars.h"

#include "base/assert.h"
#include "config/config_values.h"

#include <sodium.h>
#include <yyjson.h>

/* Longest name of an environment variable in ${NAME}. */
#define NAME_MAX_BYTES 128

/* Fields are 1 to 8 bytes wide; the option's range keeps the number within them. */
static void store(void *place, size_t bytes, uint64_t number)
{
    switch (bytes) {
    case 1:
        *(uint8_t *)place = (uint8_t)number;
        return;
    case 2:
        *(uint16_t *)place = (uint16_t)number;
        return;
    case 4:
        *(uint32_t *)place = (uint32_t)number;
        return;
    case 8:
        *(uint64_t *)place = number;
        return;
    default:
        UNREACHABLE();
    }
}

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
        if (slice_starts_with(text, SLICE_OF("${"))) {
            if (!expand_one(loader, &text, out))
                return false;
            continue;
        }
        if (slice_starts_with(text, SLICE_OF("$${"))) {
            text.data++;
            text.len--;
            buf_add(out, SLICE_OF("${"));
            text.data += 2;
            text.len -= 2;
            continue;
        }
        buf_add_char(out, text.data[0]);
        text.data++;
        text.len--;
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

bool scalar_text(struct loader *loader, const struct option *option, struct yyjson_val *value,
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

bool scalar_read_copy(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      char place[CONFIG_TEXT_MAX])
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    const bool is_good = text.len > 0 && (option->kind != OPTION_SECRET || value_is_visible(text));
    if (is_good)
        memcpy(place, copy, text.len + 1);
    sodium_memzero(copy, sizeof(copy));
    return is_good || loader_expected(loader, option, value);
}

bool scalar_read_url(struct loader *loader, const struct option *option, struct yyjson_val *value,
                     char place[CONFIG_TEXT_MAX])
{
    char copy[CONFIG_TEXT_MAX], url[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    if (!value_parse_url(text, url))
        return loader_expected(loader, option, value);
    memcpy(place, url, sizeof(url));
    return true;
}

bool scalar_read_flag(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes)
{
    if (!yyjson_is_bool(value))
        return loader_expected(loader, option, value);
    store(place, bytes, yyjson_get_bool(value));
    return true;
}

static bool store_in_range(struct loader *loader, const struct option *option,
                           struct yyjson_val *value, uint64_t number, void *place, size_t bytes)
{
    if (number < option->min || number > option->max)
        return loader_expected(loader, option, value);
    store(place, bytes, number);
    return true;
}

bool scalar_read_count(struct loader *loader, const struct option *option, struct yyjson_val *value,
                       void *place, size_t bytes)
{
    if (!yyjson_is_uint(value))
        return loader_expected(loader, option, value);
    return store_in_range(loader, option, value, yyjson_get_uint(value), place, bytes);
}

bool scalar_read_duration(struct loader *loader, const struct option *option,
                          struct yyjson_val *value, void *place, size_t bytes)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    uint64_t ms;
    if (!value_parse_duration(text, &ms))
        return loader_expected(loader, option, value);
    return store_in_range(loader, option, value, ms, place, bytes);
}

bool scalar_read_size(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes)
{
    if (yyjson_is_uint(value))
        return store_in_range(loader, option, value, yyjson_get_uint(value), place, bytes);
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    uint64_t size;
    if (!value_parse_size(text, &size))
        return loader_expected(loader, option, value);
    return store_in_range(loader, option, value, size, place, bytes);
}

bool scalar_read_fraction(struct loader *loader, const struct option *option,
                          struct yyjson_val *value, double most, double parts, void *place,
                          size_t bytes)
{
    if (!yyjson_is_num(value))
        return loader_expected(loader, option, value);
    const double number = yyjson_get_num(value);
    /* Not "number < 0 || number > most", because that would let a NaN pass. */
    if (!(number >= 0 && number <= most))
        return loader_expected(loader, option, value);
    store(place, bytes, (uint64_t)(number * parts + 0.5));
    return true;
}

bool scalar_read_word(struct loader *loader, const struct option *option, struct yyjson_val *value,
                      void *place, size_t bytes)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    for (const struct option_word *word = option->words; word->text != NULL; word++) {
        if (slice_equals(text, slice_from(word->text))) {
            store(place, bytes, word->value);
            return true;
        }
    }
    return loader_expected(loader, option, value);
}
