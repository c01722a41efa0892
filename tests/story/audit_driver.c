/* Draws a world, drives it at random, heals it, and sees whether everybody was served. */
#include "../engine_defaults.h"
#include "audit.h"

#include <stdio.h>
#include <stdlib.h>

/* Twenty minutes before midnight, so that many seeds see a day end. */
#define START_WALL_MS (INT64_C(1704153600000) - 1200000)
#define DAY_MS INT64_C(86400000)
/* Longer than any deadline, breaker probe and replay together. */
#define HEAL_ROUNDS 4000

_Noreturn void audit_fail(const struct audit *audit, const char *rule, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: seed %llu step %u breaks: %s\n", file, line,
                  (unsigned long long)audit->seed, audit->step, rule);
    abort();
}

bool audit_chance(struct audit *audit, unsigned percent)
{
    return rand_below(&audit->rand, 100) < percent;
}

uint64_t audit_below(struct audit *audit, uint64_t bound)
{
    return rand_below(&audit->rand, bound);
}

/* ---- the world --------------------------------------------------------------------------- */

/* A fault exists in half of the seeds, and is then anything between rare and frequent. */
static unsigned draw_fault(struct audit *audit, unsigned most)
{
    return audit_chance(audit, 50) ? 0 : 1 + (unsigned)audit_below(audit, most);
}

static void draw_swarm(struct audit *audit)
{
    audit->swarm = (struct swarm){
        .not_sent = draw_fault(audit, 40),
        .rejected = draw_fault(audit, 40),
        .lost = draw_fault(audit, 50),
        .hidden_double = draw_fault(audit, 20),
        .failed = draw_fault(audit, 50),
        .unheard = draw_fault(audit, 40),
        .pending = draw_fault(audit, 80),
        .callback_failed = draw_fault(audit, 40),
        .callback_repeated = draw_fault(audit, 60),
        .callback_different = draw_fault(audit, 20),
        .probe_failed = draw_fault(audit, 60),
        .jump = draw_fault(audit, 10),
        .gone = draw_fault(audit, 60),
        .reuse_single = draw_fault(audit, 60),
        .reuse_none = draw_fault(audit, 30),
        .idempotency = draw_fault(audit, 60),
        .one_time = draw_fault(audit, 30),
        .store = draw_fault(audit, 5),
    };
}

/* Mostly small: small pools find the overflows. */
static uint32_t draw_limit(struct audit *audit)
{
    return 1 + (uint32_t)audit_below(audit, 8);
}

static void draw_clients(struct audit *audit)
{
    for (int i = 0; i < AUDIT_CLIENTS; i++) {
        audit->clients[i] = (struct client_options){
            .weight = (uint32_t)audit_below(audit, 3),
            .slots = audit_chance(audit, 30) ? draw_limit(audit) : 0,
            .requests = audit_chance(audit, 30) ? draw_limit(audit) : 0,
            .budget_per_day = audit_chance(audit, 30) ? 1 + audit_below(audit, 40) : UINT64_MAX,
        };
    }
    audit->options.clients_share = true; /* what is one client's own has its name in the key */
    audit->options.clients = audit->clients;
    audit->options.client_count = AUDIT_CLIENTS;
}

static void draw_options(struct audit *audit)
{
    struct engine_options *options = &audit->options;
    engine_options_init(options);
    options->max_requests = draw_limit(audit);
    options->max_flights = draw_limit(audit);
    options->max_per_flight = draw_limit(audit);
    options->max_callers = draw_limit(audit);
    options->max_solutions = draw_limit(audit);
    options->max_solution_bytes = audit_chance(audit, 20) ? 700 : UINT64_C(1) << 20;
    options->max_idempotency = draw_limit(audit);
    options->max_finished = draw_limit(audit);
    options->max_letters = draw_limit(audit);
    options->letter_alert_above = draw_limit(audit);
    options->wake_batch = audit_chance(audit, 50) ? 1 : 256;
    options->step_batch = audit_chance(audit, 50) ? 1 : 256;
    options->has_journal = audit_chance(audit, 50);
    options->slots = draw_limit(audit);
    options->slots_are_auto = audit_chance(audit, 20);
    options->has_callbacks = audit_chance(audit, 60);
    options->resend_ambiguous = audit_chance(audit, 70);
    options->retry_budget_permille = audit_chance(audit, 50) ? 200 : 0;
    options->idempotency_ttl_ms = audit_chance(audit, 50) ? 300000 : 3000;
    options->secret[0] = rand_u64(&audit->rand);
    options->secret[1] = rand_u64(&audit->rand);
    draw_clients(audit);
}

static void begin(struct audit *audit, uint64_t seed)
{
    memset(audit, 0, sizeof *audit);
    audit->seed = seed;
    rand_init(&audit->rand, seed);
    draw_swarm(audit);
    draw_options(audit);
    audit->now_ms = AUDIT_START_MS;
    audit->wall_ms = START_WALL_MS;
    audit->days = 1;
    audit->is_store_writable = true;
    audit->engine = engine_new(&audit->options, audit->now_ms, audit->wall_ms);
    trace_engine(audit);
}

/* ---- time -------------------------------------------------------------------------------- */

void audit_step(struct audit *audit, struct event *event)
{
    event->now_ms = audit->now_ms;
    event->wall_ms = audit->wall_ms;
    event->random = rand_u64(&audit->rand);
    trace_event(audit, event);
    engine_step(audit->engine, event);
    model_after_step(audit);
    struct action action;
    while (engine_next_action(audit->engine, &action)) {
        trace_action(audit, &action);
        model_see(audit, &action);
        action_close(&action);
    }
    engine_check(audit->engine);
}

static void move_clock(struct audit *audit, uint64_t ms)
{
    const int64_t before = audit->wall_ms / DAY_MS;
    audit->now_ms += ms;
    audit->wall_ms += (int64_t)ms;
    audit->days += (unsigned)(audit->wall_ms / DAY_MS - before);
}

static void tick(struct audit *audit)
{
    struct event event = {.kind = EVENT_TICK};
    audit_step(audit, &event);
}

/* Ticks at every deadline on the way, as the shell does. */
static void pass(struct audit *audit, uint64_t ms)
{
    const uint64_t until_ms = audit->now_ms + ms;
    for (unsigned ticks = 0;; ticks++) {
        AUDIT(audit, ticks < 100000);
        const uint64_t deadline_ms = engine_next_deadline(audit->engine);
        if (deadline_ms > until_ms)
            break;
        if (deadline_ms > audit->now_ms)
            move_clock(audit, deadline_ms - audit->now_ms);
        tick(audit);
    }
    move_clock(audit, until_ms - audit->now_ms);
}

static bool let_time_pass(struct audit *audit)
{
    if (audit_chance(audit, audit->swarm.jump)) {
        /* A stall: the clock jumps, and nobody ticks before the next event. */
        move_clock(audit, audit_below(audit, 400000));
        return true;
    }
    pass(audit, audit_below(audit, audit_chance(audit, 20) ? 60000 : 3000));
    return true;
}

/* ---- callers ----------------------------------------------------------------------------- */

caller_id audit_visit(struct audit *audit, enum visit_kind kind, client_id client)
{
    AUDIT(audit, audit->visit_count < AUDIT_MOST);
    audit->visits[audit->visit_count++] =
        (struct visit){.kind = kind, .is_open = true, .client = client, .step = audit->step};
    return audit->visit_count;
}

static client_id draw_client(struct audit *audit)
{
    return (client_id)audit_below(audit, AUDIT_CLIENTS);
}

/* A key begins with its number; whether clients share it depends on the number: both exist. */
static struct key draw_key(struct audit *audit, client_id client)
{
    const uint64_t number = audit_below(audit, AUDIT_KEYS);
    struct key key = {{0}};
    key.bytes[0] = (uint8_t)('0' + number);
    if (number % 2 == 0)
        key.bytes[1] = (uint8_t)('a' + client);
    return key;
}

static enum reuse draw_reuse(struct audit *audit)
{
    if (audit_chance(audit, audit->swarm.reuse_single))
        return REUSE_SINGLE;
    return audit_chance(audit, audit->swarm.reuse_none) ? REUSE_NONE : REUSE_SHARED;
}

/* An idempotency key belongs to one client and always asks for the same reuse. */
static void draw_idempotency(struct audit *audit, struct ask *ask)
{
    const uint64_t number = audit_below(audit, AUDIT_NAMES);
    ask->has_idempotency = true;
    ask->idempotency.bytes[0] = (uint8_t)('A' + ask->client);
    ask->idempotency.bytes[1] = (uint8_t)('0' + number);
    ask->reuse = number == 0 ? REUSE_SHARED : number == 1 ? REUSE_SINGLE : REUSE_NONE;
}

static bool somebody_asks(struct audit *audit)
{
    struct event event = {.kind = EVENT_ASK};
    struct ask *ask = &event.ask;
    ask->client = draw_client(audit);
    ask->key = draw_key(audit, ask->client);
    ask->type = (enum type)audit_below(audit, TYPE_COUNT);
    ask->reuse = draw_reuse(audit);
    if (audit_chance(audit, audit->swarm.idempotency))
        draw_idempotency(audit, ask);
    /* Being one-time is a property of the parameters, and those are the key. */
    ask->is_one_time = ask->key.bytes[0] == '3' && audit->swarm.one_time > 0;
    ask->wants_rest = ask->key.bytes[0] == '2';
    ask->is_id_told = audit_chance(audit, 30);
    ask->priority = (uint8_t)audit_below(audit, 12);
    ask->hold_ms =
        ask->is_id_told || audit_chance(audit, 20) ? 0 : (uint32_t)audit_below(audit, 50000);
    ask->min_ttl_ms = audit_chance(audit, 50) ? 10000 : 0;
    ask->max_age_ms = audit_chance(audit, 20) ? 20000 : UINT32_MAX;
    char params[KEY_BYTES + 1];
    memcpy(params, ask->key.bytes, KEY_BYTES);
    params[KEY_BYTES] = (char)('0' + ask->reuse);
    ask->params = blob_new((struct slice){.data = params, .len = sizeof params});
    ask->caller = audit_visit(audit, VISIT_ASK, ask->client);
    audit->visits[ask->caller - 1].ask = *ask;
    audit_step(audit, &event);
    blob_unref(ask->params);
    return true;
}

/* A request that somebody was told of; the newest are the most interesting. */
static const struct known_request *draw_request(struct audit *audit)
{
    if (audit->request_count == 0)
        return NULL;
    const size_t back = audit_below(audit, audit->request_count < 12 ? audit->request_count : 12);
    return &audit->requests[audit->request_count - 1 - back];
}

static bool somebody_looks(struct audit *audit)
{
    const struct known_request *request = draw_request(audit);
    if (request == NULL)
        return false;
    const client_id client = audit_chance(audit, 5) ? draw_client(audit) : request->client;
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){
        .caller = audit_visit(audit, VISIT_LOOK, client),
        .client = client,
        .id = request->id,
        .hold_ms = audit_chance(audit, 50) ? (uint32_t)audit_below(audit, 50000) : 0,
    };
    audit->visits[event.look.caller - 1].wanted = request->id;
    audit_step(audit, &event);
    return true;
}

static bool somebody_gives_up(struct audit *audit)
{
    const struct known_request *request = draw_request(audit);
    if (request == NULL)
        return false;
    struct event event = {.kind = EVENT_DETACH};
    event.detach = (struct detach){
        .caller = audit_visit(audit, VISIT_DETACH, request->client),
        .client = request->client,
        .id = request->id,
    };
    audit->visits[event.detach.caller - 1].wanted = request->id;
    audit_step(audit, &event);
    return true;
}

static void mark_bad(struct audit *audit, const struct known_request *request)
{
    for (size_t i = 0; i < audit->token_count; i++) {
        struct token *token = &audit->tokens[i];
        if (token->is_bad || strcmp(token->text, request->text) != 0)
            continue;
        token->is_bad = true;
        token->bad_step = audit->step;
    }
}

static bool somebody_reports(struct audit *audit)
{
    const struct known_request *request = draw_request(audit);
    if (request == NULL)
        return false;
    struct event event = {.kind = EVENT_REPORT};
    event.report = (struct report){
        .caller = audit_visit(audit, VISIT_REPORT, request->client),
        .client = request->client,
        .id = request->id,
        .is_good = audit_chance(audit, 30),
    };
    audit->visits[event.report.caller - 1].wanted = request->id;
    /* The model may believe a report that the engine no longer knows what to do with: before the step its clock may be
     * that of an earlier one, at which the id was still good. */
    struct answer answer;
    bool is_known = engine_peek(audit->engine, request->client, request->id, &answer);
    answer_close(&answer);
    audit_step(audit, &event);
    is_known &= engine_peek(audit->engine, request->client, request->id, &answer);
    answer_close(&answer);
    if (is_known && !event.report.is_good && request->is_final && request->state == REQUEST_SOLVED)
        mark_bad(audit, request);
    return true;
}

static bool somebody_asks_for_money(struct audit *audit)
{
    struct event event = {.kind = EVENT_ACCOUNT};
    event.account = (struct account){
        .caller = audit_visit(audit, VISIT_ACCOUNT, 0),
        .probe = audit_chance(audit, 50) ? PROBE_BALANCE : PROBE_THREADS,
    };
    audit_step(audit, &event);
    return true;
}

static bool somebody_leaves(struct audit *audit)
{
    if (audit->visit_count == 0 || !audit_chance(audit, audit->swarm.gone))
        return false;
    const size_t window = audit->visit_count < 20 ? audit->visit_count : 20;
    const size_t place = audit->visit_count - 1 - audit_below(audit, window);
    if (!audit->visits[place].is_open)
        return false;
    audit->visits[place].is_open = false;
    struct event event = {.kind = EVENT_GONE};
    event.gone = place + 1;
    audit_step(audit, &event);
    return true;
}

static bool the_operator_looks_after_letters(struct audit *audit)
{
    struct event event = {.kind = EVENT_LETTERS};
    event.letters = (struct letter_order){
        .caller = audit_visit(audit, VISIT_LETTERS, 0),
        .verb = (enum letter_verb)audit_below(audit, 3),
        .filter = {.class = CLASS_COUNT,
                   .type = TYPE_COUNT,
                   .has_client = audit_chance(audit, 50),
                   .client = draw_client(audit)},
    };
    audit_step(audit, &event);
    return true;
}

static bool the_store_changes(struct audit *audit)
{
    if (!audit_chance(audit, audit->is_store_writable ? audit->swarm.store : 50))
        return false;
    audit->is_store_writable = !audit->is_store_writable;
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = audit->is_store_writable;
    audit_step(audit, &event);
    event = (struct event){.kind = EVENT_DURABLE};
    event.durable = audit->seq;
    audit_step(audit, &event);
    return true;
}

/* ---- the whole --------------------------------------------------------------------------- */

struct deed {
    bool (*act)(struct audit *audit);
    unsigned share;
};

static void do_something(struct audit *audit)
{
    static const struct deed deeds[] = {
        {let_time_pass, 18},          {somebody_asks, 22},
        {vendor_end_submit, 16},      {vendor_end_poll, 10},
        {vendor_end_probe, 6},        {vendor_call_back, 8},
        {somebody_looks, 6},          {somebody_leaves, 4},
        {somebody_gives_up, 1},       {somebody_reports, 2},
        {somebody_asks_for_money, 1}, {the_operator_looks_after_letters, 1},
        {the_store_changes, 1},       {vendor_solve, 4},
    };
    uint64_t drawn = audit_below(audit, 100);
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (drawn < deeds[i].share) {
            (void)deeds[i].act(audit);
            return;
        }
        drawn -= deeds[i].share;
    }
}

/* All faults end; the vendor answers everything; after enough time nobody may still wait (I9). */
static void heal(struct audit *audit)
{
    audit->is_healing = true;
    audit->swarm = (struct swarm){.not_sent = 0};
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = audit->is_store_writable = true;
    audit_step(audit, &event);
    event = (struct event){.kind = EVENT_LETTERS};
    event.letters = (struct letter_order){
        .caller = audit_visit(audit, VISIT_LETTERS, 0),
        .verb = LETTER_DROP,
        .filter = {.class = CLASS_COUNT, .type = TYPE_COUNT},
    };
    audit_step(audit, &event);
    for (unsigned round = 0; round < HEAL_ROUNDS; round++) {
        bool is_busy = vendor_end_submit(audit);
        is_busy |= vendor_end_poll(audit);
        is_busy |= vendor_end_probe(audit);
        if (!is_busy)
            pass(audit, 1000);
    }
    model_at_the_end(audit);
}

void audit_run(struct audit *audit, uint64_t seed, unsigned steps)
{
    begin(audit, seed);
    engine_check(audit->engine);
    while (audit->step < steps) {
        audit->step++;
        do_something(audit);
    }
    heal(audit);
    engine_free(audit->engine);
}
