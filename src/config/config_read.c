#include "config/config_read.h"

#include "base/assert.h"
#include "config/config_fields.h"
#include "config/config_store.h"
#include "config/config_values.h"
#include "config/nearest.h"

#include <sodium.h>
#include <stdlib.h>
#include <yyjson.h>

/* ---- one value ----------------------------------------------------------------------------- */

/* Parsers of kinds that are given as texts, besides words. Numbers fill an uint64_t, owned texts
 * CONFIG_TEXT_MAX bytes, and all others their field. */
static bool (*const parsers[OPTION_KIND_COUNT])(struct slice text, void *out) = {
    [OPTION_TEXT] = value_parse_text,         [OPTION_SECRET] = value_parse_visible,
    [OPTION_URL] = value_parse_url,           [OPTION_ADDRESS] = value_parse_listen,
    [OPTION_HOST] = value_parse_host_pattern, [OPTION_NAME] = value_parse_name,
    [OPTION_KEY] = value_parse_client_key,    [OPTION_KEY_HASH] = value_parse_key_hash,
    [OPTION_NETWORK] = value_parse_network,   [OPTION_NOTICE_HOST] = value_parse_notice_host,
    [OPTION_DURATION] = value_parse_duration, [OPTION_SIZE] = value_parse_size,
    [OPTION_STORE] = value_parse_store,       [OPTION_PREFIX] = value_parse_prefix,
};

/* Parses a number of 0 to max and stores it in thousandths or millionths. */
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
    if (option->kind == OPTION_SHARE || option->kind == OPTION_PRICE)
        return parse_fraction(option, value, number);
    if (option->kind == OPTION_FLAG) {
        *number = yyjson_get_bool(value);
        return yyjson_is_bool(value);
    }
    /* The word of a count is not one of its texts, so it is not expanded. */
    if (option->kind == OPTION_COUNT && yyjson_is_str(value))
        text = (struct slice){yyjson_get_str(value), yyjson_get_len(value)};
    const struct option_word *const word = option_word(option, text);
    if (word != NULL)
        *number = word->value;
    else if (!yyjson_is_uint(value) &&
             (parsers[option->kind] == NULL || !parsers[option->kind](text, number)))
        return false;
    return word != NULL || (*number >= option->min && *number <= option->max);
}

static bool take_value(const struct option *option, struct yyjson_val *value, struct slice text,
                       void *place)
{
    uint64_t number;
    char owned[CONFIG_TEXT_MAX];
    if (option_is_number(option)) {
        const bool is_good = parse_number(option, value, text, &number);
        if (is_good)
            option_store(option, place, number);
        return is_good;
    }
    if (option->kind == OPTION_ERROR) {
        const struct option_word *const word = option_word(option, text);
        if (word != NULL)
            ((struct error_override *)place)->class = (enum error_class)word->value;
        return word != NULL;
    }
    ASSERT(parsers[option->kind] != NULL);
    if (!option_is_text(option))
        return parsers[option->kind](text, place);
    const bool is_good = parsers[option->kind](text, owned);
    if (is_good)
        option_store_text(place, owned);
    sodium_memzero(owned, sizeof owned);
    return is_good;
}

/* A message may tell only the length of a key. */
static bool refuse(struct loader *loader, struct yyjson_val *value, size_t len)
{
    const enum option_kind kind = loader->option->kind;
    if (kind != OPTION_KEY && kind != OPTION_KEY_HASH)
        return loader_expected(loader, NULL, value);
    const bool is_length = kind == OPTION_KEY ? value_is_client_key_length(len)
                                              : len == 2 * (size_t)CLIENT_KEY_HASH_BYTES;
    struct buf expected;
    buf_init(&expected, 256);
    option_write_expected(loader->option, &expected);
    (void)loader_mistake(loader, "expected %.*s, found %zu%s", (int)expected.len, expected.data,
                         len, is_length ? ", some of another kind" : "");
    buf_close(&expected);
    return false;
}

bool read_one(struct loader *loader, void *place, struct yyjson_val *value)
{
    const struct option *const option = loader->option;
    const bool is_text = option->kind == OPTION_WORD || option->kind == OPTION_BIT ||
                         option->kind == OPTION_ERROR || parsers[option->kind] != NULL;
    char copy[CONFIG_TEXT_MAX];
    struct slice text = SLICE_NONE;
    if (is_text && !(option->kind == OPTION_SIZE && yyjson_is_uint(value)) &&
        !text_read(loader, value, copy, &text))
        return false;
    const bool is_good = take_value(option, value, text, place) || refuse(loader, value, text.len);
    /* The copy may hold a key. */
    sodium_memzero(copy, sizeof copy);
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

static bool put_item(struct loader *loader, const union item *item)
{
    static const char *const nouns[OPTION_KIND_COUNT] = {[OPTION_ADDRESS] = "addresses",
                                                         [OPTION_NETWORK] = "networks",
                                                         [OPTION_NOTICE_HOST] = "hosts",
                                                         [OPTION_HOST] = "hosts",
                                                         [OPTION_ERROR] = "codes"};
    const struct option *const option = loader->option;
    const size_t count = option_item_count(option, loader->base);
    if (count == option->max) {
        if (option_is_text(option))
            free(item->text);
        return loader_mistake(loader, "expected at most %zu %s, found more", count,
                              nouns[option->kind]);
    }
    if (option->kind == OPTION_ADDRESS)
        loader->listen_places[count] = loader->item;
    option_add_item(option, loader->base, item);
    return true;
}

static bool add_item(struct loader *loader, struct yyjson_val *value)
{
    const struct option *const option = loader->option;
    union item item;
    memset(&item, 0, sizeof item);
    if (!read_one(loader, &item, value))
        return false;
    if (option->kind != OPTION_BIT)
        return put_item(loader, &item);
    option_store(option, option_place(option, loader->base, 0),
                 option_number(option, loader->base) | item.bits);
    return true;
}

static bool read_list(struct loader *loader, struct yyjson_val *value)
{
    const enum option_kind kind = loader->option->kind;
    if (!yyjson_is_arr(value))
        return loader_expected(loader, "a list", value);
    option_clear(loader->option, loader->base);
    bool is_good = true;
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    yyjson_val *item;
    for (loader->item = 0; (item = yyjson_arr_iter_next(&iter)) != NULL; loader->item++) {
        const size_t mark = loader_push_index(loader, loader->item);
        is_good &= add_item(loader, item);
        loader_pop(loader, mark);
    }
    /* An empty list would mean "nowhere", "nothing" or "no host", which is never useful. */
    if (loader->item == 0 && kind != OPTION_NETWORK && kind != OPTION_NOTICE_HOST)
        return loader_mistake(loader, "expected at least one item, found an empty list");
    return is_good;
}

/* ---- objects: one value per type, or per error code ---------------------------------------- */

static bool refuse_type(struct loader *loader, struct slice name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        nearest_offer(&nearest, slice_from(option_type_name(i)));
    if (slice_is_given(nearest.best))
        return loader_mistake(loader, "unknown type, did you mean \"%s\"?", nearest.best.data);
    return loader_mistake(loader, "unknown type, expected \"recaptcha_v2\", \"image\", \"default\" "
                                  "or another one of `solvegate help config`");
}

static bool read_entry(struct loader *loader, size_t type, struct yyjson_val *value)
{
    if (loader->option->kind == OPTION_PRICE)
        loader->config->has_price = true;
    return read_one(loader, option_place(loader->option, loader->base, type), value);
}

static bool read_type(struct loader *loader, struct slice name, struct yyjson_val *value)
{
    size_t type = 0;
    while (type < TYPE_COUNT && !slice_equals(name, slice_from(option_type_name(type))))
        type++;
    if (type == TYPE_COUNT)
        return refuse_type(loader, name);
    loader->seen[loader->option - option_table].named |= UINT32_C(1) << type;
    return read_entry(loader, type, value);
}

static bool read_code(struct loader *loader, struct slice code, struct yyjson_val *value)
{
    union item item;
    memset(&item, 0, sizeof item);
    if (code.len >= sizeof item.error.code || !value_is_visible(code))
        return loader_mistake(loader,
                              "expected an error code of 1 to %d visible characters, found another",
                              ERROR_CODE_MAX - 1);
    memcpy(item.error.code, code.data, code.len);
    return read_one(loader, &item, value) && put_item(loader, &item);
}

static bool read_object(struct loader *loader, struct yyjson_val *value)
{
    if (!yyjson_is_obj(value))
        return loader_expected(loader, "an object", value);
    bool is_good = true;
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice name = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        const size_t mark = loader_push(loader, name);
        yyjson_val *const entry = yyjson_obj_iter_get_val(key);
        is_good &=
            !loader_is_repeated(loader, value, name, entry) &&
            (loader->option->shape == SHAPE_MAP ? read_code : read_type)(loader, name, entry);
        loader_pop(loader, mark);
    }
    return is_good;
}

static bool read_shape(struct loader *loader, struct yyjson_val *value)
{
    const struct option *const option = loader->option;
    if (option->shape == SHAPE_ONE)
        return read_one(loader, option_place(option, loader->base, 0), value);
    if (option->shape == SHAPE_LIST)
        return read_list(loader, value);
    /* A plain value counts for every type, except for words: images would silently lose their own
     * default. */
    if (option->shape == SHAPE_MAP || option->kind == OPTION_WORD || yyjson_is_obj(value))
        return read_object(loader, value);
    loader->seen[option - option_table].named = 0;
    return read_entry(loader, TYPE_OTHER, value);
}

void read_value(struct loader *loader, const struct option *option, void *base,
                struct yyjson_val *value)
{
    struct seen *const seen = &loader->seen[option - option_table];
    loader->option = option;
    loader->base = base;
    seen->origin = loader->origin;
    seen->is_bad |= !read_shape(loader, value);
}

void read_finish(struct loader *loader)
{
    struct config *const config = loader->config;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *const option = &option_table[i];
        for (size_t type = 0; option->shape == SHAPE_PER_TYPE && type < TYPE_OTHER; type++)
            if ((loader->seen[i].named & (UINT32_C(1) << type)) == 0)
                memcpy(option_place(option, config, type), option_place(option, config, TYPE_OTHER),
                       option->bytes);
    }
    config->engine.slots_are_auto = config->engine.slots == 0;
}

/* ---- plain text ---------------------------------------------------------------------------- */

/* Converts text to the JSON value it would have been in a file: numbers and flags lose their
 * quotes. */
static yyjson_val as_json(const struct option *option, const char *text)
{
    const size_t len = strlen(text);
    yyjson_val value = {0};
    const bool is_bare = option->kind == OPTION_COUNT || option->kind == OPTION_SHARE ||
                         option->kind == OPTION_PRICE;
    if (is_bare && yyjson_read_number(text, &value, 0, NULL, NULL) == text + len)
        return value;
    value = (yyjson_val){0};
    if (option->kind == OPTION_FLAG && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        (void)yyjson_set_bool(&value, text[0] == 't');
    else
        (void)yyjson_set_strn(&value, text, len);
    return value;
}

static bool read_items(struct loader *loader, const char *text, bool splits)
{
    bool is_good = true;
    for (const char *comma = text; comma != NULL; loader->item++) {
        comma = splits ? strchr(text, ',') : NULL;
        struct slice item = {text, comma == NULL ? strlen(text) : (size_t)(comma - text)};
        if (splits)
            item = slice_trim(item);
        yyjson_val value = {0};
        (void)yyjson_set_strn(&value, item.data, item.len);
        is_good &= add_item(loader, &value);
        text += comma == NULL ? 0 : comma + 1 - text;
    }
    return is_good;
}

void read_plain(struct loader *loader, const struct option *option, const char *type,
                const char *text, bool splits)
{
    struct seen *const seen = &loader->seen[option - option_table];
    /* A repeated flag adds to its earlier values. */
    const bool is_first = seen->origin != loader->origin;
    yyjson_val value = as_json(option, text);
    loader->option = option;
    loader->base = loader->config;
    loader->item = is_first ? 0 : loader->item;
    seen->origin = loader->origin;
    if (option->shape == SHAPE_LIST && is_first)
        option_clear(option, loader->base);
    seen->is_bad |= !(option->shape == SHAPE_LIST ? read_items(loader, text, splits)
                      : type != NULL              ? read_type(loader, slice_from(type), &value)
                                                  : read_shape(loader, &value));
}
