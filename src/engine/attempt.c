#include "engine/attempt.h"

#include "engine/aside.h"
#include "engine/budget.h"
#include "engine/flight_name.h"
#include "engine/health.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/rest.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"
#include "engine/task.h"
#include "engine/vigil.h"
#include "engine/withdraw.h"

/* How long late callbacks for an attempt are accepted: docs/reliability.md threat 12. */
#define LISTEN_MS 3600000

/* The row with the task's name is among the next few. */
#define NAMED_WITHIN 16

/* ---- states ------------------------------------------------------------------------------ */

#define TO(state) (1U << (state))
#define ENDS (TO(ATTEMPT_VOID) | TO(ATTEMPT_FAILED) | TO(ATTEMPT_SOLVED))

/* Allowed transitions. The vendor may still solve a task that it refused or gave up before. */
static const unsigned next_states[] = {
    [ATTEMPT_SENT] = TO(ATTEMPT_AMBIGUOUS) | TO(ATTEMPT_WORKING) | ENDS,
    [ATTEMPT_AMBIGUOUS] = TO(ATTEMPT_UNCONFIRMED) | TO(ATTEMPT_WORKING) | ENDS,
    [ATTEMPT_UNCONFIRMED] = TO(ATTEMPT_WORKING) | ENDS,
    [ATTEMPT_WORKING] = ENDS,
    [ATTEMPT_VOID] = TO(ATTEMPT_SOLVED),
    [ATTEMPT_FAILED] = TO(ATTEMPT_SOLVED),
    [ATTEMPT_SOLVED] = 0,
};

void attempt_enter(struct attempt *attempt, enum attempt_state state)
{
    ASSERT((next_states[attempt->state] & TO(state)) != 0);
    attempt->state = state;
}

void attempt_name_task(struct engine *engine, struct attempt *attempt,
                       const char task_id[TASK_ID_MAX])
{
    ASSERT(attempt->task_id == NULL);
    attempt->task_id = blob_new(slice_from(task_id));
    attempt->named_seq = engine->seq + NAMED_WITHIN;
    /* A callback may have named the task before the submit's reply does. */
    if (!attempt_is_over(attempt) && !attempt_is_working(attempt))
        attempt_enter(attempt, ATTEMPT_WORKING);
    (void)task_learn(engine, attempt, attempt->task_id);
}

/* ---- birth and death --------------------------------------------------------------------- */

struct attempt *attempt_find(const struct engine *engine, attempt_id name)
{
    struct numbers_node *node = numbers_find(&engine->attempts_by_name, name);
    return node == NULL ? NULL : CONTAINER_OF(node, struct attempt, by_name);
}

void attempt_close(struct attempt *attempt)
{
    blob_unref(attempt->partial);
    blob_unref(attempt->cause);
    blob_unref(attempt->task_id);
    blob_unref(attempt->other_task_id);
}

void attempt_free(struct engine *engine, struct attempt *attempt)
{
    ASSERT(attempt->flight == NULL);
    withdraw_poll(engine, attempt);
    stray_leave(engine, attempt);
    vigil_end(engine, attempt);
    numbers_remove(&engine->attempts_by_name, &attempt->by_name);
    journal_attempt_over(engine, attempt);
    attempt_close(attempt);
    slab_free_item(&engine->attempts, attempt);
}

static struct attempt *attempt_alloc(struct engine *engine)
{
    slab_id id;
    struct attempt *attempt = slab_alloc(&engine->attempts, &id);
    if (attempt == NULL) {
        /* There are twice as many places as flights. The surplus attempts only listen for late
         * callbacks, and the oldest of them is the least likely ever to get one. */
        struct list *oldest = list_first(&engine->listening);
        ASSERT(oldest != NULL);
        attempt_free(engine, CONTAINER_OF(oldest, struct vigil, link)->attempt);
        attempt = slab_alloc(&engine->attempts, &id);
        ASSERT(attempt != NULL);
    }
    return attempt;
}

static void enter_table(struct engine *engine, struct attempt *attempt, attempt_id name)
{
    attempt->by_name.number = name;
    numbers_insert(&engine->attempts_by_name, &attempt->by_name);
}

static bool is_replay(const struct flight *flight)
{
    return flight->request_count == 0 && flight->pool == NULL && flight_has_letters(flight);
}

/* The cause is journaled with the intent, so that it survives any number of restarts before the
 * submit is paid for. */
static enum cause why_made(const struct flight *flight)
{
    if (flight->error != NULL)
        return flight->error_class == CLASS_AMBIGUOUS ? CAUSE_RESEND : CAUSE_RETRY;
    if (is_replay(flight))
        return CAUSE_REPLAY;
    return flight->request_count == 0 && flight->pool != NULL ? CAUSE_POOL : CAUSE_FIRST;
}

static struct attempt *attempt_new(struct engine *engine, struct flight *flight)
{
    struct attempt *attempt = attempt_alloc(engine);
    attempt->flight = flight;
    flight->attempts_before = flight->attempts;
    attempt->number = ++flight->attempts;
    attempt->started_ms = engine->now_ms;
    attempt->accepted_ms = engine->now_ms;
    attempt->unborn_ms = engine->now_ms;
    attempt->client = flight->client;
    attempt->type = flight->type;
    attempt->reuse = flight->reuse;
    attempt->is_one_time = flight->is_one_time;
    attempt->wants_rest = flight->wants_rest;
    /* A retry is recorded with its reason: how the previous attempt ended. */
    attempt->why = why_made(flight);
    attempt->cause = blob_ref(flight->error);
    attempt->cause_class = flight->error == NULL ? CLASS_NONE : flight->error_class;
    enter_table(engine, attempt, journal_number(engine));
    return attempt;
}

/* ---- without a flight -------------------------------------------------------------------- */

/* Returns when to poll next for a task that no flight waits for, or WHEEL_NEVER. Polls go on for as
 * long again as a solve may take, at growing intervals that stay within a solution's lifetime. */
static uint64_t next_question_ms(const struct engine *engine, const struct attempt *attempt)
{
    const struct engine_options *options = &engine->options;
    const bool is_patient = options->has_callbacks && health_is_good(engine);
    const uint64_t let_go_ms = attempt->vigil->let_go_ms;
    const uint64_t since_ms = let_go_ms > attempt->accepted_ms ? let_go_ms : attempt->accepted_ms;
    uint64_t wait_ms = (engine->now_ms - since_ms) / 2;
    if (wait_ms > options->ttl_ms[attempt->type] / 4)
        wait_ms = options->ttl_ms[attempt->type] / 4;
    const uint64_t least_ms = is_patient ? options->fallback_after_ms : options->poll_interval_ms;
    const uint64_t next_ms = engine->now_ms + (wait_ms > least_ms ? wait_ms : least_ms);
    /* An attempt restored after a restart may be long past its time. */
    const bool is_in_time = next_ms < stray_life_ms(engine, attempt);
    return attempt_is_working(attempt) && is_in_time ? next_ms : WHEEL_NEVER;
}

/* True while the attempt is worth its place. An unconfirmed attempt also stays because it is the
 * reason of the next submit for its key. */
static bool is_remembered(const struct engine *engine, const struct attempt *attempt)
{
    return !attempt->is_replied || attempt->is_polling || rest_is_due(attempt) ||
           stray_is_unheard(attempt) ||
           (engine->options.has_callbacks && attempt->state != ATTEMPT_VOID) ||
           next_question_ms(engine, attempt) != WHEEL_NEVER;
}

/* An attempt that is over listens for an hour: a hash is enough to recognise a repeat. */
static void shed_partial(const struct engine *engine, struct attempt *attempt)
{
    if (attempt->partial == NULL || !attempt_is_over(attempt))
        return;
    attempt->partial_hash = task_text_hash(engine, attempt->partial);
    blob_unref(attempt->partial);
    attempt->partial = NULL;
}

void attempt_linger(struct engine *engine, struct attempt *attempt)
{
    if (attempt->flight != NULL)
        return;
    shed_partial(engine, attempt);
    if (!is_remembered(engine, attempt)) {
        attempt_free(engine, attempt);
        return;
    }
    stray_update(engine, attempt);
    if (rest_is_due(attempt) && attempt->is_replied && !attempt->is_polling) {
        wheel_arm(&engine->wheel, &attempt->vigil->expiry, engine->now_ms);
        return;
    }
    const uint64_t next_ms = next_question_ms(engine, attempt);
    const uint64_t stray_ms = stray_until_ms(engine, attempt);
    uint64_t due_ms = attempt->vigil->let_go_ms + LISTEN_MS;
    if (!attempt->is_polling && next_ms < due_ms)
        due_ms = next_ms;
    if (stray_ms > engine->now_ms && stray_ms < due_ms)
        due_ms = stray_ms;
    wheel_arm(&engine->wheel, &attempt->vigil->expiry, due_ms);
}

void attempt_on_expiry(struct engine *engine, struct attempt *attempt)
{
    if (rest_is_due(attempt)) {
        rest_go_on(engine, attempt);
        attempt_linger(engine, attempt);
        return;
    }
    if (engine->now_ms >= attempt->vigil->let_go_ms + LISTEN_MS) {
        attempt_free(engine, attempt);
        return;
    }
    if (attempt_is_working(attempt) && engine->now_ms < stray_life_ms(engine, attempt))
        attempt_poll(engine, attempt);
    attempt_linger(engine, attempt);
}

/* May free the attempt. */
static void listen_on(struct engine *engine, struct attempt *attempt)
{
    attempt->was_let_go = true;
    attempt->vigil->let_go_ms = engine->now_ms;
    list_append(&engine->listening, &attempt->vigil->link);
    attempt_linger(engine, attempt);
}

void attempt_let_go(struct engine *engine, struct attempt *attempt)
{
    struct flight *flight = attempt->flight;
    ASSERT(flight != NULL && flight->attempt == attempt);
    if (!attempt->is_replied) {
        /* The submit may still be accepted: the budget counts it until the opposite is proven. */
        if (flight->is_reserved)
            attempt->spent_day = engine->days[0].number;
        slots_spend(engine, flight);
        withdraw_submit(engine, attempt);
    }
    flight->attempt = NULL;
    attempt->was_let_go = true;
    vigil_begin(engine, attempt);
    if (is_remembered(engine, attempt))
        (void)journal_attempt(engine, attempt);
    listen_on(engine, attempt);
}

static enum attempt_state state_of_row(const struct attempt_row *row)
{
    if (row->is_solved)
        return ATTEMPT_SOLVED;
    if (row->is_closed)
        return ATTEMPT_FAILED;
    return row->task_id[0] != '\0' ? ATTEMPT_WORKING : ATTEMPT_AMBIGUOUS;
}

static struct attempt *attempt_of(struct engine *engine, const struct attempt_row *row,
                                  uint64_t started_ms)
{
    struct attempt *attempt = attempt_alloc(engine);
    vigil_begin_of_row(engine, attempt, row);
    attempt->started_ms = started_ms;
    attempt->accepted_ms = started_ms;
    attempt->unborn_ms = started_ms;
    attempt->client = row->client;
    attempt->type = row->type;
    attempt->reuse = row->reuse;
    attempt->is_one_time = row->is_one_time;
    attempt->wants_rest = row->wants_rest;
    attempt->partial = blob_ref(row->partial);
    attempt->is_replied = true;
    attempt->is_restored = true;
    attempt->state = state_of_row(row);
    /* The vendor names and solves a task only after accepting it, so both prove payment. */
    attempt->is_paid = row->task_id[0] != '\0' || row->is_solved;
    attempt->number = row->number;
    attempt->why = row->why;
    attempt->is_resent = row->is_resent;
    attempt->cause_class = row->cause_class;
    attempt->cause = row->cause[0] == '\0' ? NULL : blob_new(slice_from(row->cause));
    attempt->task_id = task_id_new(row->task_id);
    enter_table(engine, attempt, row->name);
    return attempt;
}

/* Lets go of the flight's older attempt, which was given up before the restart and replaced by a newer one. */
static void supersede(struct engine *engine, struct flight *flight)
{
    struct attempt *older = flight->attempt;
    flight->attempt = NULL;
    vigil_begin(engine, older);
    older->is_resent = true;
    history_earlier(engine, flight, older);
    listen_on(engine, older);
}

void attempt_restore(struct engine *engine, const struct attempt_row *row, struct flight *flight,
                     const struct solution *solution, uint64_t started_ms)
{
    const bool has_room =
        engine->attempts.used < engine->attempts.capacity || !list_is_empty(&engine->listening);
    if (row->name == 0 || attempt_find(engine, row->name) != NULL || !has_room)
        return;
    struct attempt *attempt = attempt_of(engine, row, started_ms);
    /* Rows of an older version have no attempt number. */
    if (attempt->number == 0)
        attempt->number = flight == NULL ? 1 : (uint16_t)(flight->attempts + 1);
    if (flight != NULL) {
        attempt->vigil->origin = flight_id(engine, flight);
        if (flight->attempts < attempt->number)
            flight->attempts = attempt->number;
        flight->is_paid = true;
    }
    if (solution != NULL) {
        attempt->state = ATTEMPT_SOLVED;
        attempt->text_hash = task_text_hash(engine, solution->text);
        attempt->is_paid = true;
        /* The solution carries the task's id, by which a second task's solution is told apart later. */
        if (attempt->task_id == NULL)
            attempt->task_id = blob_ref(solution->task_id);
    }
    task_restore(engine, attempt);
    const bool is_open = flight != NULL && !attempt_is_over(attempt) &&
                         (flight->attempt == NULL || flight->attempt->started_ms <= started_ms);
    /* The submit may have been accepted unnoticed, also if its flight ended meanwhile and the crash
     * came before the budget's record. */
    if (!row->is_counted)
        budget_spend_unheard(engine, attempt->client);
    /* Journals the correction, so that the next restart neither counts the submit again nor takes a
     * repeated solution for a new one. */
    if (!row->is_counted || (solution != NULL && !row->is_solved))
        (void)journal_attempt(engine, attempt);
    if (!is_open) {
        listen_on(engine, attempt);
        return;
    }
    if (flight->attempt != NULL)
        supersede(engine, flight);
    flight->attempt = attempt;
    vigil_end(engine, attempt);
    attempt->flight = flight;
}

/* ---- asking ------------------------------------------------------------------------------ */

/* A flight may end before its submit is confirmed (after a crash, for example), and a new flight
 * then submits for the same key. This counts as a resend and is recorded as one. Returns the name
 * of the unconfirmed attempt, or 0. */
static attempt_id inherit_reason(struct engine *engine, struct flight *flight)
{
    if (flight->attempts > 0 || flight->error != NULL)
        return 0;
    const struct attempt *unheard = stray_find_unheard(engine, flight);
    if (unheard == NULL)
        return 0;
    /* A replay states its own reason, and the letter keeps the history. */
    if (is_replay(flight))
        return unheard->by_name.number;
    flight->attempts = unheard->number;
    flight->earlier = unheard->number;
    flight->error = blob_new(CODE_AMBIGUOUS_SUBMIT);
    flight->error_class = CLASS_AMBIGUOUS;
    history_earlier(engine, flight, unheard);
    COUNT(engine, resends);
    return unheard->by_name.number;
}

/* Marks the unconfirmed attempt as resent. It may be gone: allocating the new attempt may have evicted it. */
static void note_resent(struct engine *engine, attempt_id name)
{
    struct attempt *unheard = name == 0 ? NULL : attempt_find(engine, name);
    if (unheard == NULL)
        return;
    unheard->is_resent = true;
    if (is_remembered(engine, unheard))
        (void)journal_attempt(engine, unheard);
    attempt_linger(engine, unheard);
}

void attempt_start(struct engine *engine, struct flight *flight)
{
    ASSERT(flight->attempt == NULL);
    const attempt_id unheard = inherit_reason(engine, flight);
    struct attempt *attempt = attempt_new(engine, flight);
    flight->attempt = attempt;
    stats_count_submit(engine, flight->attempts > 1);
    histogram_add(&engine->timings[TIMING_QUEUE], engine->now_ms - flight->queued_ms);
    if (!flight->is_journaled || flight_is_shadow(flight))
        journal_flight(engine, flight);
    const journal_seq seq = journal_attempt(engine, attempt);
    struct action *action = engine_push(engine, ACTION_SUBMIT);
    action->after = seq;
    action->call.attempt = attempt->by_name.number;
    action->call.client = flight->client;
    action->call.params = blob_ref(flight->params);
    flight_enter(engine, flight, FLIGHT_SUBMITTING, WHEEL_NEVER);
    note_resent(engine, unheard);
}

void attempt_poll(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_polling)
        return;
    attempt->is_polling = true;
    attempt->asked_ms = engine->now_ms;
    COUNT(engine, polls);
    struct action *action = engine_push(engine, ACTION_POLL);
    action->call.attempt = attempt->by_name.number;
    action->call.client = attempt->client;
    task_id_copy(action->call.task_id, attempt->task_id);
}

/* A random fifth of the interval, so that flights that started together do not poll together. */
static uint64_t spread_ms(struct engine *engine)
{
    return rand_below(&engine->rand, engine->options.poll_interval_ms / 5 + 1);
}

uint64_t attempt_first_poll_ms(struct engine *engine, const struct attempt *attempt)
{
    const bool is_patient =
        engine->options.has_callbacks && health_is_good(engine) && !engine->is_draining;
    const uint32_t wait_ms = is_patient ? engine->options.fallback_after_ms
                                        : engine->options.poll_first_ms[attempt->type];
    return engine->now_ms + wait_ms + spread_ms(engine);
}

void attempts_on_drain(struct engine *engine)
{
    LIST_FOR_EACH(link, &engine->active) {
        struct flight *flight = CONTAINER_OF(link, struct flight, link);
        if (flight->state != FLIGHT_SOLVING || flight->attempt->is_polling)
            continue;
        const uint64_t asked_at_ms =
            flight->attempt->accepted_ms + engine->options.poll_first_ms[flight->type];
        const uint64_t soon_ms =
            asked_at_ms > engine->now_ms ? asked_at_ms : engine->now_ms + spread_ms(engine);
        if (flight->phase.due_ms > soon_ms)
            wheel_arm(&engine->wheel, &flight->phase, soon_ms);
    }
}

/* A wait that the vendor asks for is capped: it must not make us forget a paid task. */
void attempt_arm_next_poll(struct engine *engine, struct flight *flight, uint32_t asked_ms)
{
    const uint32_t cap_ms = engine->options.retry_cap_ms;
    uint64_t wait_ms = asked_ms < cap_ms ? asked_ms : cap_ms;
    if (wait_ms < engine->options.poll_interval_ms)
        wait_ms = engine->options.poll_interval_ms;
    uint64_t next_ms = engine->now_ms + wait_ms;
    const uint64_t life_ms = stray_life_ms(engine, flight->attempt);
    if (flight_is_riding(flight) && life_ms < next_ms)
        next_ms = life_ms;
    wheel_arm(&engine->wheel, &flight->phase, next_ms);
}
