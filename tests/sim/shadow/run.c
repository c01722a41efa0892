#include "compare.h"

#include "../../engine_defaults.h"
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS 1000000
#define START_WALL_MS INT64_C(1704110400000)
#define HOLD_MS 600000
/* A submit's reply is waited for so long. */
#define SUBMIT_TIMEOUT_MS 15000
#define POLL_MS 30
#define CHECK_EVERY 64

enum item_kind { ITEM_SUBMITTED, ITEM_CALLBACK, ITEM_POLLED, ITEM_ASK, ITEM_GONE };

/* Something that will happen; at the same moment the vendor comes first. */
struct item {
    uint64_t at_ms;
    enum item_kind kind;
    uint32_t index; /* of the attempt or the request */
};

/* One submit as the vendor sees it. */
struct fate {
    attempt_id name;
    uint32_t ask;
    uint64_t ready_ms;
    enum outcome_of_submit { TAKEN, LOST, BUSY, WRONG } submit;
    bool is_unsolvable;
};

struct run {
    const struct trace *trace;
    struct came_to *outcome;
    struct engine *engine;
    struct rand rand;
    uint64_t now_ms;
    bool has_callbacks;
    uint32_t steps;
    struct item *items; /* a heap */
    size_t item_count, item_room;
    struct fate *fates;
    uint32_t fate_count, fate_room;
    uint8_t answers[TRACE_MOST];
    uint8_t submits[TRACE_MOST];
};

/* ---- what will happen -------------------------------------------------------------------- */

static bool is_before(const struct item *a, const struct item *b)
{
    if (a->at_ms != b->at_ms)
        return a->at_ms < b->at_ms;
    return a->kind != b->kind ? a->kind < b->kind : a->index < b->index;
}

static void plan(struct run *run, uint64_t at_ms, enum item_kind kind, uint32_t index)
{
    if (run->item_count == run->item_room) {
        run->item_room = run->item_room == 0 ? 1024 : run->item_room * 2;
        run->items = realloc(run->items, run->item_room * sizeof *run->items);
        ASSERT(run->items != NULL);
    }
    const struct item item = {.at_ms = at_ms, .kind = kind, .index = index};
    size_t place = run->item_count++;
    for (; place > 0 && is_before(&item, &run->items[(place - 1) / 2]); place = (place - 1) / 2)
        run->items[place] = run->items[(place - 1) / 2];
    run->items[place] = item;
}

static struct item next_item(struct run *run)
{
    const struct item first = run->items[0];
    const struct item last = run->items[--run->item_count];
    size_t place = 0;
    for (;;) {
        size_t child = place * 2 + 1;
        if (child >= run->item_count)
            break;
        if (child + 1 < run->item_count && is_before(&run->items[child + 1], &run->items[child]))
            child++;
        if (!is_before(&run->items[child], &last))
            break;
        run->items[place] = run->items[child];
        place = child;
    }
    if (run->item_count > 0)
        run->items[place] = last;
    return first;
}

/* ---- the vendor -------------------------------------------------------------------------- */

static struct fate *fate_of(struct run *run, attempt_id name, uint32_t *index)
{
    for (*index = run->fate_count; (*index)-- > 0;)
        if (run->fates[*index].name == name)
            return &run->fates[*index];
    UNREACHABLE();
}

/* What becomes of a submit depends on whose it is and the how manieth, not on the run. */
static void on_submit(struct run *run, const struct call *call)
{
    const struct trace *trace = run->trace;
    const uint32_t ask = (uint32_t)strtoul(call->params->data, NULL, 10);
    const uint32_t salt = 100 + 10 * (uint32_t)run->submits[ask]++;
    if (run->fate_count == run->fate_room) {
        run->fate_room = run->fate_room == 0 ? 1024 : run->fate_room * 2;
        run->fates = realloc(run->fates, run->fate_room * sizeof *run->fates);
        ASSERT(run->fates != NULL);
    }
    struct fate *fate = &run->fates[run->fate_count];
    *fate = (struct fate){.name = call->attempt, .ask = ask};
    const uint64_t luck = trace_fate(trace, ask, salt, 1000);
    if (trace_fate(trace, trace->asks[ask].key, 3, 1000) < trace->wrong_permille)
        fate->submit = WRONG;
    else if (luck < trace->busy_permille)
        fate->submit = BUSY;
    else if (luck < trace->busy_permille + trace->lost_permille)
        fate->submit = LOST;
    const uint64_t took_ms =
        trace->solve_least_ms +
        trace_fate(trace, ask, salt + 1, trace->solve_most_ms - trace->solve_least_ms + 1);
    const uint64_t reply_ms = run->now_ms + 20 + trace_fate(trace, ask, salt + 2, 400);
    fate->is_unsolvable = trace_fate(trace, ask, salt + 3, 1000) < trace->unsolvable_permille;
    fate->ready_ms = reply_ms + took_ms;
    const bool is_paid = fate->submit == TAKEN || fate->submit == LOST;
    run->outcome->paid += is_paid;
    plan(run, fate->submit == LOST ? run->now_ms + SUBMIT_TIMEOUT_MS : reply_ms, ITEM_SUBMITTED,
         run->fate_count);
    if (is_paid && run->has_callbacks)
        plan(run, fate->ready_ms, ITEM_CALLBACK, run->fate_count);
    run->fate_count++;
}

/* ---- steps ------------------------------------------------------------------------------- */

static void on_answer(struct run *run, const struct answer *answer)
{
    ASSERT(answer->caller >= 1 && answer->caller <= run->trace->count);
    run->answers[answer->caller - 1]++;
}

static void perform(struct run *run, const struct action *action)
{
    uint32_t index = 0;
    switch (action->kind) {
    case ACTION_SUBMIT:
        on_submit(run, &action->call);
        return;
    case ACTION_POLL:
        (void)fate_of(run, action->call.attempt, &index);
        plan(run, run->now_ms + POLL_MS, ITEM_POLLED, index);
        return;
    case ACTION_ANSWER:
        on_answer(run, &action->answer);
        return;
    case ACTION_ACCOUNT:
    case ACTION_LETTERS:
    case ACTION_SHOWN:
    case ACTION_ACK:
    case ACTION_REPORT:
    case ACTION_PROBE:
    case ACTION_NOTIFY:
    case ACTION_JOURNAL:
    case ACTION_ALERT:
    case ACTION_PAID:
    case ACTION_WITHDRAW: /* it had left already */
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_FORGET:
    case ACTION_TELL:
    case ACTION_ADOPT:
    case ACTION_FIND:
    case ACTION_DRAW:
        return;
    }
    UNREACHABLE();
}

static void step(struct run *run, struct event *event)
{
    struct action action;
    event->now_ms = START_MS + run->now_ms;
    event->wall_ms = START_WALL_MS + (int64_t)run->now_ms;
    event->random = rand_u64(&run->rand);
    engine_step(run->engine, event);
    while (engine_next_action(run->engine, &action)) {
        perform(run, &action);
        action_close(&action);
    }
    if (++run->steps % CHECK_EVERY == 0)
        engine_check(run->engine);
}

static struct key key_of(const char *kind, uint32_t number, uint32_t client)
{
    struct key key = {{0}};
    (void)snprintf((char *)key.bytes, sizeof key.bytes, "%s %u %u", kind, number, client);
    return key;
}

static void on_ask(struct run *run, uint32_t i)
{
    const struct asked *asked = &run->trace->asks[i];
    char params[16];
    (void)snprintf(params, sizeof params, "%u", i);
    struct event event = {.kind = EVENT_ASK};
    event.ask = (struct ask){
        .caller = i + 1,
        .client = asked->client,
        .type = asked->key % 2 == 0 ? TYPE_RECAPTCHA_V2 : TYPE_TURNSTILE,
        .reuse = asked->reuse,
        .is_one_time = asked->is_one_time,
        .is_id_told = asked->is_id_told,
        .has_idempotency = asked->idempotency != 0,
        .priority = 5,
        .hold_ms = asked->is_id_told ? 0 : HOLD_MS,
        .min_ttl_ms = asked->min_ttl_ms,
        .max_age_ms = asked->max_age_ms,
        .key = key_of("key", asked->key, run->trace->clients_share ? 0 : asked->client),
        .idempotency = key_of("idempotency", asked->idempotency, asked->client),
        .params = blob_new(slice_from(params)),
    };
    if (asked->leaves_ms != 0)
        plan(run, asked->leaves_ms, ITEM_GONE, i);
    step(run, &event);
    blob_unref(event.ask.params);
}

static void say(char out[], const char *text, size_t room)
{
    (void)snprintf(out, room, "%s", text);
}

static void on_submitted(struct run *run, uint32_t index)
{
    const struct fate *fate = &run->fates[index];
    struct event event = {.kind = EVENT_SUBMITTED, .result = {.attempt = fate->name}};
    switch (fate->submit) {
    case TAKEN:
        event.result.outcome = OUTCOME_ACCEPTED;
        (void)snprintf(event.result.task_id, TASK_ID_MAX, "T%u", index);
        break;
    case LOST:
        event.result.outcome = OUTCOME_AMBIGUOUS;
        break;
    case BUSY:
        event.result.outcome = OUTCOME_REJECTED;
        event.result.class = CLASS_BUSY;
        say(event.result.code, "ERROR_NO_SLOT_AVAILABLE", ERROR_CODE_MAX);
        break;
    case WRONG:
        event.result.outcome = OUTCOME_REJECTED;
        event.result.class = CLASS_CALLER;
        say(event.result.code, "ERROR_PAGEURL", ERROR_CODE_MAX);
        break;
    }
    step(run, &event);
}

static void on_ready(struct run *run, uint32_t index, enum event_kind kind)
{
    const struct fate *fate = &run->fates[index];
    char text[32];
    struct event event = {.kind = kind, .result = {.attempt = fate->name}};
    (void)snprintf(text, sizeof text, "TOKEN %u", index);
    (void)snprintf(event.result.task_id, TASK_ID_MAX, "T%u", index);
    event.result.outcome = OUTCOME_PENDING;
    if (fate->ready_ms <= run->now_ms && fate->is_unsolvable) {
        event.result.outcome = OUTCOME_FAILED;
        event.result.class = CLASS_UNSOLVABLE;
        say(event.result.code, "ERROR_CAPTCHA_UNSOLVABLE", ERROR_CODE_MAX);
    } else if (fate->ready_ms <= run->now_ms) {
        event.result.outcome = OUTCOME_SOLVED;
        event.result.text = blob_new(slice_from(text));
    }
    step(run, &event);
    blob_unref(event.result.text);
}

static void happen(struct run *run, const struct item *item)
{
    struct event gone = {.kind = EVENT_GONE, .gone = item->index + 1};
    switch (item->kind) {
    case ITEM_SUBMITTED:
        on_submitted(run, item->index);
        return;
    case ITEM_CALLBACK:
        on_ready(run, item->index, EVENT_CALLBACK);
        return;
    case ITEM_POLLED:
        on_ready(run, item->index, EVENT_POLLED);
        return;
    case ITEM_ASK:
        on_ask(run, item->index);
        return;
    case ITEM_GONE:
        /* Whoever was answered has no connection to close. */
        if (run->answers[item->index] == 0)
            step(run, &gone);
        return;
    }
    UNREACHABLE();
}

/* ---- a run ------------------------------------------------------------------------------- */

static struct engine *make_engine(const struct trace *trace, bool is_shadow, bool has_callbacks)
{
    struct client_options clients[TRACE_CLIENTS];
    struct engine_options options;
    engine_options_init(&options);
    for (size_t i = 0; i < TRACE_CLIENTS; i++)
        clients[i] = (struct client_options){
            .weight = 1, .budget_per_day = UINT64_MAX, .is_shadow = is_shadow};
    options.clients = clients;
    options.client_count = trace->client_count;
    options.clients_share = trace->clients_share;
    options.slots = trace->slots;
    options.slots_are_auto = false;
    options.has_callbacks = has_callbacks;
    options.max_requests = options.max_flights = options.max_per_flight = options.max_callers =
        options.max_solutions = options.max_idempotency = options.max_finished =
            options.max_shadow_keys = 4 * TRACE_MOST;
    options.retry_budget_permille = 0;
    for (size_t type = 0; type < TYPE_COUNT; type++)
        options.price_micro[type] = 1000;
    options.secret[0] = trace->seed;
    return engine_new(&options, START_MS, START_WALL_MS);
}

/* Until nobody waits any more: the last caller's hold is over by then. */
static void go(struct run *run)
{
    const uint64_t end_ms = run->trace->asks[run->trace->count - 1].at_ms + 2 * HOLD_MS;
    for (;;) {
        const uint64_t due = engine_next_deadline(run->engine);
        const uint64_t due_ms = due == UINT64_MAX ? UINT64_MAX
                                : due > START_MS  ? due - START_MS
                                                  : 0;
        const bool has_item = run->item_count > 0;
        if ((!has_item && due_ms > end_ms) || run->now_ms > end_ms)
            return;
        if (!has_item || due_ms <= run->items[0].at_ms) {
            struct event tick = {.kind = EVENT_TICK};
            if (due_ms > run->now_ms)
                run->now_ms = due_ms;
            step(run, &tick);
            continue;
        }
        const struct item item = next_item(run);
        run->now_ms = item.at_ms;
        happen(run, &item);
    }
}

void trace_run(const struct trace *trace, bool is_shadow, struct came_to *outcome)
{
    struct run *run = calloc(1, sizeof *run);
    ASSERT(run != NULL);
    *outcome = (struct came_to){0};
    run->trace = trace;
    run->outcome = outcome;
    run->has_callbacks = trace->weather == CALM;
    run->engine = make_engine(trace, is_shadow, run->has_callbacks);
    /* The two runs have no luck in common but that of the trace. */
    rand_init(&run->rand, trace->seed * 2 + is_shadow);
    for (uint32_t i = 0; i < trace->count; i++)
        plan(run, trace->asks[i].at_ms, ITEM_ASK, i);
    go(run);
    engine_check(run->engine);
    outcome->stats = *engine_stats(run->engine);
    for (uint32_t i = 0; i < trace->count; i++) {
        ASSERT(run->answers[i] <= 1);
        outcome->unanswered += run->answers[i] == 0 && trace->asks[i].leaves_ms == 0;
        outcome->twice += run->submits[i] > 1;
    }
    engine_free(run->engine);
    free(run->items);
    free(run->fates);
    free(run);
}
