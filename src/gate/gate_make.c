#include "gate/gate_make.h"

#include "base/assert.h"
#include "config/config_clients.h"
#include "gate/client_names.h"
#include "gate/hosts.h"
#include "store/store_adoption.h"
#include "store/store_claims.h"
#include "sys/log.h"
#include "upstream/upstream_life.h"
#include "upstream/url.h"

#include <sodium.h>
#include <stdlib.h>

/* ---- engine ------------------------------------------------------------------------------ */

/* Fields that the client does not set get the general value. */
static void inherit_retry(const struct engine_options *all, struct client_options *client)
{
    struct retry_options *own = &client->retry;
    client->has_retry = own->base_ms != UINT32_MAX || own->cap_ms != UINT32_MAX ||
                        own->busy != UINT16_MAX || own->unsolvable != UINT16_MAX ||
                        own->transient != UINT16_MAX;
    own->base_ms = own->base_ms == UINT32_MAX ? all->retry_base_ms : own->base_ms;
    own->cap_ms = own->cap_ms == UINT32_MAX ? all->retry_cap_ms : own->cap_ms;
    own->busy = own->busy == UINT16_MAX ? all->retry_busy : own->busy;
    own->unsolvable = own->unsolvable == UINT16_MAX ? all->retry_unsolvable : own->unsolvable;
    own->transient = own->transient == UINT16_MAX ? all->retry_transient : own->transient;
}

/* A reload may bring back a name that was not configured at the start. */
static bool has_heir(const struct gate *gate, size_t gone, client_id *heir)
{
    const struct slice name = slice_from(gate->gone_names[gone - gate->client_room]);
    return client_by_name(gate, name, heir) && client_is_live(gate, *heir);
}

/* Without configured clients there is only client 0, with no limits of its own. */
static struct client_options *make_clients(const struct gate *gate, uint16_t *count)
{
    static const struct client_options anybody = {.weight = 1, .budget_per_day = UINT64_MAX};
    const struct config *config = gate->config;
    const size_t live = config->client_count == 0 ? 1 : config->client_count;
    *count = (uint16_t)(gate->gone_count == 0 ? live : gate->client_room + gate->gone_count);
    struct client_options *clients = calloc(*count, sizeof *clients);
    ASSERT(clients != NULL);
    for (size_t i = 0; i < *count; i++) {
        clients[i] = anybody;
        clients[i].is_shadow = config->mode == MODE_SHADOW;
        clients[i].is_gone = i >= gate->client_room;
        clients[i].has_heir = i >= gate->client_room && has_heir(gate, i, &clients[i].heir);
    }
    for (size_t i = 0; i < config->client_count; i++) {
        clients[i] = config->clients[i].options;
        inherit_retry(&config->engine, &clients[i]);
        clients[i].is_shadow = config_client_is_shadow(config, (client_id)i);
    }
    return clients;
}

/* Logs the engine's decisions, for debugging. */
static void on_trace(void *context, uint64_t now_ms, const char *text)
{
    (void)context;
    (void)now_ms;
    LOG(LOG_LEVEL_DEBUG, "engine", log_string("what", text));
}

/* Set only if the log level shows it: tracing costs every request a sentence. */
static void set_trace(struct engine *engine)
{
    engine_set_trace(engine, log_is_on(LOG_LEVEL_DEBUG) ? on_trace : NULL, NULL);
}

/* The configuration's engine options, completed by the gate, for the start and for reloads. Free
 * the clients. */
static struct client_options *engine_options_of(const struct gate *gate,
                                                struct engine_options *options)
{
    *options = gate->config->engine;
    options->wake_batch = options->step_batch = ENGINE_BATCH;
    options->has_callbacks = gate->config->public_url != NULL;
    options->max_clients = (uint16_t)(gate->client_room + GONE_CLIENTS);
    struct client_options *clients = make_clients(gate, &options->client_count);
    options->clients = clients;
    options->letter_is_allowed = hosts_allow;
    options->letter_context = gate;
    return clients;
}

void gate_configure_engine(struct gate *gate)
{
    struct engine_options options;
    struct client_options *clients = engine_options_of(gate, &options);
    engine_configure(gate->engine, &options);
    set_trace(gate->engine);
    free(clients);
}

struct engine *gate_make_engine(struct gate *gate)
{
    struct engine_options options;
    struct client_options *clients = engine_options_of(gate, &options);
    options.has_journal = gate->persist.store != NULL;
    options.store_is_shared = gate->cluster.is_on;
    options.store_adopts = gate->cluster.is_on && store_can_adopt(gate->persist.store);
    options.node = gate->cluster.is_on ? store_node(gate->persist.store) : 0;
    options.lease_ms = gate->cluster.lease_ms;
    options.lease_margin_ms = gate->cluster.margin_ms;
    struct pool_options *pools = targets_pools(&gate->targets, gate->config);
    options.pools = pools;
    options.pool_count = (uint16_t)gate->targets.count;
    randombytes_buf(options.secret, sizeof options.secret);
    struct engine *engine = engine_new(&options, gate_now_ms(gate), gate_wall_ms());
    set_trace(engine);
    free(clients);
    free(pools);
    return engine;
}

/* ---- doors and vendor -------------------------------------------------------------------- */

/* Clients submit by GET, too: an image of 10 kB in base64, where the signs + / = take three
 * characters each, has some 15 kB. A callback's token has at most 4 000 characters, each of which
 * may be encoded. */
#define URL_BYTES 32768
#define PIPELINE 8
/* Callbacks carry paid solutions, so they must get in even when workers use all connections; and whoever starts
 * programs anew that do not answer must not do that to one that is busy. */
#define RESERVED_CONNECTIONS 64

struct http_server *gate_make_server(struct gate *gate, const struct http_handlers *handlers)
{
    struct http_options options = gate->config->http;
    options.reserve = gate->config->public_url == NULL ? 0 : RESERVED_CONNECTIONS;
    options.reserve_paths[0] = SLICE_OF("/pingback/");
    options.reserve_paths[1] = SLICE_OF("/livez");
    options.reserve_paths[2] = SLICE_OF("/readyz");
    options.url_bytes = URL_BYTES;
    options.pipeline = PIPELINE;
    return http_server_new(&gate->loop, &options, handlers);
}

struct upstream *gate_make_upstream(struct gate *gate, const struct upstream_handlers *handlers,
                                    struct buf *mistake)
{
    struct upstream_options options = gate->config->upstream;
    options.user_agent = "solvegate/" SOLVEGATE_VERSION;
    /* Each attempt has at most one waiting call, a flight has up to two attempts, and there are a
     * few reports and probes. */
    options.queue = 2 * gate->config->engine.max_flights + 1024;
    options.wall_ms = gate_wall_ms;
    options.protocol = gate->protocol;
    return upstream_new(&gate->loop, &options, handlers, mistake);
}

bool gate_make_targets(struct gate *gate, struct buf *mistake)
{
    return targets_make(&gate->targets, gate->config, &gate->identity_options, mistake);
}

/* A reload adds clients and moves none, so existing scopes stay valid. */
static void make_scopes(struct gate *gate)
{
    const size_t count = gate->config->client_count == 0 ? 1 : gate->config->client_count;
    for (; gate->scope_count < count; gate->scope_count++)
        gate->scopes[gate->scope_count] = identity_scope_of(
            &gate->identity_options, slice_from(client_name(gate, (client_id)gate->scope_count)));
}

void gate_make_identity(struct gate *gate)
{
    gate->identity_options.include_proxy = gate->config->dedup_include_proxy;
    gate->identity_options.is_global = gate->config->engine.clients_share;
    gate->identity_options.normalize_url = url_normalize;
    make_scopes(gate);
}
