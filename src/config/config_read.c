#include "config/config_read.h"

#include "config/config_text.h"
#include "config/config_values.h"
#include "config/nearest.h"

#include <sodium.h>
#include <stdlib.h>
#include <yyjson.h>

/* ---- one value ----------------------------------------------------------------------------- */

static bool take_text(const struct option *option, struct slice text, void *place)
{
    char out[CONFIG_TEXT_MAX];
    bool is_good = false;
    if (option->kind == OPTION_URL)
        is_good = value_parse_url(text, out);
    else if (option->kind == OPTION_ADDRESS)
        is_good = value_parse_listen(text, out);
    else if (option->kind == OPTION_HOST)
        is_good = value_parse_host_pattern(text, out);
    else if (text.len > 0 && (option->kind == OPTION_TEXT || value_is_visible(text))) {
        /* text_read() ended it. */
        option_store_text(place, text.data);
        return true;
    }
    if (is_good)
        option_store_text(place, out);
    return is_good;
}

static bool take_name(struct slice text, char place[CLIENT_NAME_MAX])
{
    if (!value_is_name(text))
        return false;
    memcpy(place, text.data, text.len + 1);
    return true;
}

static bool take_key(struct slice text, uint8_t place[CLIENT_KEY_HASH_BYTES])
{
    if (!value_is_client_key(text))
        return false;
    config_hash_key(text, place);
    return true;
}

static bool take_error(const struct option *option, struct slice text, struct error_override *place)
{
    const struct option_word *const word = option_word(option, text);
    if (word == NULL)
        return false;
    place->class = (enum class)word->value;
    return true;
}

static bool parse_word(const struct option *option, struct slice text, uint64_t *number)
{
    const struct option_word *const word = option_word(option, text);
    if (word != NULL)
        *number = word->value;
    return word != NULL;
}

static bool is_in_range(const struct option *option, uint64_t number)
{
    return number >= option->min && number <= option->max;
}

/* A number of 0 to most, kept as that many parts of one. */
static bool parse_fraction(const struct option *option, struct yyjson_val *value, uint64_t *number)
{
    const double parts = option->kind == OPTION_SHARE ? 1e3 : 1e6;
    const double given = yyjson_get_num(value);
    /* Not "given < 0 || given > most", because that would let a NaN pass. */
    const bool is_good = yyjson_is_num(value) && given >= 0 && given <= (double)option->max;
    *number = is_good ? (uint64_t)(given * parts + 0.5) : 0;
    return is_good;
}

static bool parse_number(const struct option *option, struct yyjson_val *value, struct slice text,
                         uint64_t *number)
{
    *number = yyjson_get_uint(value);
    if (option->kind == OPTION_FLAG) {
        *number = yyjson_get_bool(value);
        return yyjson_is_bool(value);
    }
    if (option->kind == OPTION_SHARE || option->kind == OPTION_PRICE)
        return parse_fraction(option, value, number);
    if (option->kind == OPTION_WORD || option->kind == OPTION_BIT)
        return parse_word(option, text, number);
    if (option->kind == OPTION_DURATION)
        return value_parse_duration(text, number) && is_in_range(option, *number);
    if (option->kind == OPTION_COUNT && option->words != NULL && yyjson_is_str(value))
        return parse_word(option, (struct slice){yyjson_get_str(value), yyjson_get_len(value)},
                          number);
    if (option->kind == OPTION_SIZE && !yyjson_is_uint(value) && !value_parse_size(text, number))
        return false;
    return (slice_is_given(text) || yyjson_is_uint(value)) && is_in_range(option, *number);
}

static bool take_value(const struct option *option, struct yyjson_val *value, struct slice text,
                       void *place)
{
    if (option_is_number(option)) {
        uint64_t number;
        const bool is_good = parse_number(option, value, text, &number);
        if (is_good)
            option_store(option, place, number);
        return is_good;
    }
    if (option->kind == OPTION_NAME)
        return take_name(text, place);
    if (option->kind == OPTION_KEY)
        return take_key(text, place);
    if (option->kind == OPTION_KEY_HASH)
        return value_parse_key_hash(text, place);
    if (option->kind == OPTION_NETWORK)
        return value_parse_network(text, place);
    if (option->kind == OPTION_NOTICE_HOST)
        return value_parse_notice_host(text, place);
    return option->kind == OPTION_ERROR ? take_error(option, text, place)
                                        : take_text(option, text, place);
}

/* Of a key only its length may be told. */
static bool refuse(struct loader *loader, const struct option *option, struct yyjson_val *value,
                   struct slice text)
{
    if (option->kind != OPTION_KEY && option->kind != OPTION_KEY_HASH)
        return loader_expected(loader, option, value);
    const bool is_length = option->kind == OPTION_KEY
                               ? value_is_client_key_length(text.len)
                               : text.len == 2 * (size_t)CLIENT_KEY_HASH_BYTES;
    struct buf expected;
    buf_init(&expected, 256);
    option_write_expected(option, &expected);
    loader_mistake(loader, "expected %.*s, found %zu%s", (int)expected.len, expected.data, text.len,
                   is_length ? ", some of another kind" : "");
    buf_close(&expected);
    return false;
}

static bool is_given_as_text(const struct option *option, struct yyjson_val *value)
{
    return !option_is_number(option) || option->kind == OPTION_DURATION ||
           option->kind == OPTION_WORD || option->kind == OPTION_BIT ||
           (option->kind == OPTION_SIZE && !yyjson_is_uint(value));
}

bool read_one(struct loader *loader, const struct option *option, void *place,
              struct yyjson_val *value)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text = SLICE_NONE;
    if (is_given_as_text(option, value) && !text_read(loader, option, value, copy, &text))
        return false;
    const bool is_good =
        take_value(option, value, text, place) || refuse(loader, option, value, text);
    /* It may have been a key. */
    sodium_memzero(copy, sizeof(copy));
    return is_good;
}

/* ---- lists --------------------------------------------------------------------------------- */

union item {
    char *text;
    struct network network;
    struct notice_host host;
    struct error_override error;
    uint32_t bits;
};

static bool put_item(struct loader *loader, const struct option *option, void *base,
                     union item *item)
{
    static const char *const nouns[OPTION_KIND_COUNT] = {[OPTION_ADDRESS] = "addresses",
                                                         [OPTION_NETWORK] = "networks",
                                                         [OPTION_NOTICE_HOST] = "hosts",
                                                         [OPTION_HOST] = "hosts",
                                                         [OPTION_ERROR] = "codes"};
    const size_t count = option_item_count(option, base);
    if (count == option->max) {
        loader_mistake(loader, "expected at most %zu %s, found more", count, nouns[option->kind]);
        return false;
    }
    if (option->kind == OPTION_ADDRESS)
        loader->listen_places[count] = loader->item;
    option_add_item(option, base, item);
    return true;
}

static bool add_item(struct loader *loader, const struct option *option, void *base,
                     struct yyjson_val *value)
{
    union item item;
    memset(&item, 0, sizeof(item));
    if (!read_one(loader, option, &item, value))
        return false;
    if (option->kind == OPTION_BIT) {
        option_store(option, option_place(option, base, 0),
                     option_number(option, base) | item.bits);
        return true;
    }
    const bool is_good = put_item(loader, option, base, &item);
    if (!is_good && option->kind < OPTION_NAME)
        free(item.text);
    return is_good;
}

static bool read_list(struct loader *loader, const struct option *option, void *base,
                      struct yyjson_val *value)
{
    if (!yyjson_is_arr(value))
        return loader_expected_text(loader, option, "a list", value);
    option_clear(option, base);
    bool is_good = true;
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    yyjson_val *item;
    for (loader->item = 0; (item = yyjson_arr_iter_next(&iter)) != NULL; loader->item++) {
        const size_t mark = loader_push_index(loader, loader->item);
        is_good &= add_item(loader, option, base, item);
        loader_pop(loader, mark);
    }
    /* An empty list would mean "nowhere", "nothing" or "no host", which nobody can want. */
    if (loader->item == 0 && option->kind != OPTION_NETWORK && option->kind != OPTION_NOTICE_HOST) {
        loader_mistake(loader, "expected at least one item, found an empty list");
        return false;
    }
    return is_good;
}

/* ---- objects: one value per type, or per error code ---------------------------------------- */

static bool refuse_type(struct loader *loader, struct slice name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < CAPTCHA_COUNT; i++)
        nearest_offer(&nearest, slice_from(option_type_name(i)));
    if (slice_is_given(nearest.best))
        loader_mistake(loader, "unknown type, did you mean \"%s\"?", nearest.best.data);
    else
        loader_mistake(loader, "unknown type, expected \"recaptcha_v2\", \"image\", \"default\" "
                               "or another one of `solvegate help config`");
    return false;
}

static bool read_entry(struct loader *loader, const struct option *option, void *base, size_t type,
                       struct yyjson_val *value)
{
    if (option->kind == OPTION_PRICE)
        loader->config->has_price = true;
    return read_one(loader, option, option_place(option, base, type), value);
}

static bool read_type(struct loader *loader, const struct option *option, void *base,
                      struct slice name, struct yyjson_val *value)
{
    size_t type = 0;
    while (type < CAPTCHA_COUNT && !slice_equals(name, slice_from(option_type_name(type))))
        type++;
    if (type == CAPTCHA_COUNT)
        return refuse_type(loader, name);
    loader->seen[option - option_table].named |= UINT32_C(1) << type;
    return read_entry(loader, option, base, type, value);
}

static bool read_code(struct loader *loader, const struct option *option, void *base,
                      struct slice code, struct yyjson_val *value)
{
    if (code.len >= ERROR_CODE_MAX || !value_is_visible(code)) {
        loader_mistake(loader,
                       "expected an error code of 1 to %d visible characters, found another",
                       ERROR_CODE_MAX - 1);
        return false;
    }
    union item item;
    memset(&item, 0, sizeof(item));
    memcpy(item.error.code, code.data, code.len);
    return read_one(loader, option, &item, value) && put_item(loader, option, base, &item);
}

static bool read_object(struct loader *loader, const struct option *option, void *base,
                        struct yyjson_val *value)
{
    if (!yyjson_is_obj(value))
        return loader_expected_text(loader, option, "an object", value);
    bool is_good = true;
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        const size_t mark = loader_push_key(loader, ".", name);
        yyjson_val *const entry = yyjson_obj_iter_get_val(key);
        is_good &= !loader_is_repeated(loader, value, name, entry) &&
                   (option->shape == SHAPE_MAP ? read_code(loader, option, base, name, entry)
                                               : read_type(loader, option, base, name, entry));
        loader_pop(loader, mark);
    }
    return is_good;
}

static bool read_shape(struct loader *loader, const struct option *option, void *base,
                       struct yyjson_val *value)
{
    if (option->shape == SHAPE_ONE)
        return read_one(loader, option, option_place(option, base, 0), value);
    if (option->shape == SHAPE_LIST)
        return read_list(loader, option, base, value);
    /* A plain value is for every type. Not for words: there images would silently lose their own. */
    if (option->shape == SHAPE_MAP || option->kind == OPTION_WORD || yyjson_is_obj(value))
        return read_object(loader, option, base, value);
    loader->seen[option - option_table].named = 0;
    return read_entry(loader, option, base, CAPTCHA_OTHER, value);
}

void read_value(struct loader *loader, const struct option *option, void *base,
                struct yyjson_val *value)
{
    struct seen *const seen = &loader->seen[option - option_table];
    seen->origin = loader->origin;
    seen->is_bad |= !read_shape(loader, option, base, value);
}

void read_finish(struct loader *loader)
{
    struct config *const config = loader->config;
    for (size_t i = 0; i < option_count; i++)
        for (size_t type = 0; option_table[i].shape == SHAPE_PER_TYPE && type < CAPTCHA_OTHER;
             type++)
            if ((loader->seen[i].named & (UINT32_C(1) << type)) == 0)
                memcpy(option_place(&option_table[i], config, type),
                       option_place(&option_table[i], config, CAPTCHA_OTHER),
                       option_table[i].bytes);
    config->engine.slots_are_auto = config->engine.slots == 0;
}

/* ---- plain text ---------------------------------------------------------------------------- */

/* Text as the JSON value it would have been in a file: numbers and flags lose their quotes. */
static yyjson_val as_json(const struct option *option, const char *text)
{
    const size_t len = strlen(text);
    yyjson_val value = {0};
    if ((option->kind == OPTION_COUNT || option->kind == OPTION_SHARE ||
         option->kind == OPTION_PRICE) &&
        yyjson_read_number(text, &value, 0, NULL, NULL) == text + len)
        return value;
    value = (yyjson_val){0};
    if (option->kind == OPTION_FLAG && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        (void)yyjson_set_bool(&value, text[0] == 't');
    else
        (void)yyjson_set_strn(&value, text, len);
    return value;
}

static bool read_items(struct loader *loader, const struct option *option, struct slice text,
                       bool splits)
{
    bool is_good = true;
    for (size_t start = 0; start <= text.len; loader->item++) {
        const char *const comma = splits ? memchr(text.data + start, ',', text.len - start) : NULL;
        const size_t end = comma == NULL ? text.len : (size_t)(comma - text.data);
        struct slice item = {.data = text.data + start, .len = end - start};
        if (splits)
            item = slice_trim(item);
        yyjson_val value = {0};
        (void)yyjson_set_strn(&value, item.data, item.len);
        is_good &= add_item(loader, option, loader->config, &value);
        start = end + 1;
    }
    return is_good;
}

void read_plain(struct loader *loader, const struct option *option, const char *type,
                const char *text, bool splits)
{
    struct seen *const seen = &loader->seen[option - option_table];
    if (option->shape != SHAPE_LIST) {
        yyjson_val value = as_json(option, text);
        seen->origin = loader->origin;
        seen->is_bad |=
            !(type == NULL ? read_shape(loader, option, loader->config, &value)
                           : read_type(loader, option, loader->config, slice_from(type), &value));
        return;
    }
    /* A flag that is repeated adds to what it gave before. */
    if (seen->origin != loader->origin) {
        option_clear(option, loader->config);
        loader->item = 0;
    }
    seen->origin = loader->origin;
    seen->is_bad |= !read_items(loader, option, slice_from(text), splits);
}
