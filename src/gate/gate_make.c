#include "gate/gate_make.h"

#include "base/assert.h"
#include "gate/client_names.h"
#include "sys/log.h"
#include "upstream/url.h"

#include <sodium.h>
#include <stdlib.h>

/* ---- engine ------------------------------------------------------------------------------ */

static void take_limits(const struct config *config, struct engine_options *options)
{
    options->max_requests = config->limits.requests;
    options->max_flights = config->limits.flights;
    options->max_flight_bytes = config->limits.flight_bytes;
    options->max_pingback_bytes = config->limits.pingback_bytes;
    options->max_per_flight = config->limits.per_flight;
    options->max_callers = config->limits.callers;
    options->max_solutions = config->limits.solutions;
    options->max_solution_bytes = config->limits.solution_bytes;
    options->max_idempotency = config->limits.idempotency;
    options->max_records = config->limits.records;
    options->max_record_bytes = config->limits.record_bytes;
    options->max_finished = config->limits.finished;
}

static void take_letters(const struct config *config, struct engine_options *options)
{
    options->max_letters = config->letters.max;
    options->max_letter_bytes = config->letters.max_bytes;
    options->letter_keep_ms = config->letters.keep_ms;
    options->letter_alert_above = config->letters.alert_above;
    options->replay_interval_ms = config->letters.replay_interval_ms;
    options->letter_retry_every_ms = config->letters.retry_every_ms;
    options->letter_retry_classes = config->letters.retry_classes;
    options->letter_retry_max = config->letters.retry_max;
}

static void take_callbacks(const struct config *config, struct engine_options *options)
{
    options->notice_retries = config->callbacks.retries;
    options->notice_base_ms = config->callbacks.retry_base_ms;
    options->notice_cap_ms = config->callbacks.retry_cap_ms;
}

static void take_retry(const struct config *config, struct engine_options *options)
{
    options->retry_base_ms = config->retry.base_ms;
    options->retry_cap_ms = config->retry.cap_ms;
    options->retry_jitter_ms = config->retry.jitter_ms;
    options->retry_busy = config->retry.busy;
    options->retry_unsolvable = config->retry.unsolvable;
    options->retry_transient = config->retry.transient;
    options->retry_unknown = config->retry.unknown;
    options->retry_budget_permille = config->retry.budget_permille;
    options->breaker_probe_ms = config->breaker.probe_ms;
    options->breaker_probe_most_ms = config->breaker.probe_max_ms;
}

static void take_times(const struct config *config, struct engine_options *options)
{
    options->slots = config->upstream.slots;
    options->slots_are_auto = config->upstream.slots_are_auto;
    options->solve_timeout_ms = config->solve_timeout_ms;
    options->ambiguity_window_ms = config->ambiguity_window_ms;
    options->resend_ambiguous = config->resend_ambiguous;
    memcpy(options->poll_first_ms, config->poll_first_ms, sizeof options->poll_first_ms);
    options->poll_interval_ms = config->poll_interval_ms;
    options->fallback_after_ms = config->fallback_after_ms;
    options->has_callbacks = config->public_url[0] != '\0';
    memcpy(options->ttl_ms, config->ttl_ms, sizeof options->ttl_ms);
    memcpy(options->price_micro, config->upstream.price_micro, sizeof options->price_micro);
    options->caller_error_ttl_ms = config->caller_error_ttl_ms;
    options->idempotency_ttl_ms = config->idempotency_ttl_ms;
}

static bool has_own_retry(const struct config_client *client)
{
    const struct config_retry *own = &client->retry;
    return own->base_ms != UINT32_MAX || own->cap_ms != UINT32_MAX || own->busy != UINT16_MAX ||
           own->unsolvable != UINT16_MAX || own->transient != UINT16_MAX;
}

/* What a client does not say is as for everybody. */
static struct retry_options retry_of(const struct config *config,
                                     const struct config_client *client)
{
    const struct config_retry *own = &client->retry;
    return (struct retry_options){
        .base_ms = own->base_ms == UINT32_MAX ? config->retry.base_ms : own->base_ms,
        .cap_ms = own->cap_ms == UINT32_MAX ? config->retry.cap_ms : own->cap_ms,
        .busy = own->busy == UINT16_MAX ? config->retry.busy : own->busy,
        .unsolvable = own->unsolvable == UINT16_MAX ? config->retry.unsolvable : own->unsolvable,
        .transient = own->transient == UINT16_MAX ? config->retry.transient : own->transient,
    };
}

/* Without configured clients everybody is client 0, with no limits of its own. */
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
        clients[i].is_gone = i >= gate->client_room;
    }
    for (size_t i = 0; i < config->client_count; i++)
        clients[i] = (struct client_options){
            .slots = config->clients[i].slots,
            .weight = config->clients[i].weight,
            .requests = config->clients[i].requests,
            .budget_per_day = config->clients[i].budget_per_day,
            .is_gone = config->clients[i].is_gone,
            .has_retry = has_own_retry(&config->clients[i]),
            .retry = retry_of(config, &config->clients[i]),
        };
    return clients;
}

static void take_all(const struct config *config, struct engine_options *options)
{
    engine_options_init(options);
    options->clients_share = config->dedup_is_global;
    take_limits(config, options);
    take_letters(config, options);
    take_retry(config, options);
    take_callbacks(config, options);
    take_times(config, options);
}

/* What the engine decides, for whoever looks for the cause of something. */
static void on_trace(void *context, uint64_t now_ms, const char *text)
{
    (void)context;
    (void)now_ms;
    LOG(LOG_LEVEL_DEBUG, "engine", log_string("what", text));
}

/* Only where somebody reads it: it would cost every request a sentence. */
static void set_trace(struct engine *engine)
{
    engine_set_trace(engine, log_is_on(LOG_LEVEL_DEBUG) ? on_trace : NULL, NULL);
}

void gate_configure_engine(struct gate *gate)
{
    struct engine_options options;
    take_all(gate->config, &options);
    options.max_clients = (uint16_t)(gate->client_room + GONE_CLIENTS);
    struct client_options *clients = make_clients(gate, &options.client_count);
    options.clients = clients;
    engine_configure(gate->engine, &options);
    set_trace(gate->engine);
    free(clients);
}

struct engine *gate_make_engine(struct gate *gate)
{
    struct engine_options options;
    take_all(gate->config, &options);
    options.max_clients = (uint16_t)(gate->client_room + GONE_CLIENTS);
    struct client_options *clients = make_clients(gate, &options.client_count);
    options.clients = clients;
    options.has_journal = gate->persist.store != NULL;
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

/* Clients submit by GET, too: an image of 10 kB in base64, where the signs + / = take three characters
 * each, has some 15 kB. A callback's token has 4 000 characters at most, each of which may be encoded. */
#define URL_BYTES 32768
#define PIPELINE 8
/* Callbacks must get in when workers have taken all connections: what they bring is paid for. */
#define CALLBACK_CONNECTIONS 64

struct http_server *gate_make_server(struct gate *gate, const struct http_handlers *handlers)
{
    const struct config *config = gate->config;
    const struct http_options options = {
        .connections = config->limits.connections,
        .reserve = config->public_url[0] == '\0' ? 0 : CALLBACK_CONNECTIONS,
        .reserve_path = SLICE_OF("/pingback/"),
        .body_bytes = config->limits.body_bytes,
        .header_bytes = config->limits.header_bytes,
        .url_bytes = URL_BYTES,
        .header_timeout_ms = config->limits.header_timeout_ms,
        .body_timeout_ms = config->limits.body_timeout_ms,
        .write_timeout_ms = config->limits.write_timeout_ms,
        .idle_timeout_ms = config->limits.idle_timeout_ms,
        .partial_bytes = config->limits.partial_bytes,
        .unsent_bytes = config->limits.unsent_bytes,
        .pipeline = PIPELINE,
        .trusted_proxies = config->trusted_proxies,
        .trusted_proxy_count = config->trusted_proxy_count,
    };
    return http_server_new(&gate->loop, &options, handlers);
}

struct upstream *gate_make_upstream(struct gate *gate, const struct upstream_handlers *handlers,
                                    struct buf *mistake)
{
    const struct config *config = gate->config;
    const struct upstream_options options = {
        .url = config->upstream.url,
        .key = config->upstream.key,
        .ca_file = config->upstream.ca_file[0] == '\0' ? NULL : config->upstream.ca_file,
        .user_agent = "solvegate/" SOLVEGATE_VERSION,
        .allow_plain_http = config->upstream.allow_plain_http,
        .connections = config->upstream.connections,
        /* Each attempt has at most one call waiting, and there are up to two for a flight, besides a few reports
         * and probes. */
        .queue = 2 * config->limits.flights + 1024,
        .connect_timeout_ms = config->upstream.connect_timeout_ms,
        .submit_timeout_ms = config->upstream.submit_timeout_ms,
        .poll_timeout_ms = config->upstream.poll_timeout_ms,
        .vendor = {.overrides = config->errors, .override_count = config->error_count},
        .wall_ms = gate_wall_ms,
    };
    return upstream_new(&gate->loop, &options, handlers, mistake);
}

bool gate_make_targets(struct gate *gate, struct buf *mistake)
{
    return targets_make(&gate->targets, gate->config, &gate->identity_options, mistake);
}

/* A reload adds clients and moves none, so that those made before hold. */
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
    gate->identity_options.is_global = gate->config->dedup_is_global;
    gate->identity_options.normalize_url = url_normalize;
    make_scopes(gate);
}
