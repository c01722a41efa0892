#include "config/config_parts.h"

#include "base/assert.h"
#include "config/config_fields.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#define DIGITS 16

static const char *const names[CONFIG_PARTS] = {
    [PART_CLIENTS] = "clients", [PART_DEDUP] = "dedup",     [PART_LIFETIMES] = "lifetimes",
    [PART_POOLS] = "pools",     [PART_RETRIES] = "retries", [PART_VENDOR] = "vendor",
};

const char *config_part_name(enum config_part part)
{
    return names[part];
}

/* What decides whether two requests are the same, how long something is good, and what is paid for. What each gateway
 * has for itself, as listeners and limits, is in no part. A path that ends in a dot stands for all below. */
static const struct {
    const char *path;
    enum config_part part;
} rules[] = {
    {"dedup.", PART_DEDUP},
    {"reuse", PART_DEDUP},
    {"mode", PART_DEDUP},
    {"cache.ttl", PART_LIFETIMES},
    {"cache.min_ttl", PART_LIFETIMES},
    {"cache.caller_error_ttl", PART_LIFETIMES},
    {"idempotency.ttl", PART_LIFETIMES},
    {"letters.keep", PART_LIFETIMES},
    {"solve_timeout", PART_LIFETIMES},
    {"ambiguity_window", PART_LIFETIMES},
    {"on_ambiguous", PART_LIFETIMES},
    {"retry.", PART_RETRIES},
    {"upstream.url", PART_VENDOR},
    {"upstream.slots", PART_VENDOR},
    {"upstream.price", PART_VENDOR},
    {"errors", PART_VENDOR},
};

static bool find_part(const struct option *option, enum config_part *part)
{
    const struct slice path = slice_from(option->path);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct slice rule = slice_from(rules[i].path);
        const bool is_group = rule.data[rule.len - 1] == '.';
        if (is_group ? !slice_starts_with(path, rule) : !slice_equals(path, rule))
            continue;
        *part = rules[i].part;
        return true;
    }
    return false;
}

static bool is_secret(const struct option *option)
{
    return option->kind == OPTION_SECRET || option->kind == OPTION_STORE ||
           option->kind == OPTION_KEY || option->kind == OPTION_KEY_HASH;
}

/* ---- digests ----------------------------------------------------------------------------- */

/* The same on every machine. It guards against accidents only: who can write to the store needs no tricks. */
static uint64_t digest(const void *bytes, size_t count)
{
    static const uint8_t known[crypto_shorthash_KEYBYTES];
    uint8_t hash[crypto_shorthash_BYTES];
    uint64_t number = 0;
    (void)crypto_shorthash(hash, bytes, count, known);
    for (size_t i = sizeof hash; i-- > 0;)
        number = number << 8 | hash[i];
    return number;
}

static uint64_t digest_number(uint64_t number)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    return digest(bytes, sizeof bytes);
}

static uint64_t digest_text(const char *text)
{
    return text == NULL ? 0 : digest(text, strlen(text));
}

static uint64_t chain(uint64_t before, uint64_t next)
{
    return digest_number(before + digest_number(next));
}

static uint64_t digest_item(const struct option *option, const char *place)
{
    if (option_is_number(option))
        return digest_number(option_number_at(option, place));
    if (option->kind == OPTION_NAME)
        return digest_text(place);
    if (!option_is_text(option))
        return digest(place, option->bytes);
    const char *text;
    memcpy(&text, place, sizeof text);
    return digest_text(text);
}

/* Items of lists and maps may stand in any order. */
static uint64_t digest_option(const struct option *option, const void *base)
{
    const char *place = option_place(option, base, 0);
    const bool is_list = option->count_offset != 0;
    const size_t count = is_list                           ? option_item_count(option, base)
                         : option->shape == SHAPE_PER_TYPE ? TYPE_COUNT
                                                           : 1;
    uint64_t sum = 0;
    if (is_list)
        memcpy(&place, option_place(option, base, 0), sizeof place);
    for (size_t i = 0; i < count; i++) {
        const uint64_t item = digest_item(option, place + i * option->bytes);
        sum = is_list ? sum + item : chain(sum, item);
    }
    return chain(digest_text(option->path), sum);
}

static uint64_t digest_home(enum option_home home, const void *base)
{
    uint64_t all = 0;
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].home == home && !is_secret(&option_table[i]))
            all = chain(all, digest_option(&option_table[i], base));
    return all;
}

void config_parts_write(const struct config *config, char text[CONFIG_PARTS_TEXT_MAX])
{
    uint64_t digests[CONFIG_PARTS] = {0};
    enum config_part part;
    size_t len = 0;
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].home == HOME_CONFIG && find_part(&option_table[i], &part))
            digests[part] = chain(digests[part], digest_option(&option_table[i], config));
    for (size_t i = 0; i < config->client_count; i++)
        if (!config->clients[i].options.is_gone)
            digests[PART_CLIENTS] += digest_home(HOME_CLIENT, &config->clients[i]);
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct slice params = blob_slice(config->pools[i].params);
        digests[PART_POOLS] +=
            chain(digest_home(HOME_POOL, &config->pools[i]), digest(params.data, params.len));
    }
    for (size_t i = 0; i < CONFIG_PARTS; i++)
        len += (size_t)snprintf(text + len, CONFIG_PARTS_TEXT_MAX - len, "%s%s:%016" PRIx64,
                                i == 0 ? "" : " ", names[i], digests[i]);
    ASSERT(len < CONFIG_PARTS_TEXT_MAX);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* The digits behind a part's name; not given if the text does not know it. */
static struct slice find_digits(const char *text, const char *name)
{
    struct slice rest = slice_from(text);
    while (rest.len > 0) {
        struct slice value = slice_take(&rest, ' ');
        if (slice_equals(slice_take(&value, ':'), slice_from(name)) && value.len == DIGITS)
            return value;
    }
    return SLICE_NONE;
}

unsigned config_parts_compare(const char *mine, const char *others)
{
    unsigned parts = 0;
    for (unsigned i = 0; i < CONFIG_PARTS; i++) {
        const struct slice own = find_digits(mine, names[i]);
        const struct slice other = find_digits(others, names[i]);
        if (slice_is_given(own) && slice_is_given(other) && !slice_equals(own, other))
            parts |= 1u << i;
    }
    return parts;
}

void config_parts_list(unsigned parts, struct buf *out)
{
    const size_t begin = out->len;
    for (unsigned i = 0; i < CONFIG_PARTS; i++)
        if ((parts & 1u << i) != 0)
            buf_addf(out, "%s%s", out->len == begin ? "" : ", ", names[i]);
}
