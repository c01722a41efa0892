#include "config/config_groups.h"

#include "base/assert.h"
#include "config/config_scalars.h"
#include "config/config_values.h"
#include "config/nearest.h"

#include <stdlib.h>
#include <yyjson.h>

/* ---- lists --------------------------------------------------------------------------------- */

static bool add_listen(struct loader *loader, const struct option *option, struct slice text,
                       struct yyjson_val *value)
{
    struct config *const config = loader->config;
    char address[CONFIG_TEXT_MAX];
    if (!value_parse_listen(text, address))
        return loader_expected(loader, option, value);
    if (config->listen_count == CONFIG_LISTEN_MAX) {
        loader_mistake(loader, "expected at most %d addresses, found more", CONFIG_LISTEN_MAX);
        return false;
    }
    loader->listen_places[config->listen_count] = loader->item;
    memcpy(config->listen[config->listen_count++], address, sizeof(address));
    return true;
}

static bool add_network(struct loader *loader, const struct option *option, struct slice text,
                        struct yyjson_val *value)
{
    struct config *const config = loader->config;
    struct config_cidr network;
    if (!value_parse_network(text, &network))
        return loader_expected(loader, option, value);
    if (config->trusted_proxy_count == CONFIG_PROXIES_MAX) {
        loader_mistake(loader, "expected at most %d networks, found more", CONFIG_PROXIES_MAX);
        return false;
    }
    config->trusted_proxies[config->trusted_proxy_count++] = network;
    return true;
}

static bool add_hook(struct loader *loader, const struct option *option, struct slice text,
                     struct yyjson_val *value)
{
    struct config *const config = loader->config;
    struct config_hook hook;
    if (!value_parse_hook(text, &hook))
        return loader_expected(loader, option, value);
    if (config->callbacks.allow_count == CONFIG_HOOKS_MAX) {
        loader_mistake(loader, "expected at most %d hosts, found more", CONFIG_HOOKS_MAX);
        return false;
    }
    config->callbacks.allow[config->callbacks.allow_count++] = hook;
    return true;
}

static bool add_scope(struct loader *loader, const struct option *option,
                      struct config_client *client, struct slice text, struct yyjson_val *value)
{
    if (slice_equals(text, SLICE_OF("solve")))
        client->scopes |= SCOPE_SOLVE;
    else if (slice_equals(text, SLICE_OF("admin")))
        client->scopes |= SCOPE_ADMIN;
    else
        return loader_expected(loader, option, value);
    return true;
}

static bool add_host(struct loader *loader, const struct option *option,
                     struct config_client *client, struct slice text, struct yyjson_val *value)
{
    char pattern[CONFIG_TEXT_MAX];
    if (!value_parse_host_pattern(text, pattern))
        return loader_expected(loader, option, value);
    if (client->allow_host_count == CONFIG_HOSTS_MAX) {
        loader_mistake(loader, "expected at most %d hosts, found more", CONFIG_HOSTS_MAX);
        return false;
    }
    if (client->allow_hosts == NULL)
        client->allow_hosts = calloc(CONFIG_HOSTS_MAX, sizeof(*client->allow_hosts));
    ASSERT(client->allow_hosts != NULL);
    char *const copy = malloc(strlen(pattern) + 1);
    ASSERT(copy != NULL);
    memcpy(copy, pattern, strlen(pattern) + 1);
    client->allow_hosts[client->allow_host_count++] = copy;
    return true;
}

static bool add_class(struct loader *loader, const struct option *option, struct slice text,
                      struct yyjson_val *value)
{
    const struct option_word *word = option->words;
    while (word->text != NULL && !slice_equals(text, slice_from(word->text)))
        word++;
    if (word->text == NULL)
        return loader_expected(loader, option, value);
    loader->config->letters.retry_classes |= UINT32_C(1) << word->value;
    return true;
}

void group_clear(const struct option *option, void *base)
{
    if (option->kind == OPTION_LISTEN)
        ((struct config *)base)->listen_count = 0;
    else if (option->kind == OPTION_NETWORKS)
        ((struct config *)base)->trusted_proxy_count = 0;
    else if (option->kind == OPTION_HOOKS)
        ((struct config *)base)->callbacks.allow_count = 0;
    else if (option->kind == OPTION_CLASSES)
        ((struct config *)base)->letters.retry_classes = 0;
    else if (option->kind == OPTION_SCOPES)
        ((struct config_client *)base)->scopes = 0;
}

bool group_add(struct loader *loader, const struct option *option, void *base,
               struct yyjson_val *value)
{
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    if (option->kind == OPTION_LISTEN)
        return add_listen(loader, option, text, value);
    if (option->kind == OPTION_NETWORKS)
        return add_network(loader, option, text, value);
    if (option->kind == OPTION_HOOKS)
        return add_hook(loader, option, text, value);
    if (option->kind == OPTION_CLASSES)
        return add_class(loader, option, text, value);
    if (option->kind == OPTION_SCOPES)
        return add_scope(loader, option, base, text, value);
    ASSERT(option->kind == OPTION_HOSTS);
    return add_host(loader, option, base, text, value);
}

bool group_read_list(struct loader *loader, const struct option *option, void *base,
                     struct yyjson_val *value)
{
    if (!yyjson_is_arr(value))
        return loader_expected_text(loader, option, "a list", value);
    group_clear(option, base);
    bool is_good = true;
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    yyjson_val *item;
    for (size_t i = 0; (item = yyjson_arr_iter_next(&iter)) != NULL; i++) {
        const size_t mark = loader_push_index(loader, i);
        loader->item = i;
        is_good &= group_add(loader, option, base, item);
        loader_pop(loader, mark);
    }
    /* An empty list would mean "nowhere", "nothing" or "no host", which nobody can want. */
    if (yyjson_arr_size(value) == 0 && option->kind != OPTION_NETWORKS &&
        option->kind != OPTION_HOOKS) {
        loader_mistake(loader, "expected at least one item, found an empty list");
        return false;
    }
    return is_good;
}

/* ---- one value per type -------------------------------------------------------------------- */

static void *place_of(const struct option *option, void *base, size_t type)
{
    return (char *)base + option->offset + type * (option->bytes / CAPTCHA_COUNT);
}

static bool read_entry(struct loader *loader, const struct option *option, void *base, size_t type,
                       struct yyjson_val *value)
{
    void *const place = place_of(option, base, type);
    const size_t bytes = option->bytes / CAPTCHA_COUNT;
    if (option->kind == OPTION_DURATIONS)
        return scalar_read_duration(loader, option, value, place, bytes);
    if (option->kind == OPTION_REUSES)
        return scalar_read_word(loader, option, value, place, bytes);
    ASSERT(option->kind == OPTION_PRICES);
    if (loader->origin != ORIGIN_PRESET)
        loader->config->upstream.has_price = true;
    return scalar_read_fraction(loader, option, value, (double)option->max, 1e6, place, bytes);
}

static size_t find_type(struct slice name)
{
    size_t type = 0;
    while (type < CAPTCHA_COUNT && !slice_equals(name, slice_from(option_type_name(type))))
        type++;
    return type;
}

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

bool group_read_type(struct loader *loader, const struct option *option, void *base,
                     struct slice name, struct yyjson_val *value)
{
    const size_t type = find_type(name);
    if (type == CAPTCHA_COUNT)
        return refuse_type(loader, name);
    loader->seen[loader_index(option)].named |= UINT32_C(1) << type;
    return read_entry(loader, option, base, type, value);
}

bool group_read_per_type(struct loader *loader, const struct option *option, void *base,
                         struct yyjson_val *value)
{
    /* A plain value is for every type. Not for reuse: there images would silently lose their own. */
    if (!yyjson_is_obj(value) && option->kind != OPTION_REUSES) {
        loader->seen[loader_index(option)].named = 0;
        return read_entry(loader, option, base, CAPTCHA_OTHER, value);
    }
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
                   group_read_type(loader, option, base, name, entry);
        loader_pop(loader, mark);
    }
    return is_good;
}

void group_finish_per_type(struct loader *loader, const struct option *option, void *base)
{
    for (size_t type = 0; type < CAPTCHA_COUNT; type++)
        if ((loader->seen[loader_index(option)].named & (UINT32_C(1) << type)) == 0 &&
            type != CAPTCHA_OTHER)
            memcpy(place_of(option, base, type), place_of(option, base, CAPTCHA_OTHER),
                   option->bytes / CAPTCHA_COUNT);
}

/* ---- the error table ------------------------------------------------------------------------ */

/* The classes that describe a reply of the vendor; the others are states of our own. */
static const struct option_word class_words[] = {
    {"pending", CLASS_PENDING},     {"busy", CLASS_BUSY},       {"unsolvable", CLASS_UNSOLVABLE},
    {"transient", CLASS_TRANSIENT}, {"account", CLASS_ACCOUNT}, {"caller", CLASS_CALLER},
    {"proxy", CLASS_PROXY},         {"unknown", CLASS_UNKNOWN}, {NULL, 0},
};

static bool read_error(struct loader *loader, const struct option *option, struct slice code,
                       struct yyjson_val *value)
{
    struct config *const config = loader->config;
    if (code.len >= ERROR_CODE_MAX || !value_is_visible(code)) {
        loader_mistake(loader,
                       "expected an error code of 1 to %d visible characters, found another",
                       ERROR_CODE_MAX - 1);
        return false;
    }
    char copy[CONFIG_TEXT_MAX];
    struct slice text;
    if (!scalar_text(loader, option, value, copy, &text))
        return false;
    const struct option_word *word = class_words;
    while (word->text != NULL && !slice_equals(text, slice_from(word->text)))
        word++;
    if (word->text == NULL)
        return loader_expected(loader, option, value);
    if (config->error_count == CONFIG_ERRORS_MAX) {
        loader_mistake(loader, "expected at most %d codes, found more", CONFIG_ERRORS_MAX);
        return false;
    }
    struct error_override *const override = &config->errors[config->error_count++];
    memcpy(override->code, code.data, code.len);
    override->code[code.len] = '\0';
    override->class = (enum class)word->value;
    return true;
}

bool group_read_errors(struct loader *loader, const struct option *option, struct yyjson_val *value)
{
    if (!yyjson_is_obj(value))
        return loader_expected_text(loader, option, "an object", value);
    bool is_good = true;
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        const struct slice code = {.data = yyjson_get_str(key), .len = yyjson_get_len(key)};
        const size_t mark = loader_push_key(loader, ".", code);
        yyjson_val *const entry = yyjson_obj_iter_get_val(key);
        is_good &= !loader_is_repeated(loader, value, code, entry) &&
                   read_error(loader, option, code, entry);
        loader_pop(loader, mark);
    }
    return is_good;
}
