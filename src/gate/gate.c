#include "gate/gate.h"

#include "base/assert.h"
#include "gate/drain.h"
#include "gate/gate_act.h"
#include "gate/gate_make.h"
#include "gate/gate_state.h"
#include "gate/rejoin.h"
#include "gate/reload.h"
#include "gate/sampling.h"
#include "gate/service.h"
#include "sys/log.h"
#include "upstream/upstream_life.h"

#include <solvegate/view.h>
#include <solvegate/words.h>

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

/* Most replies take a few hundred bytes; lists and the API document need more. */
#define REPLY_MAX (4u << 20)
#define HEADERS_MAX 4096
/* Room for 100 ids in one request; larger sets of solutions have to be asked for in smaller groups. */
#define WORDS_MAX (2u << 20)
/* One line per address. */
#define READY_MAX (1u << 16)

/* Room for clients that reloads add; more new ones need a restart. */
#define SPARE_CLIENTS 64

/* The loop wakes up this late only if the process or the machine was stopped. */
#define STANDSTILL_MS 200
/* Connections in the kernel's queue are accepted in one turn of the loop and read in a later one. */
#define LISTEN_MS 100
/* A machine that has just woken up is busy, and two turns can take longer than that. */
#define LISTEN_TURNS 3
/* Time between two such pauses, so that a loop that is always late still lets timers expire. */
#define CALM_MS 1000
/* A smaller difference comes from reading two clocks one after the other, not from sleep. */
#define SLEEP_LEAST_MS 20
/* Polls are missed in a standstill of this length. */
#define MISSED_MS 2000

/* ---- clocks and chance ------------------------------------------------------------------- */

int64_t gate_wall_ms(void)
{
    return clocks_read().wall_ms;
}

/* Both clocks are read in milliseconds, one shortly after the other. */
static void see_sleep(struct gate *gate, const struct clocks *now)
{
    const int64_t slept_ms = now->slept_ms - gate->slept_before;
    if (slept_ms <= (int64_t)gate->asleep_ms + SLEEP_LEAST_MS)
        return;
    gate->asleep_ms = (uint64_t)slept_ms;
    /* The loop's timer counts by a clock that stopped during the sleep, so it would fire late by
     * that much. */
    gate->armed_ms = 0;
}

/* Reads the clocks once a turn: the loop's clock stands still within it; wall time is for records and days. A machine
 * that slept in the middle of a turn is noticed, too: what was asked before is answered after. */
static void see_clocks(struct gate *gate)
{
    const uint64_t now_ms = uv_now(&gate->loop);
    if (now_ms == gate->wall_at_ms && clocks_even_ms() - gate->even_ms <= SLEEP_LEAST_MS)
        return;
    const struct clocks now = clocks_read();
    gate->wall_at_ms = now_ms;
    gate->even_ms = now.even_ms;
    see_sleep(gate, &now);
    persist_see_clocks(gate, &now);
    gate->wall_ms = now.wall_ms;
}

uint64_t gate_now_ms(struct gate *gate)
{
    see_clocks(gate);
    return uv_now(&gate->loop) + gate->asleep_ms;
}

/* The system provides a seed once; ChaCha20 generates the rest in a sixth of the time. The first
 * words of its output are the next seed and used for nothing else, so that memory never reveals
 * earlier numbers. */
static void refill_entropy(struct gate *gate)
{
    uint8_t seed[randombytes_SEEDBYTES];
    _Static_assert(sizeof seed == SEED_WORDS * sizeof(uint64_t), "the seed's words are a seed");
    if (gate->has_entropy)
        memcpy(seed, gate->entropy, sizeof seed);
    else
        randombytes_buf(seed, sizeof seed);
    randombytes_buf_deterministic(gate->entropy, sizeof gate->entropy, seed);
    sodium_memzero(seed, sizeof seed);
    gate->has_entropy = true;
    gate->entropy_left = ENTROPY_WORDS;
}

uint64_t gate_entropy(struct gate *gate)
{
    if (gate->entropy_left == 0)
        refill_entropy(gate);
    uint64_t *word = &gate->entropy[SEED_WORDS + --gate->entropy_left];
    const uint64_t drawn = *word;
    *word = 0;
    return drawn;
}

struct event gate_event(struct gate *gate, enum event_kind kind)
{
    return (struct event){
        .kind = kind,
        .now_ms = gate_now_ms(gate),
        .wall_ms = gate->wall_ms,
        .random = gate_entropy(gate),
    };
}

/* ---- stepping ---------------------------------------------------------------------------- */

void gate_take_actions(struct gate *gate)
{
    struct action action;
    while (engine_next_action(gate->engine, &action))
        persist_take(gate, &action);
}

void gate_step(struct gate *gate, const struct event *event)
{
    engine_step(gate->engine, event);
    gate_take_actions(gate);
}

/* ---- what happens ------------------------------------------------------------------------ */

static void on_request(void *context, const struct http_request *request)
{
    struct gate *gate = context;
    gate->doors->request(gate, request);
}

static bool on_refuse(void *context, const struct http_request *request, uint16_t status,
                      struct http_reply *reply)
{
    struct gate *gate = context;
    return gate->doors->refuse(gate, request, status, reply);
}

static void on_gone(void *context, caller_id caller, const struct http_note *note)
{
    (void)note;
    struct gate *gate = context;
    struct event event = gate_event(gate, EVENT_GONE);
    event.gone = caller;
    gate_step(gate, &event);
}

static void on_submitted(void *context, const struct vendor_result *result)
{
    struct gate *gate = context;
    struct event event = gate_event(gate, EVENT_SUBMITTED);
    event.result = *result;
    gate->submits_out--;
    LOG(LOG_LEVEL_DEBUG, "submitted", log_string("class", error_class_name(result->class)),
        log_string("code", result->code), log_string("task", result->task_id));
    gate_step(gate, &event);
}

static void on_polled(void *context, const struct vendor_result *result)
{
    struct gate *gate = context;
    struct event event = gate_event(gate, EVENT_POLLED);
    event.result = *result;
    gate_step(gate, &event);
}

static void on_probed(void *context, const struct probed *probed)
{
    struct gate *gate = context;
    struct event event = gate_event(gate, EVENT_PROBED);
    event.probed = *probed;
    gate_step(gate, &event);
}

static void on_notice_end(void *context, request_id request, bool is_delivered, const char *why)
{
    if (!is_delivered)
        LOG(LOG_LEVEL_WARN, "notice_not_taken", log_number("request", (int64_t)request),
            log_string("why", why));
    gate_notified(context, request, is_delivered ? NOTICE_DELIVERED : NOTICE_REFUSED, why);
}

/* ---- the loop's turn --------------------------------------------------------------------- */

/* Only ends the loop's sleep; the work is done after the poll, when pending input has been processed. */
static void on_deadline(uv_timer_t *timer)
{
    ((struct gate *)timer->data)->armed_ms = 0;
}

static void before_sleep(uv_prepare_t *prepare)
{
    struct gate *gate = prepare->data;
    if (gate->cluster.is_on)
        cluster_before_sleep(gate);
    const uint64_t next = engine_next_deadline(gate->engine);
    const uint64_t now = gate_now_ms(gate);
    const uint64_t heard = next > gate->listen_until_ms ? next : gate->listen_until_ms;
    const bool has_work = persist_has_work(gate) || gate->doors->has_work(gate);
    const uint64_t due = has_work ? now : heard;
    gate->sleep_until_ms = due;
    if (due == gate->armed_ms && due > now)
        return;
    gate->armed_ms = due;
    if (due == UINT64_MAX)
        uv_timer_stop(&gate->deadline);
    else
        uv_timer_start(&gate->deadline, on_deadline, due > now ? due - now : 0, 0);
}

static void process_stalled(struct gate *gate, uint64_t ms)
{
    const struct event event = gate_event(gate, EVENT_STANDSTILL);
    LOG(LOG_LEVEL_WARN, "process_stalled", log_number("for_ms", (int64_t)ms),
        log_string(
            "meaning",
            "the process or the machine was stopped; pending input is processed before timers"));
    gate_step(gate, &event);
}

static void listen_first(struct gate *gate, uint64_t now)
{
    gate->listen_until_ms = now + LISTEN_MS;
    gate->listen_turns = LISTEN_TURNS;
}

/* Is asked once in each turn, after its poll. */
static bool has_listened(struct gate *gate, uint64_t now)
{
    if (gate->listen_turns == 0)
        return gate->listen_until_ms <= now;
    gate->listen_turns--;
    return false;
}

/* After a standstill nothing may expire before pending input is processed (docs/reliability.md
 * 3.2). A late wake-up of the loop reveals the standstill, whatever is due. */
static bool may_expire(struct gate *gate)
{
    const uint64_t now = gate_now_ms(gate);
    const uint64_t overslept = now > gate->sleep_until_ms ? now - gate->sleep_until_ms : 0;
    if (overslept > STANDSTILL_MS && now > gate->listen_until_ms + CALM_MS) {
        listen_first(gate, now);
        if (overslept > MISSED_MS)
            process_stalled(gate, overslept);
    }
    return has_listened(gate, now) && engine_next_deadline(gate->engine) <= now;
}

static void after_poll(uv_check_t *check)
{
    struct gate *gate = check->data;
    if (persist_has_work(gate) && !gate->is_closing)
        persist_work(gate);
    if (may_expire(gate)) {
        const struct event event = gate_event(gate, EVENT_TICK);
        gate_step(gate, &event);
    }
    if (!gate->is_closing)
        gate->doors->work(gate);
    rejoin_look(gate);
    drain_look(gate);
    /* The loop's clock has not advanced since the poll returned, so the difference is how long its
     * events waited. */
    histogram_add(&gate->loop_lag, uv_hrtime() / 1000000 - uv_now(&gate->loop));
}

static void on_hangup(uv_signal_t *signal, int number)
{
    (void)number;
    reload(signal->data);
}

/* ---- beginning --------------------------------------------------------------------------- */

static int fail_start(const char *event, const char *what, const struct buf *mistake, int code)
{
    LOG(LOG_LEVEL_ERROR, event, log_string("what", what), log_text("why", buf_slice(mistake)));
    return code;
}

/* Listens long before the first answer: callbacks during a start wait in the kernel's queue, and a
 * sender that is refused may not call again. */
static int listen_all(struct gate *gate)
{
    const struct http_handlers doors = {
        .context = gate, .on_request = on_request, .on_refuse = on_refuse, .on_gone = on_gone};
    struct buf mistake;
    int code = EX_OK;
    gate->server = gate_make_server(gate, &doors);
    buf_init(&mistake, 1024);
    for (size_t i = 0; i < gate->config->listen_count && code == EX_OK; i++) {
        const char *address = gate->config->listen[i];
        buf_add(&gate->ready, SLICE_OF("solvegate ready on "));
        if (http_server_listen(gate->server, address, &gate->ready, &mistake) != 0)
            code = fail_start("listen_failed", address, &mistake, EX_UNAVAILABLE);
        buf_add_char(&gate->ready, '\n');
    }
    buf_close(&mistake);
    return code;
}

/* Resumes restored work and fills pools. As after a standstill, connections in the kernel's queue
 * are read before any timer expires, since they may bring what the timer waits for. */
static void go_on(struct gate *gate)
{
    printf("%.*s", (int)gate->ready.len, gate->ready.data);
    fflush(stdout);
    service_ready(&gate->loop, buf_slice(&gate->ready));
    uv_update_time(&gate->loop);
    sampling_start(gate);
    if (gate->persist.restored_flights > 0) {
        listen_first(gate, gate_now_ms(gate));
        return;
    }
    const struct event event = gate_event(gate, EVENT_TICK);
    gate_step(gate, &event);
}

static void init_handles(struct gate *gate)
{
    uv_timer_init(&gate->loop, &gate->deadline);
    uv_timer_init(&gate->loop, &gate->drain_timer);
    uv_prepare_init(&gate->loop, &gate->before_sleep);
    uv_check_init(&gate->loop, &gate->after_poll);
    uv_signal_init(&gate->loop, &gate->sigterm);
    uv_signal_init(&gate->loop, &gate->sigint);
    uv_signal_init(&gate->loop, &gate->sighup);
    gate->deadline.data = gate;
    gate->drain_timer.data = gate;
    gate->before_sleep.data = gate;
    gate->after_poll.data = gate;
    gate->sigterm.data = gate;
    gate->sigint.data = gate;
    gate->sighup.data = gate;
    sampling_open(gate);
    gate->resume = resume_new(&gate->loop);
    uv_prepare_start(&gate->before_sleep, before_sleep);
    uv_check_start(&gate->after_poll, after_poll);
    uv_signal_start(&gate->sighup, on_hangup, SIGHUP);
    reload_allow();
}

static void init_buffers(struct gate *gate)
{
    params_init(&gate->params, gate->config->http.body_bytes);
    /* The canonical form of an image is its digest, so images need little room here; text may need
     * this much. */
    buf_init(&gate->scratch, (size_t)gate->config->http.body_bytes * 2 + 65536);
    buf_init(&gate->body, REPLY_MAX);
    buf_init(&gate->headers, HEADERS_MAX);
    buf_init(&gate->words, WORDS_MAX);
    buf_init(&gate->ready, READY_MAX);
}

static void close_gate(struct gate *gate)
{
    http_server_free(gate->server);
    upstream_free(gate->upstream);
    webhook_free(gate->webhook);
    persist_free(gate);
    targets_close(&gate->targets);
    engine_free(gate->engine);
    params_close(&gate->params);
    buf_close(&gate->scratch);
    buf_close(&gate->body);
    buf_close(&gate->headers);
    buf_close(&gate->words);
    buf_close(&gate->ready);
    client_keys_close(&gate->client_keys);
    gate->doors->close(gate);
    sodium_memzero(gate->entropy, sizeof gate->entropy);
    sodium_memzero(gate->nonce_secret, sizeof gate->nonce_secret);
    sodium_memzero(gate->old_nonce_secret, sizeof gate->old_nonce_secret);
    sodium_memzero(&gate->identity_options, sizeof gate->identity_options);
    sodium_memzero(gate->scopes, (gate->client_room + GONE_CLIENTS) * sizeof *gate->scopes);
    free(gate->scopes);
    free(gate->is_warned);
    sampling_free(gate);
    const int err = uv_loop_close(&gate->loop);
    ASSERT(err == 0);
}

static int start(struct gate *gate)
{
    const struct upstream_handlers vendor = {.context = gate,
                                             .on_submitted = on_submitted,
                                             .on_polled = on_polled,
                                             .on_probed = on_probed};
    struct buf mistake;
    buf_init(&mistake, 1024);
    gate->upstream = gate_make_upstream(gate, &vendor, &mistake);
    gate->webhook = webhook_new(&gate->loop, gate->config->alerts_url);
    const char *ca_file = gate->config->notices.ca_file;
    int code = EX_OK;
    if (gate->upstream == NULL)
        code = fail_start("vendor_unusable", gate->config->upstream.url, &mistake, EX_CONFIG);
    gate->notices = notices_new(&gate->loop, &gate->config->notices, on_notice_end, gate, &mistake);
    if (code == EX_OK && gate->notices == NULL)
        code = fail_start("notices_unusable", ca_file == NULL ? "" : ca_file, &mistake, EX_CONFIG);
    buf_close(&mistake);
    if (code == EX_OK)
        code = persist_restore(gate);
    if (code == EX_OK)
        go_on(gate);
    return code;
}

/* The lock comes first: a second instance must exit before it changes anything. Then ports, then slow steps. */
static int make(struct gate *gate)
{
    int code = persist_lock(gate);
    drain_catch(gate);
    if (code == EX_OK)
        code = listen_all(gate);
    if (code == EX_OK)
        code = persist_open(gate);
    if (code == EX_OK)
        code = persist_secrets(gate);
    if (code != EX_OK)
        return code;
    gate_make_identity(gate);
    struct buf mistake;
    buf_init(&mistake, 1024);
    if (!gate_make_targets(gate, &mistake))
        code = fail_start("pool_unusable", "pools", &mistake, EX_CONFIG);
    buf_close(&mistake);
    uv_update_time(&gate->loop);
    gate->engine = gate_make_engine(gate);
    return code == EX_OK ? start(gate) : code;
}

int gate_run(struct config *config, const struct gate_loader *loader,
             const struct gate_doors *doors)
{
    struct gate *gate = calloc(1, sizeof *gate);
    ASSERT(gate != NULL);
    gate->config = config;
    gate->loader = loader;
    gate->doors = doors;
    gate->protocol = &vendor_captchaai;
    gate->client_room = config->client_count + SPARE_CLIENTS;
    gate->scopes = calloc(gate->client_room + GONE_CLIENTS, sizeof *gate->scopes);
    gate->is_warned = calloc(gate->client_room + GONE_CLIENTS, sizeof *gate->is_warned);
    ASSERT(gate->scopes != NULL && gate->is_warned != NULL);
    const int err = uv_loop_init(&gate->loop);
    ASSERT(err == 0);
    gate->slept_before = clocks_read().slept_ms;
    gate->started_ms = uv_now(&gate->loop);
    gate->started_wall_ms = gate_wall_ms();
    client_keys_init(&gate->client_keys, config);
    doors->open(gate);
    init_buffers(gate);
    init_handles(gate);
    drain_catch_early();
    gate->exit_code = make(gate);
    if (gate->exit_code != EX_OK)
        drain_close(gate);
    uv_run(&gate->loop, UV_RUN_DEFAULT);
    const bool is_complete = persist_is_complete(gate);
    const int code = gate->exit_code == EX_OK && !is_complete ? EX_IOERR : gate->exit_code;
    LOG(LOG_LEVEL_INFO, "stopped", log_number("code", code));
    /* A thread that is stuck in a file system or a database uses what would be freed now. */
    const bool is_rejoining = rejoin_abandon(gate);
    if (reload_abandon(gate) || is_rejoining || persist_is_stuck(gate))
        _exit(code);
    close_gate(gate);
    free(gate);
    return code;
}
