/* The hot paths on fixed inputs, for counting their instructions: real parser, real identity, real engine.
 *
 *     guard-hot-paths PATH COUNT
 *     guard-hot-paths --compiler
 *
 * Every round of a path does the same, so what 2 000 rounds cost more than 1 000 is what 1 000 rounds cost,
 * whatever the start and the end of the program cost. */
#include "../engine_defaults.h"
#include "base/assert.h"
#include "base/rand.h"
#include "http/http_parse.h"
#include "proto/api.h"
#include "proto/dialect_write.h"
#include "proto/form.h"
#include "proto/key.h"
#include "proto/nonce.h"
#include "proto/pack.h"
#include "proto/vendor.h"
#include "proto/vendor_write.h"

#include <solvegate/engine.h>

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 1000000
#define START_WALL_MS INT64_C(1704110400000)
#define BODY_CAP ((size_t)64 * 1024)
#define API_KEY SLICE_OF("0123456789abcdef0123456789abcdef")
#define REQUEST_MAX 1024

#define TOKEN_END "_abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrstuvwxyz234567"

struct world {
    struct engine *engine;
    uint64_t now_ms;
    struct rand rand;
    struct http_limits limits;
    struct http_parse parse;
    struct params params;
    struct identity_options identity_options;
    struct identity_scope scope;
    struct identity identity;
    struct buf scratch, body, kind;
    uint8_t nonce_secret[NONCE_SECRET_BYTES];
    caller_id caller;     /* the last one */
    request_id request;   /* the last that was answered */
    attempt_id attempt;   /* the last that was submitted or polled */
    unsigned polls, acks; /* seen so far */
    bool is_json;         /* answers are written as the JSON API does, else as the dialect does */
    char bytes[REQUEST_MAX]; /* of the last request to /v1/solves */
    unsigned written;        /* its number */
    struct answer_seen {
        enum request_state state;
        enum source source;
    } answer; /* the last */
};

/* ---- the shell's part -------------------------------------------------------------------- */

static void write_answer(struct world *world, const struct answer *answer)
{
    ASSERT(answer->refusal == REFUSAL_NONE);
    world->request = answer->id;
    world->answer = (struct answer_seen){.state = answer->state, .source = answer->source};
    if (world->is_json)
        api_write_answer(&world->body, answer);
    else
        dialect_write_result(&world->body, false, answer, SLICE_NONE);
}

static void write_submit(struct world *world, const struct call *call)
{
    char pingback[128] = "https://gate.example.com/pingback/";
    const size_t len = strlen(pingback);
    const struct nonce nonce = {.attempt = call->attempt, .told_s = 1};
    nonce_write(world->nonce_secret, &nonce, pingback + len);
    buf_reset(&world->kind);
    world->attempt = call->attempt;
    const int code = vendor_write_submit(call->params, API_KEY, slice_from(pingback), &world->body,
                                         &world->kind);
    ASSERT(code == 0);
}

static void perform(struct world *world, const struct action *action)
{
    buf_reset(&world->body);
    if (action->kind == ACTION_ANSWER) {
        write_answer(world, &action->answer);
    } else if (action->kind == ACTION_SUBMIT) {
        write_submit(world, &action->call);
    } else if (action->kind == ACTION_POLL) {
        world->attempt = action->call.attempt;
        world->polls++;
        vendor_write_query(API_KEY, QUERY_POLL, slice_from(action->call.task_id), &world->body);
    } else if (action->kind == ACTION_ACK) {
        world->acks++;
    }
}

static struct event event_of(struct world *world, enum event_kind kind)
{
    return (struct event){
        .kind = kind,
        .now_ms = START_MS + world->now_ms,
        .wall_ms = START_WALL_MS + (int64_t)world->now_ms,
        .random = rand_u64(&world->rand),
    };
}

static void step(struct world *world, const struct event *event)
{
    struct action action;
    engine_step(world->engine, event);
    while (engine_next_action(world->engine, &action)) {
        perform(world, &action);
        action_close(&action);
    }
}

/* ---- the callers' part ------------------------------------------------------------------- */

/* Reads a request as the frontend does; its parameters are in world->params then. The bytes outlive it. */
static void receive(struct world *world, char *bytes)
{
    size_t len = strlen(bytes);
    struct slice path;
    struct slice query;
    http_parse_start(&world->parse, &world->limits);
    const enum http_parsed parsed = http_parse_feed(&world->parse, bytes, &len);
    ASSERT(parsed == HTTP_PARSED_WHOLE);
    http_parse_target(&world->parse, bytes, &path, &query);
    params_reset(&world->params);
    int code = slice_is_given(query) ? params_add_form(&world->params, query) : 0;
    ASSERT(code == 0);
    const struct slice body = http_parse_body(&world->parse, bytes);
    if (body.len > 0)
        code = params_add_body(
            &world->params, http_parse_field(&world->parse, bytes, HTTP_FIELD_CONTENT_TYPE), body);
    ASSERT(code == 0);
}

static void ask(struct world *world, uint32_t hold_ms)
{
    const int code = identity_compute(&world->identity_options, &world->params, &world->scope,
                                      &world->scratch, &world->identity);
    ASSERT(code == 0);
    struct event event = event_of(world, EVENT_ASK);
    event.ask = (struct ask){
        .caller = ++world->caller,
        .type = world->identity.type,
        .reuse = REUSE_SHARED,
        .is_id_told = hold_ms == 0,
        .hold_ms = hold_ms,
        .min_ttl_ms = 10000,
        .max_age_ms = UINT32_MAX,
        .key = world->identity.key,
        .params = params_pack(&world->params),
    };
    step(world, &event);
    blob_unref(event.ask.params);
}

/* A body of its own for each number, in bytes of the same length; written once, since writing it is no hot path. */
static void write_request(struct world *world, unsigned number)
{
    char body[REQUEST_MAX / 2];
    const int len = snprintf(body, sizeof(body),
                             "{\"method\":\"turnstile\",\"sitekey\":\"0x4AAAAAAAC3DHQ%08u\","
                             "\"pageurl\":\"https://www.example.com/account/login\",\"wait\":30}",
                             number);
    (void)snprintf(world->bytes, sizeof(world->bytes),
                   "POST /v1/solves HTTP/1.1\r\nHost: gate.example.com\r\nAuthorization: Bearer "
                   "worker-worker-worker-worker-wo32\r\nContent-Type: application/json\r\n"
                   "Content-Length: %d\r\n\r\n%s",
                   len, body);
    world->written = number;
}

static void post_solve(struct world *world, unsigned number, uint32_t hold_ms)
{
    if (world->bytes[0] == '\0' || world->written != number)
        write_request(world, number);
    world->is_json = true;
    receive(world, world->bytes);
    ask(world, hold_ms);
}

/* ---- the vendor's part ------------------------------------------------------------------- */

static struct vendor_reply reply_of(const char *text)
{
    return (struct vendor_reply){.is_sent = true,
                                 .is_complete = true,
                                 .http_status = 200,
                                 .body = slice_from(text),
                                 .wall_ms = START_WALL_MS};
}

/* Each attempt has a task of its own, as with the vendor. */
static unsigned task_of(const struct world *world)
{
    return (unsigned)(world->attempt % 1000000000);
}

static void accept_submit(struct world *world)
{
    static const struct vendor_options options;
    char text[64];
    (void)snprintf(text, sizeof(text), "{\"status\":1,\"request\":\"5%09u\"}", task_of(world));
    const struct vendor_reply reply = reply_of(text);
    struct event event = event_of(world, EVENT_SUBMITTED);
    vendor_read_submit(&options, &reply, &event.result);
    ASSERT(event.result.outcome == OUTCOME_ACCEPTED);
    event.result.attempt = world->attempt;
    step(world, &event);
}

static void answer_poll(struct world *world)
{
    static const struct vendor_options options;
    const struct vendor_reply reply = reply_of("{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}");
    struct event event = event_of(world, EVENT_POLLED);
    vendor_read_poll(&options, &reply, &event.result);
    ASSERT(event.result.outcome == OUTCOME_PENDING);
    event.result.attempt = world->attempt;
    step(world, &event);
}

static void call_back(struct world *world)
{
    static const struct vendor_options options;
    char bytes[REQUEST_MAX];
    char nonce[NONCE_CHARS + 1];
    struct nonce told = {.attempt = world->attempt, .told_s = 1};
    nonce_write(world->nonce_secret, &told, nonce);
    (void)snprintf(bytes, sizeof(bytes),
                   "GET /pingback/%s?id=5%09u&code=SIM_5%09u" TOKEN_END
                   " HTTP/1.1\r\nHost: gate.example.com\r\n\r\n",
                   nonce, task_of(world), task_of(world));
    receive(world, bytes);
    const bool is_genuine = nonce_read(world->nonce_secret, slice_from(nonce), &told);
    ASSERT(is_genuine);
    struct event event = event_of(world, EVENT_CALLBACK);
    vendor_read_callback(&options, params_value(&world->params, SLICE_OF("id")),
                         params_value(&world->params, SLICE_OF("code")), &event.result);
    ASSERT(event.result.outcome == OUTCOME_SOLVED);
    event.result.attempt = told.attempt;
    event.result.caller = ++world->caller;
    step(world, &event);
    blob_unref(event.result.text);
    blob_unref(event.result.extra);
}

/* ---- the paths --------------------------------------------------------------------------- */

/* From request to solution with one submit and one callback. */
static void round_callback(struct world *world, unsigned number)
{
    const unsigned acks = world->acks;
    post_solve(world, number, 30000);
    accept_submit(world);
    call_back(world);
    ASSERT(world->acks == acks + 1 && world->answer.state == REQUEST_SOLVED);
}

static void round_hit(struct world *world, unsigned number)
{
    if (number == 0)
        round_callback(world, 0);
    post_solve(world, 0, 30000);
    ASSERT(world->answer.state == REQUEST_SOLVED && world->answer.source == SOURCE_DEDUP_CACHE);
}

/* res.php of a solved request. */
static void round_look(struct world *world, unsigned number)
{
    char bytes[REQUEST_MAX];
    if (number == 0)
        round_callback(world, 0);
    (void)snprintf(
        bytes, sizeof(bytes),
        "GET /res.php?key=worker-worker-worker-worker-wo32&action=get&id=%llu HTTP/1.1\r\n"
        "Host: gate.example.com\r\n\r\n",
        (unsigned long long)world->request);
    world->is_json = false;
    receive(world, bytes);
    struct event event = event_of(world, EVENT_LOOK);
    event.look = (struct look){.caller = ++world->caller, .id = world->request};
    step(world, &event);
    ASSERT(world->answer.state == REQUEST_SOLVED);
}

/* Somebody joins what is under way, and hangs up, so that the next finds everything as before. */
static void round_join(struct world *world, unsigned number)
{
    if (number == 0) {
        post_solve(world, 0, 0);
        accept_submit(world);
    }
    post_solve(world, 0, 30000);
    struct event event = event_of(world, EVENT_GONE);
    event.gone = world->caller;
    step(world, &event);
}

/* One turn of polling: the deadline, the poll, its answer. */
static void round_poll(struct world *world, unsigned number)
{
    if (number == 0) {
        post_solve(world, 0, 0);
        accept_submit(world);
    }
    const unsigned polls = world->polls;
    while (world->polls == polls) {
        const uint64_t deadline_ms = engine_next_deadline(world->engine);
        ASSERT(deadline_ms != UINT64_MAX);
        if (deadline_ms > START_MS + world->now_ms)
            world->now_ms = deadline_ms - START_MS;
        const struct event event = event_of(world, EVENT_TICK);
        step(world, &event);
    }
    answer_poll(world);
}

static const struct path {
    const char *name;
    void (*round)(struct world *world, unsigned number);
    bool has_callbacks;
} paths[] = {
    {"hit", round_hit, true},    {"look", round_look, true},         {"join", round_join, true},
    {"poll", round_poll, false}, {"callback", round_callback, true},
};

/* Small limits, so that the state that does not change any more is reached soon. */
static void world_open(struct world *world, bool has_callbacks)
{
    struct engine_options options;
    engine_options_init(&options);
    options.max_requests = options.max_flights = options.max_callers = 64;
    options.max_solutions = options.max_finished = options.max_letters = 32;
    options.has_callbacks = has_callbacks;
    options.slots = 10;
    /* Two thousand polls of one flight, and none of its callers gives up. */
    options.solve_timeout_ms = UINT32_MAX / 2;
    *world = (struct world){
        .limits = {.url_bytes = 8192, .header_bytes = 16384, .body_bytes = BODY_CAP}};
    world->engine = engine_new(&options, START_MS, START_WALL_MS);
    rand_init(&world->rand, 1);
    params_init(&world->params, BODY_CAP);
    buf_init(&world->scratch, IDENTITY_SCRATCH_BYTES);
    buf_init(&world->body, BODY_CAP);
    buf_init(&world->kind, REQUEST_MAX);
}

static void world_close(struct world *world)
{
    engine_free(world->engine);
    params_close(&world->params);
    buf_close(&world->scratch);
    buf_close(&world->body);
    buf_close(&world->kind);
}

static int run(const struct path *path, unsigned count)
{
    static struct world world;
    if (sodium_init() < 0)
        return 1;
    world_open(&world, path->has_callbacks);
    for (unsigned i = 0; i < count; i++)
        path->round(&world, i);
    engine_check(world.engine);
    world_close(&world);
    return 0;
}

static int print_compiler(void)
{
#if defined(__clang__)
    return printf("clang %d\n", __clang_major__) < 0;
#else
    return printf("gcc %d\n", __GNUC__) < 0;
#endif
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--compiler") == 0)
        return print_compiler();
    for (size_t i = 0; argc == 3 && i < sizeof(paths) / sizeof(*paths); i++)
        if (strcmp(argv[1], paths[i].name) == 0)
            return run(&paths[i], (unsigned)strtoul(argv[2], NULL, 10));
    fputs("usage: guard-hot-paths hit|look|join|poll|callback COUNT, or --compiler\n", stderr);
    return 64;
}
