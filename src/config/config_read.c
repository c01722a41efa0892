#include "config/config_read.h"

#include "base/assert.h"
#include "config/config_groups.h"
#include "config/config_scalars.h"
#include "config/config_values.h"

#include <sodium.h>
#include <yyjson.h>

/* Only a placeholder: the engine begins with a number of its own until the vendor has told its threads. */
#define AUTO_SLOTS 50

static bool read_slots(struct loader *loader, const struct option *option, struct yyjson_val *value)
{
    struct config *const config = loader->config;
    config->upstream.slots_are_auto = yyjson_equals_str(value, "auto");
    if (config->upstream.slots_are_auto) {
        config->upstream.slots = AUTO_SLOTS;
        return true;
    }
    return scalar_read_count(loader, option, value, &config->upstream.slots,
                             sizeof(config->upstream.slots));
}

static bool read_name(struct loader *loader, const struct option *option, char *place,
                      struct yyjson_val *value)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    if (!value_is_name(text))
        return loader_expected(loader, option, value);
    memcpy(place, copy, text.len + 1);
    return true;
}

static bool take_key(struct loader *loader, const struct option *option, uint8_t *place,
                     struct slice text)
{
    if (option->kind == OPTION_KEY && value_is_client_key(text)) {
        config_hash_key(text, place);
        return true;
    }
    if (option->kind == OPTION_KEY_HASH && value_parse_key_hash(text, place))
        return true;
    struct buf expected;
    buf_init(&expected, 256);
    option_write_expected(option, &expected);
    const bool is_length = option->kind == OPTION_KEY
                               ? value_is_client_key_length(text.len)
                               : text.len == 2 * (size_t)CLIENT_KEY_HASH_BYTES;
    loader_mistake(loader, "expected %.*s, found %zu%s", (int)expected.len, expected.data, text.len,
                   is_length ? ", some of another kind" : "");
    buf_close(&expected);
    return false;
}

static bool read_key(struct loader *loader, const struct option *option, uint8_t *place,
                     struct yyjson_val *value)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    const bool is_good =
        scalar_text(loader, option, value, copy, &text) && take_key(loader, option, place, text);
    sodium_memzero(copy, sizeof(copy));
    return is_good;
}

/* The flat dispatch over all kinds. */
static bool read_kind(struct loader *loader, const struct option *option, void *base,
                      struct yyjson_val *value)
{
    void *const place = (char *)base + option->offset;
    const size_t bytes = option->bytes;
    switch (option->kind) {
    case OPTION_TEXT:
    case OPTION_SECRET:
        return scalar_read_copy(loader, option, value, place);
    case OPTION_URL:
        return scalar_read_url(loader, option, value, place);
    case OPTION_FLAG:
        return scalar_read_flag(loader, option, value, place, bytes);
    case OPTION_COUNT:
        return scalar_read_count(loader, option, value, place, bytes);
    case OPTION_SLOTS:
        return read_slots(loader, option, value);
    case OPTION_DURATION:
        return scalar_read_duration(loader, option, value, place, bytes);
    case OPTION_SIZE:
        return scalar_read_size(loader, option, value, place, bytes);
    case OPTION_SHARE:
        return scalar_read_fraction(loader, option, value, 1, 1000, place, bytes);
    case OPTION_WORD:
        return scalar_read_word(loader, option, value, place, bytes);
    case OPTION_LISTEN:
    case OPTION_NETWORKS:
    case OPTION_HOOKS:
    case OPTION_CLASSES:
    case OPTION_SCOPES:
    case OPTION_HOSTS:
        return group_read_list(loader, option, base, value);
    case OPTION_DURATIONS:
    case OPTION_PRICES:
    case OPTION_REUSES:
        return group_read_per_type(loader, option, base, value);
    case OPTION_ERRORS:
        return group_read_errors(loader, option, value);
    case OPTION_NAME:
        return read_name(loader, option, place, value);
    case OPTION_KEY:
    case OPTION_KEY_HASH:
        return read_key(loader, option, place, value);
    case OPTION_KIND_COUNT:
        break;
    }
    UNREACHABLE();
}

void read_value(struct loader *loader, const struct option *option, void *base,
                struct yyjson_val *value)
{
    loader->seen[loader_index(option)].origin = loader->origin;
    if (!read_kind(loader, option, base, value))
        loader->seen[loader_index(option)].is_bad = true;
}

/* Text as the JSON value it would have been in a file: numbers and flags lose their quotes. */
static yyjson_val as_json(const struct option *option, const char *text)
{
    const size_t len = strlen(text);
    const bool is_numeric = option->kind == OPTION_COUNT || option->kind == OPTION_SLOTS ||
                            option->kind == OPTION_SHARE || option->kind == OPTION_PRICES;
    yyjson_val value = {0};
    if (is_numeric) {
        const char *const end = yyjson_read_number(text, &value, 0, NULL, NULL);
        if (end == text + len)
            return value;
        value = (yyjson_val){0};
    }
    if (option->kind == OPTION_FLAG && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        (void)yyjson_set_bool(&value, text[0] == 't');
    else
        (void)yyjson_set_strn(&value, text, len);
    return value;
}

static bool read_items(struct loader *loader, const struct option *option, struct slice text)
{
    bool is_good = true;
    size_t start = 0;
    for (loader->item = 0; start <= text.len; loader->item++) {
        const char *const comma = memchr(text.data + start, ',', text.len - start);
        const size_t end = comma == NULL ? text.len : (size_t)(comma - text.data);
        const struct slice item =
            slice_trim((struct slice){.data = text.data + start, .len = end - start});
        yyjson_val value = {0};
        (void)yyjson_set_strn(&value, item.data, item.len);
        is_good &= group_add(loader, option, loader->config, &value);
        start = end + 1;
    }
    return is_good;
}

static bool read_plain_list(struct loader *loader, const struct option *option, bool is_repeated,
                            const char *text, bool splits)
{
    loader->item = is_repeated ? loader->item + 1 : 0;
    if (!is_repeated)
        group_clear(option, loader->config);
    if (splits)
        return read_items(loader, option, slice_from(text));
    yyjson_val value = {0};
    (void)yyjson_set_str(&value, text);
    return group_add(loader, option, loader->config, &value);
}

void read_plain(struct loader *loader, const struct option *option, const char *type,
                const char *text, bool splits)
{
    const bool is_repeated = loader->seen[loader_index(option)].origin == loader->origin;
    bool is_good;
    loader->seen[loader_index(option)].origin = loader->origin;
    if (option_is_list(option)) {
        is_good = read_plain_list(loader, option, is_repeated, text, splits);
    } else {
        yyjson_val value = as_json(option, text);
        is_good = type == NULL
                      ? read_kind(loader, option, loader->config, &value)
                      : group_read_type(loader, option, loader->config, slice_from(type), &value);
    }
    if (!is_good)
        loader->seen[loader_index(option)].is_bad = true;
}

void read_finish(struct loader *loader)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_is_per_type(&options[i]))
            group_finish_per_type(loader, &options[i], loader->config);
}
