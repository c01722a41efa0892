#include "config/config_check.h"
#include "config/config_pools.h"

#include "config/config_values.h"

#include <sodium.h>
#include <stdio.h>

#define DURATION_TEXT_MAX 32

/* A duration as text with a NUL, for messages. */
static const char *duration(uint64_t ms, char out[DURATION_TEXT_MAX])
{
    struct buf text;
    buf_init(&text, DURATION_TEXT_MAX - 1);
    value_write_duration(&text, ms);
    (void)snprintf(out, DURATION_TEXT_MAX, "%.*s", (int)text.len, text.data);
    buf_close(&text);
    return out;
}

static void check_upstream(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (config->upstream.key[0] == '\0' && loader_is_good(loader, "upstream.key")) {
        loader_enter_option(loader, "upstream.key");
        loader_mistake(loader,
                       "expected the vendor's API key (or CAPTCHAAI_API_KEY), found nothing");
    }
    if (loader_is_good(loader, "upstream.url") &&
        loader_is_good(loader, "upstream.allow_plain_http") && !config->upstream.allow_plain_http &&
        !value_url_is_https(config->upstream.url) && !value_url_is_loopback(config->upstream.url)) {
        loader_enter_option(loader, "upstream.url");
        loader_mistake(loader,
                       "expected https, since plain http shows the key to everybody on the way "
                       "(upstream.allow_plain_http allows it), found \"%s\"",
                       config->upstream.url);
    }
}

static void check_repeated(struct loader *loader, size_t place)
{
    const struct config *const config = loader->config;
    const struct slice address = slice_from(config->listen[place]);
    /* Port 0 is another one each time. */
    if (strcmp(address.data + address.len - 2, ":0") == 0)
        return;
    for (size_t i = 0; i < place; i++)
        if (slice_equals(address, slice_from(config->listen[i])))
            loader_mistake(loader, "expected every address once, found \"%s\" again", address.data);
}

static void check_listen(struct loader *loader)
{
    const struct config *const config = loader->config;
    const bool is_open = config->client_count == 0 && !loader->has_bad_clients;
    loader_enter_option(loader, "listen");
    for (size_t i = 0; i < config->listen_count; i++) {
        const size_t mark = loader_push_index(loader, loader->listen_places[i]);
        if (is_open && !value_listen_is_local(config->listen[i]))
            loader_mistake(loader,
                           "expected a loopback address or a unix socket, since without clients "
                           "everybody who reaches it may spend, found \"%s\"",
                           config->listen[i]);
        check_repeated(loader, i);
        loader_pop(loader, mark);
    }
}

static void check_times(struct loader *loader)
{
    const struct config *const config = loader->config;
    char a[DURATION_TEXT_MAX], b[DURATION_TEXT_MAX];
    if (loader_is_good(loader, "ambiguity_window") && loader_is_good(loader, "solve_timeout") &&
        config->ambiguity_window_ms >= config->solve_timeout_ms) {
        loader_enter_option(loader, "ambiguity_window");
        loader_mistake(loader, "expected less than solve_timeout (%s), found %s",
                       duration(config->solve_timeout_ms, a),
                       duration(config->ambiguity_window_ms, b));
    }
    if (loader_is_good(loader, "retry.base") && loader_is_good(loader, "retry.cap") &&
        config->retry.base_ms > config->retry.cap_ms) {
        loader_enter_option(loader, "retry.base");
        loader_mistake(loader, "expected at most retry.cap (%s), found %s",
                       duration(config->retry.cap_ms, a), duration(config->retry.base_ms, b));
    }
    if (loader_is_good(loader, "breaker.probe") && loader_is_good(loader, "breaker.probe_max") &&
        config->breaker.probe_ms > config->breaker.probe_max_ms) {
        loader_enter_option(loader, "breaker.probe");
        loader_mistake(loader, "expected at most breaker.probe_max (%s), found %s",
                       duration(config->breaker.probe_max_ms, a),
                       duration(config->breaker.probe_ms, b));
    }
}

/* With what it says itself and what it has of everybody. */
static void check_client_retries(struct loader *loader)
{
    const struct config *const config = loader->config;
    char a[DURATION_TEXT_MAX], b[DURATION_TEXT_MAX];
    for (size_t i = 0; i < config->client_count; i++) {
        const struct config_retry *const own = &config->clients[i].retry;
        const uint32_t base = own->base_ms == UINT32_MAX ? config->retry.base_ms : own->base_ms;
        const uint32_t cap = own->cap_ms == UINT32_MAX ? config->retry.cap_ms : own->cap_ms;
        const bool is_own = own->base_ms != UINT32_MAX || own->cap_ms != UINT32_MAX;
        if (!is_own || base <= cap)
            continue;
        loader_enter(loader, ORIGIN_FILE, "clients");
        (void)loader_push_index(loader, i);
        (void)loader_push_key(loader, ".", SLICE_OF("retry"));
        loader_mistake(loader, "expected base to be at most cap (%s), found %s", duration(cap, a),
                       duration(base, b));
    }
}

static void check_callbacks(struct loader *loader)
{
    const struct config *const config = loader->config;
    char a[DURATION_TEXT_MAX], b[DURATION_TEXT_MAX];
    if (!loader_is_good(loader, "callbacks.retry_base") ||
        !loader_is_good(loader, "callbacks.retry_cap") ||
        config->callbacks.retry_base_ms <= config->callbacks.retry_cap_ms)
        return;
    loader_enter_option(loader, "callbacks.retry_base");
    loader_mistake(loader, "expected at most callbacks.retry_cap (%s), found %s",
                   duration(config->callbacks.retry_cap_ms, a),
                   duration(config->callbacks.retry_base_ms, b));
}

static void check_cache(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (!loader_is_good(loader, "cache.ttl") || !loader_is_good(loader, "cache.min_ttl"))
        return;
    uint32_t shortest = config->ttl_ms[0];
    for (size_t i = 1; i < CAPTCHA_COUNT; i++)
        if (config->ttl_ms[i] < shortest)
            shortest = config->ttl_ms[i];
    if (config->min_ttl_ms < shortest)
        return;
    char a[DURATION_TEXT_MAX], b[DURATION_TEXT_MAX];
    loader_enter_option(loader, "cache.min_ttl");
    loader_mistake(loader, "expected less than every cache.ttl (the shortest is %s), found %s",
                   duration(shortest, a), duration(config->min_ttl_ms, b));
}

/* What the frontend may need for a request besides its body and its fields: the address, and what is read
 * beyond its end. */
#define REQUEST_EXTRA_BYTES (UINT64_C(512) << 10)

/* A limit that the largest request does not fit would refuse it for ever, with a code that says "later". */
static void check_partial(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (!loader_is_good(loader, "limits.partial_bytes") || !loader_is_good(loader, "limits.body") ||
        !loader_is_good(loader, "limits.header"))
        return;
    const uint64_t least =
        UINT64_C(0) + config->limits.body_bytes + config->limits.header_bytes + REQUEST_EXTRA_BYTES;
    if (config->limits.partial_bytes >= least)
        return;
    struct buf text;
    buf_init(&text, 64);
    value_write_size(&text, least);
    buf_add(&text, SLICE_OF("), found "));
    value_write_size(&text, config->limits.partial_bytes);
    loader_enter_option(loader, "limits.partial_bytes");
    loader_mistake(loader,
                   "expected at least what one request may take (limits.body, limits.header and "
                   "512KiB: %.*s",
                   (int)text.len, text.data);
    buf_close(&text);
}

/* Names and keys are what clients are told apart by. */
static void check_clients(struct loader *loader)
{
    const struct config *const config = loader->config;
    loader_enter(loader, ORIGIN_FILE, "clients");
    for (size_t i = 1; i < config->client_count; i++) {
        const struct config_client *const client = &config->clients[i];
        const bool has_key = sodium_is_zero(client->key_hash, CLIENT_KEY_HASH_BYTES) == 0;
        const size_t mark = loader_push_index(loader, i);
        for (size_t k = 0; k < i; k++) {
            const struct config_client *const other = &config->clients[k];
            if (client->name[0] != '\0' && strcmp(client->name, other->name) == 0)
                loader_mistake(loader,
                               "expected a name of its own, found \"%s\" as in clients[%zu]",
                               client->name, k);
            if (has_key &&
                sodium_memcmp(client->key_hash, other->key_hash, CLIENT_KEY_HASH_BYTES) == 0)
                loader_mistake(loader, "expected a key of its own, found the same in clients[%zu]",
                               k);
        }
        loader_pop(loader, mark);
    }
}

void check_together(struct loader *loader)
{
    check_upstream(loader);
    check_listen(loader);
    check_times(loader);
    check_client_retries(loader);
    check_callbacks(loader);
    check_cache(loader);
    check_partial(loader);
    check_clients(loader);
    pool_list_check(loader);
}
