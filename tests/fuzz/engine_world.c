#include "engine_world.h"

#include <stdio.h>
#include <stdlib.h>

/* An hour before midnight, so that long sequences see a day end. */
#define START_WALL_MS (INT64_C(1704153600000) - 3600000)
#define START_MS 5000000
#define TICKS_MAX 200000
/* Room that one deed or the healing may need. */
#define VISITS_SPARE 16
#define ATTEMPTS_SPARE 512

/* FUZZ_TRACE=1 shows a person what an input means. */
static bool is_traced(void)
{
    return getenv("FUZZ_TRACE") != NULL;
}

static void print_trace(void *context, uint64_t now_ms, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "%8llu %s\n", (unsigned long long)now_ms, text);
}

static void print_state(const struct world *world)
{
    struct gauges gauges;
    engine_gauges(world->engine, &gauges);
    (void)fprintf(
        stderr,
        "pending %zu waiting %u flights %u queued %u callers %u slots %u replays %u breaker %d\n",
        world->pending_count, gauges.waiting, gauges.flights, gauges.queued, gauges.callers,
        gauges.slots_used, gauges.replays, (int)gauges.breaker);
    for (size_t i = 0; i < world->visit_count; i++)
        if (!world->visits[i].is_told && !world->visits[i].is_gone)
            (void)fprintf(stderr, "caller %zu of kind %d waits\n", i + 1, world->visits[i].kind);
}

void world_open(struct world *world)
{
    rand_init(&world->rand, 1);
    world->now_ms = world->start_ms = START_MS;
    world->options.secret[0] = 1;
    world->engine = engine_new(&world->options, START_MS, START_WALL_MS);
    engine_check(world->engine);
    if (is_traced())
        engine_set_trace(world->engine, print_trace, NULL);
}

void world_close(struct world *world)
{
    for (size_t i = 0; i < world->pending_count; i++)
        action_close(&world->pending[i]);
    engine_free(world->engine);
}

bool world_has_room(const struct world *world)
{
    return world->visit_count < VISITS_MAX - VISITS_SPARE &&
           world->attempt_count < ATTEMPTS_MAX - ATTEMPTS_SPARE &&
           world->pending_count < PENDING_MAX / 2;
}

caller_id world_visit(struct world *world, enum visit_kind kind, client_id client,
                      request_id wanted)
{
    HOLDS(world->visit_count < VISITS_MAX);
    world->visits[world->visit_count++] =
        (struct visit){.kind = kind, .client = client, .wanted = wanted};
    return world->visit_count;
}

/* Odd keys are shared by all clients, even ones belong to one. */
struct key world_key(unsigned number, client_id client)
{
    struct key key = {{0}};
    key.bytes[0] = (uint8_t)number;
    key.bytes[1] = number % 2 == 0 ? (uint8_t)(1 + client) : 0;
    return key;
}

const struct known_request *world_request(const struct world *world, size_t back)
{
    return back < world->request_count ? &world->requests[world->request_count - 1 - back] : NULL;
}

static struct known_request *request_of(struct world *world, request_id id)
{
    for (size_t i = world->request_count; i-- > 0;)
        if (world->requests[i].id == id)
            return &world->requests[i];
    return NULL;
}

static struct known_attempt *attempt_of(struct world *world, attempt_id id)
{
    for (size_t i = world->attempt_count; i-- > 0;)
        if (world->attempts[i].id == id)
            return &world->attempts[i];
    return NULL;
}

/* ---- what the engine says ---------------------------------------------------------------- */

/* Exactly one answer to each caller, and none to the gone. */
static struct visit *tell(struct world *world, caller_id caller)
{
    HOLDS(caller > 0 && caller <= world->visit_count);
    struct visit *visit = &world->visits[caller - 1];
    HOLDS(!visit->is_told && !visit->is_gone);
    visit->is_told = true;
    return visit;
}

static struct known_request *introduce(struct world *world, const struct visit *visit,
                                       request_id id)
{
    HOLDS(id > 0 && id < REQUEST_ID_LIMIT && request_of(world, id) == NULL);
    HOLDS(world->request_count < REQUESTS_MAX);
    struct known_request *request = &world->requests[world->request_count++];
    *request = (struct known_request){.id = id, .client = visit->client, .key = visit->key};
    return request;
}

static void see_answer(struct world *world, const struct answer *answer)
{
    const struct visit *visit = tell(world, answer->caller);
    HOLDS(answer->refusal < REFUSAL_COUNT);
    if (answer->refusal != REFUSAL_NONE) {
        HOLDS(answer->text == NULL);
        return;
    }
    struct known_request *request = visit->kind == VISIT_ASK ? introduce(world, visit, answer->id)
                                                             : request_of(world, answer->id);
    HOLDS(request != NULL && request->client == visit->client);
    HOLDS(visit->kind == VISIT_ASK || visit->wanted == answer->id);
    /* What is final stays as it is, and a solution comes from the flight of its own key. */
    HOLDS(!request->is_final || request->state == answer->state);
    HOLDS((answer->state == REQUEST_SOLVED) == (answer->text != NULL));
    HOLDS((answer->state == REQUEST_FAILED) == (answer->code[0] != '\0'));
    if (answer->text != NULL)
        HOLDS(memcmp(answer->text->data, request->key.bytes, 2) == 0);
    request->state = answer->state;
    request->is_final |= answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED;
}

/* One call at a time for each request, and never with the solution of another key. */
static void see_notice(struct world *world, const struct notify *notify)
{
    const struct known_request *request = request_of(world, notify->request);
    HOLDS(notify->request != 0 && notify->url != NULL && notify->code != NULL);
    for (size_t i = 0; i < world->notice_count; i++)
        HOLDS(world->notices[i] != notify->request);
    if (request != NULL && notify->code->len > 1 && notify->code->data[0] < WORLD_KEYS)
        HOLDS(memcmp(notify->code->data, request->key.bytes, 2) == 0);
    HOLDS(world->notice_count < NOTICES_MAX);
    world->notices[world->notice_count++] = notify->request;
}

/* What the shell begins to do once it may. */
static void perform(struct world *world, const struct action *action)
{
    if (action->kind == ACTION_SUBMIT) {
        HOLDS(action->call.params != NULL && action->call.params->len == KEY_BYTES);
        HOLDS(attempt_of(world, action->call.attempt) == NULL);
        HOLDS(action->call.attempt != 0 && world->attempt_count < ATTEMPTS_MAX);
        struct known_attempt *attempt = &world->attempts[world->attempt_count++];
        *attempt = (struct known_attempt){.id = action->call.attempt, .is_submitting = true};
        memcpy(attempt->key.bytes, action->call.params->data, KEY_BYTES);
    } else if (action->kind == ACTION_POLL) {
        struct known_attempt *attempt = attempt_of(world, action->call.attempt);
        HOLDS(attempt != NULL && !attempt->is_polling && action->call.task_id[0] != '\0');
        attempt->is_polling = true;
    } else if (action->kind == ACTION_NOTIFY) {
        see_notice(world, &action->notify);
    } else if (action->kind == ACTION_PROBE) {
        HOLDS(!world->is_probing[action->probe]);
        world->is_probing[action->probe] = true;
    }
}

static void see(struct world *world, const struct action *action)
{
    switch (action->kind) {
    case ACTION_ANSWER:
        see_answer(world, &action->answer);
        return;
    case ACTION_ACCOUNT:
        HOLDS(tell(world, action->account.caller)->kind == VISIT_ACCOUNT);
        return;
    case ACTION_LETTERS:
        HOLDS(tell(world, action->letters.caller)->kind == VISIT_LETTERS);
        return;
    case ACTION_SHOWN:
        HOLDS(false); /* nobody asks for it here */
        return;
    case ACTION_ACK:
        HOLDS(tell(world, action->ack)->kind == VISIT_CALLBACK);
        return;
    case ACTION_JOURNAL:
        /* Numbers without gaps: the store tells one that everything up to it is safe. */
        HOLDS(world->options.has_journal && action->after == world->seq + 1);
        world->seq = action->after;
        return;
    case ACTION_REPORT:
        HOLDS(action->call.task_id[0] != '\0');
        return;
    case ACTION_SUBMIT:
    case ACTION_POLL:
    case ACTION_PROBE:
    case ACTION_NOTIFY:
    case ACTION_ALERT:
    case ACTION_PAID:
    case ACTION_WITHDRAW:
        return;
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_FORGET:
    case ACTION_TELL:
    case ACTION_ADOPT:
    case ACTION_FIND:
    case ACTION_DRAW:
        break;
    }
    UNREACHABLE();
}

/* Waits for its number, as in the shell; a record itself never does. */
static void take(struct world *world, struct action *action)
{
    see(world, action);
    HOLDS(action->after <= world->seq);
    if (action->kind != ACTION_JOURNAL && action->after > world->durable) {
        HOLDS(world->pending_count < PENDING_MAX);
        world->pending[world->pending_count++] = *action;
        return;
    }
    perform(world, action);
    action_close(action);
}

static void check_gauges(const struct world *world)
{
    struct gauges gauges;
    engine_gauges(world->engine, &gauges);
    HOLDS(gauges.requests <= world->options.max_requests);
    HOLDS(gauges.flights <= world->options.max_flights);
    HOLDS(gauges.callers <= world->options.max_callers);
    HOLDS(gauges.solutions <= world->options.max_solutions);
    HOLDS(gauges.idempotency <= world->options.max_idempotency);
    HOLDS(gauges.letters <= world->options.max_letters);
}

void world_step(struct world *world, struct event *event)
{
    event->now_ms = world->now_ms;
    event->wall_ms = START_WALL_MS + (int64_t)(world->now_ms - world->start_ms);
    event->random = rand_u64(&world->rand);
    if (is_traced())
        (void)fprintf(stderr, "%8llu event %d\n", (unsigned long long)event->now_ms,
                      (int)event->kind);
    engine_step(world->engine, event);
    struct action action;
    while (engine_next_action(world->engine, &action))
        take(world, &action);
    engine_check(world->engine);
    check_gauges(world);
}

void world_event(struct world *world, enum event_kind kind)
{
    struct event event = {.kind = kind};
    world_step(world, &event);
}

void world_pass(struct world *world, uint64_t ms)
{
    const uint64_t until_ms = world->now_ms + ms;
    for (unsigned ticks = 0;; ticks++) {
        HOLDS(ticks < TICKS_MAX);
        const uint64_t deadline_ms = engine_next_deadline(world->engine);
        if (deadline_ms > until_ms)
            break;
        if (deadline_ms > world->now_ms)
            world->now_ms = deadline_ms;
        world_event(world, EVENT_TICK);
    }
    world->now_ms = until_ms;
}

/* ---- the journal ------------------------------------------------------------------------- */

void world_become_durable(struct world *world, unsigned lag)
{
    const journal_seq seq = lag < world->seq ? world->seq - lag : 0;
    if (seq <= world->durable)
        return;
    world->durable = seq;
    struct event event = {.kind = EVENT_DURABLE};
    event.durable = seq;
    /* What waited comes first, in its order; what the step adds waits behind it. */
    size_t kept = 0;
    const size_t count = world->pending_count;
    for (size_t i = 0; i < count; i++) {
        if (world->pending[i].after > seq) {
            world->pending[kept++] = world->pending[i];
            continue;
        }
        perform(world, &world->pending[i]);
        action_close(&world->pending[i]);
    }
    world->pending_count = kept;
    world_step(world, &event);
}

/* ---- healing ----------------------------------------------------------------------------- */

static bool is_everybody_served(const struct world *world)
{
    for (size_t i = 0; i < world->visit_count; i++)
        if (!world->visits[i].is_told && !world->visits[i].is_gone)
            return false;
    return true;
}

static bool is_quiet(const struct world *world)
{
    struct gauges gauges;
    engine_gauges(world->engine, &gauges);
    if (!is_everybody_served(world))
        return false;
    return world->pending_count == 0 && world->notice_count == 0 && gauges.waiting == 0 &&
           gauges.flights == 0 && gauges.queued == 0 && gauges.callers == 0 &&
           gauges.slots_used == 0;
}

static void check_final(const struct world *world)
{
    for (size_t i = 0; i < world->request_count; i++) {
        struct answer answer;
        const struct known_request *request = &world->requests[i];
        /* Forgotten, or final as it was told. */
        if (!engine_peek(world->engine, request->client, request->id, &answer))
            continue;
        HOLDS(answer.state == REQUEST_SOLVED || answer.state == REQUEST_FAILED);
        HOLDS(!request->is_final || answer.state == request->state);
        answer_close(&answer);
    }
}

void world_heal(struct world *world)
{
    world->is_healing = true;
    struct input nothing = {.len = 0};
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = true;
    world_step(world, &event);
    /* Letters may still wait to be replayed: nobody waits for them, and a drain or a budget holds them back. */
    if (world->is_draining)
        world_event(world, EVENT_DRAIN);
    /* Five minutes of good days are longer than any deadline; the breaker may double its pause. */
    for (unsigned round = 0; round < 4000 && !is_quiet(world); round++) {
        world_become_durable(world, 0);
        bool is_busy = world_end_submit(world, &nothing);
        is_busy |= world_end_poll(world, &nothing);
        is_busy |= world_end_probe(world, &nothing);
        is_busy |= world_end_notice(world, &nothing);
        if (!is_busy)
            world_pass(world, 1000);
    }
    if (!is_quiet(world))
        print_state(world);
    HOLDS(is_quiet(world));
    world_become_durable(world, 0);
    check_final(world);
}
