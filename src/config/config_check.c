#include "config/config_check.h"

#include "config/config_clients.h"
#include "config/config_fields.h"
#include "config/config_loader.h"
#include "config/config_values.h"
#include "proto/pack.h"
#include "proto/pageurl.h"
#include "store/store_claims.h"

#include <sodium.h>
#include <stdio.h>

#define NODE_NAME_MOST 120

/* Tells "expected WHAT BOUND), found NUMBER", formatted for the option's kind of number. */
static void refuse_number(struct loader *loader, const char *what, uint64_t bound, uint64_t found,
                          void (*write)(struct buf *out, uint64_t number))
{
    struct buf text;
    buf_init(&text, 256);
    write(&text, bound);
    buf_add(&text, SLICE_OF("), found "));
    write(&text, found);
    (void)loader_mistake(loader, "expected %s%.*s", what, (int)text.len, text.data);
    buf_close(&text);
}

static void check_upstream(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (config->upstream.key == NULL && loader_is_good(loader, "upstream.key")) {
        loader_enter_option(loader, "upstream.key");
        (void)loader_mistake(loader,
                             "expected the vendor's API key (or CAPTCHAAI_API_KEY), found nothing");
    }
    if (loader_is_good(loader, "upstream.url") &&
        loader_is_good(loader, "upstream.allow_plain_http") && !config->upstream.allow_plain_http &&
        !value_url_is_https(config->upstream.url) && !value_url_is_loopback(config->upstream.url)) {
        loader_enter_option(loader, "upstream.url");
        (void)loader_mistake(
            loader,
            "expected https, since plain http shows the key to everybody on the way "
            "(upstream.allow_plain_http allows it), found \"%s\"",
            config->upstream.url);
    }
}

/* There is one journal, and this build must have a driver that understands its name. */
static void check_store(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (config->store.url == NULL || !loader_is_good(loader, "store"))
        return;
    loader_enter_option(loader, "store");
    if (config->data_dir != NULL)
        (void)loader_mistake(loader, "expected either data_dir or store, since both name the place "
                                     "of the journal, found both");
    struct buf mistake;
    buf_init(&mistake, 512);
    if (loader_is_good(loader, "store_prefix") && !store_is_sound(&config->store, &mistake))
        (void)loader_mistake(loader, "%.*s", (int)mistake.len, mistake.data);
    buf_close(&mistake);
}

/* A second gateway needs nothing but the same store, so that one on a server is shared unless the configuration
 * says otherwise. */
static void settle_sharing(struct loader *loader)
{
    struct config *const config = loader->config;
    if (loader_is_given(loader, "cluster.enabled") || !loader_is_good(loader, "store"))
        return;
    config->cluster_enabled = config->store.url != NULL && store_can_share(config->store.url);
}

/* Sharing needs a server, and a beat or two may be lost without losing the lease. */
static void check_cluster(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (!config->cluster_enabled)
        return;
    if (loader_is_good(loader, "store") &&
        (config->store.url == NULL || !store_can_share(config->store.url))) {
        loader_enter_option(loader, "cluster.enabled");
        (void)loader_mistake(loader,
                             "expected a store that gateways can share (PostgreSQL, Redis), found "
                             "none");
    }
    if (config->store.node != NULL && strlen(config->store.node) > NODE_NAME_MOST) {
        loader_enter_option(loader, "cluster.node");
        (void)loader_mistake(loader, "expected at most %d characters, found %zu", NODE_NAME_MOST,
                             strlen(config->store.node));
    }
    if (loader_is_good(loader, "cluster.lease") && loader_is_good(loader, "cluster.heartbeat") &&
        config->store.heartbeat_ms > config->store.lease_ms / 3) {
        loader_enter_option(loader, "cluster.heartbeat");
        refuse_number(loader, "at most a third of cluster.lease (", config->store.lease_ms / 3,
                      config->store.heartbeat_ms, value_write_duration);
    }
}

/* With journals of their own, gateways at one port would each pay for the same captcha. */
static void check_shared_ports(struct loader *loader)
{
    const struct config *const config = loader->config;
    if (!config->http.shares_ports)
        return;
    loader_enter_option(loader, "listen_shared");
    if (!config->cluster_enabled && loader_is_good(loader, "cluster.enabled"))
        (void)loader_mistake(loader, "expected a store beside it that gateways can share "
                                     "(PostgreSQL, Redis; with cluster.enabled), since gateways at "
                                     "one port must share what they paid for");
    else if (config->store.node == NULL && loader_is_good(loader, "cluster.node"))
        (void)loader_mistake(loader, "expected a cluster.node for each gateway beside it, since "
                                     "their addresses do not tell them apart");
    for (size_t i = 0; i < config->listen_count; i++)
        if (slice_starts_with(slice_from(config->listen[i]), SLICE_OF("unix:")))
            (void)loader_mistake(loader,
                                 "expected no socket of a path in listen beside it, since "
                                 "only one gateway can have %s",
                                 config->listen[i]);
}

static void check_repeated(struct loader *loader, size_t place)
{
    const struct config *const config = loader->config;
    const struct slice address = slice_from(config->listen[place]);
    /* Port 0 is a different port at each start. */
    if (strcmp(address.data + address.len - 2, ":0") == 0)
        return;
    for (size_t i = 0; i < place; i++)
        if (slice_equals(address, slice_from(config->listen[i])))
            (void)loader_mistake(loader, "expected every address once, found \"%s\" again",
                                 address.data);
}

static void check_listen(struct loader *loader)
{
    const struct config *const config = loader->config;
    const bool is_open = config->client_count == 0 && !loader->has_bad_clients;
    loader_enter_option(loader, "listen");
    for (size_t i = 0; i < config->listen_count; i++) {
        const size_t mark = loader_push_index(loader, loader->listen_places[i]);
        if (is_open && !value_listen_is_local(config->listen[i]))
            (void)loader_mistake(
                loader,
                "expected a loopback address or a unix socket, since without clients "
                "everybody who reaches it may spend, found \"%s\"",
                config->listen[i]);
        check_repeated(loader, i);
        loader_pop(loader, mark);
    }
}

/* Checks an option against the option that its row names as a bound. */
static void check_bound(struct loader *loader, const struct option *option)
{
    const char *const bound = option->below != NULL ? option->below : option->at_most;
    if (bound == NULL || !loader_is_good(loader, option->path) || !loader_is_good(loader, bound))
        return;
    const uint64_t number = option_number(option, loader->config);
    const uint64_t most =
        option_number(option_find(SLICE_OF(""), slice_from(bound)), loader->config);
    if (number < most || (number == most && option->below == NULL))
        return;
    char what[128];
    (void)snprintf(what, sizeof what, "%s %s (", option->below != NULL ? "less than" : "at most",
                   bound);
    loader_enter_option(loader, option->path);
    refuse_number(loader, what, most, number, value_write_duration);
}

static void check_cache(struct loader *loader)
{
    const struct config *const config = loader->config;
    uint32_t shortest = config->engine.ttl_ms[0];
    for (size_t i = 1; i < TYPE_COUNT; i++)
        if (config->engine.ttl_ms[i] < shortest)
            shortest = config->engine.ttl_ms[i];
    if (config->min_ttl_ms < shortest || !loader_is_good(loader, "cache.ttl") ||
        !loader_is_good(loader, "cache.min_ttl"))
        return;
    loader_enter_option(loader, "cache.min_ttl");
    refuse_number(loader, "less than every cache.ttl (the shortest is ", shortest,
                  config->min_ttl_ms, value_write_duration);
}

/* Memory that a request may need besides its body and its fields: the address, and bytes read
 * beyond the request's end. */
#define REQUEST_EXTRA_BYTES (UINT64_C(512) << 10)

/* A limit below the size of the largest request would always refuse it, with a code that says
 * "later". */
static void check_partial(struct loader *loader)
{
    const struct http_options *const http = &loader->config->http;
    const uint64_t least = REQUEST_EXTRA_BYTES + http->body_bytes + http->header_bytes;
    if (http->partial_bytes >= least || !loader_is_good(loader, "limits.partial_bytes") ||
        !loader_is_good(loader, "limits.body") || !loader_is_good(loader, "limits.header"))
        return;
    loader_enter_option(loader, "limits.partial_bytes");
    refuse_number(loader,
                  "at least what one request may take (limits.body, limits.header and 512KiB: ",
                  least, http->partial_bytes, value_write_size);
}

/* Checks the client's own settings together with those it inherits. */
static void check_client_retry(struct loader *loader, const struct config_client *client)
{
    const struct engine_options *const all = &loader->config->engine;
    const struct retry_options *const own = &client->options.retry;
    const uint32_t base = own->base_ms == UINT32_MAX ? all->retry_base_ms : own->base_ms;
    const uint32_t cap = own->cap_ms == UINT32_MAX ? all->retry_cap_ms : own->cap_ms;
    if ((own->base_ms == UINT32_MAX && own->cap_ms == UINT32_MAX) || base <= cap)
        return;
    const size_t mark = loader_push(loader, SLICE_OF("retry"));
    refuse_number(loader, "base to be at most cap (", cap, base, value_write_duration);
    loader_pop(loader, mark);
}

/* Clients are told apart by name and by key, so neither may occur twice. */
static void check_twins(struct loader *loader, size_t place)
{
    const struct config_client *const clients = loader->config->clients;
    const struct config_client *const client = &clients[place];
    const bool has_key = sodium_is_zero(client->key_hash, CLIENT_KEY_HASH_BYTES) == 0;
    for (size_t i = 0; i < place; i++) {
        if (client->name[0] != '\0' && strcmp(client->name, clients[i].name) == 0)
            (void)loader_mistake(loader,
                                 "expected a name of its own, found \"%s\" as in clients[%zu]",
                                 client->name, i);
        if (has_key &&
            sodium_memcmp(client->key_hash, clients[i].key_hash, CLIENT_KEY_HASH_BYTES) == 0)
            (void)loader_mistake(loader,
                                 "expected a key of its own, found the same in clients[%zu]", i);
    }
}

static void check_clients(struct loader *loader)
{
    loader_enter(loader, ORIGIN_FILE, "clients");
    for (size_t i = 0; i < loader->config->client_count; i++) {
        const size_t mark = loader_push_index(loader, i);
        check_client_retry(loader, &loader->config->clients[i]);
        check_twins(loader, i);
        loader_pop(loader, mark);
    }
}

/* Its client would be refused if it asked for the pool's target itself. Hosts that only a real parser
 * finds are not judged here. */
static bool may_fill(const struct config_client *client, const struct config_pool *pool)
{
    struct params params;
    bool has_page = client->allow_host_count == 0;
    bool may = true;
    params_init(&params, (size_t)pool->params->len + 1);
    if (params_unpack(&params, pool->params) != 0)
        params.count = 0;
    for (size_t i = 0; i < params.count; i++) {
        char host[PAGEURL_HOST_MAX];
        if (!pageurl_is_name(params.items[i].name))
            continue;
        const size_t len = pageurl_host(params.items[i].value, host);
        has_page = true;
        may &= len == 0 || config_client_allows(client, (struct slice){.data = host, .len = len});
    }
    params_close(&params);
    return may && has_page;
}

/* Checks that somebody pays for each pool; possible only after all clients are read. */
static void check_pools(struct loader *loader)
{
    const struct config *const config = loader->config;
    loader_enter(loader, ORIGIN_FILE, "pools");
    for (size_t i = 0; i < config->pool_count; i++) {
        const char *const name = config->pools[i].client;
        size_t place = 0;
        while (place < config->client_count && strcmp(config->clients[place].name, name) != 0)
            place++;
        const size_t mark = loader_push_index(loader, i);
        (void)loader_push(loader, SLICE_OF("client"));
        if (name[0] != '\0' && place == config->client_count)
            (void)loader_mistake(loader, "expected the name of one of the clients, found \"%s\"",
                                 name);
        else if (name[0] != '\0' && config->pools[i].params != NULL &&
                 !may_fill(&config->clients[place], &config->pools[i]))
            (void)loader_mistake(
                loader, "expected a client whose allow_hosts include the target, found \"%s\"",
                name);
        loader_pop(loader, mark);
    }
}

void check_together(struct loader *loader)
{
    settle_sharing(loader);
    check_upstream(loader);
    check_store(loader);
    check_cluster(loader);
    check_listen(loader);
    check_shared_ports(loader);
    for (const struct option *option = option_table; option < option_table + option_count; option++)
        check_bound(loader, option);
    check_cache(loader);
    check_partial(loader);
    check_clients(loader);
    check_pools(loader);
}
