#include "engine/attempt.h"

#include "engine/breaker.h"
#include "engine/cache.h"
#include "engine/health.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/stats.h"

/* How long a late callback is still understood: RELIABILITY.md threat 12. */
#define LISTEN_MS 3600000

/* ---- birth and death --------------------------------------------------------------------- */

static struct attempt *find(const struct engine *engine, attempt_id name)
{
    const struct key key = key_from_u64(name);
    struct table_node *node = table_find(&engine->attempts_by_name, &key);
    return node == NULL ? NULL : CONTAINER_OF(node, struct attempt, node);
}

static void attempt_free(struct engine *engine, struct attempt *attempt)
{
    ASSERT(attempt->flight == NULL);
    list_unlink(&attempt->link);
    wheel_cancel(&engine->wheel, &attempt->expiry);
    table_remove(&engine->attempts_by_name, &attempt->node);
    journal_attempt_over(engine, attempt);
    blob_unref(attempt->text);
    blob_unref(attempt->cause);
    slab_free(&engine->attempts, attempt->id);
}

/* A flight may have ended while its submit was on the wire; then only callbacks can bring more. */
static void forget_if_silent(struct engine *engine, struct attempt *attempt)
{
    if (attempt->flight == NULL && !engine->options.has_callbacks)
        attempt_free(engine, attempt);
}

static struct attempt *attempt_alloc(struct engine *engine)
{
    slab_id id;
    struct attempt *attempt = slab_alloc(&engine->attempts, &id);
    if (attempt == NULL) {
        /* Twice as many places as flights: what is left over are listeners, and the oldest of
         * them is the least likely ever to be heard of again. */
        struct list *oldest = list_first(&engine->listening);
        ASSERT(oldest != NULL);
        attempt_free(engine, CONTAINER_OF(oldest, struct attempt, link));
        attempt = slab_alloc(&engine->attempts, &id);
        ASSERT(attempt != NULL);
    }
    attempt->id = id;
    return attempt;
}

static attempt_id new_name(struct engine *engine)
{
    for (;;) {
        const attempt_id name = rand_u64(&engine->rand);
        if (name != 0 && find(engine, name) == NULL)
            return name;
    }
}

static void enter_table(struct engine *engine, struct attempt *attempt, attempt_id name)
{
    attempt->name = name;
    attempt->node.key = key_from_u64(name);
    list_init(&attempt->link);
    wheel_timer_init(&attempt->expiry, TIMER_ATTEMPT);
    table_insert(&engine->attempts_by_name, &attempt->node);
}

static struct attempt *attempt_new(struct engine *engine, struct flight *flight)
{
    struct attempt *attempt = attempt_alloc(engine);
    attempt->flight = flight;
    attempt->origin = flight->id;
    attempt->flight_uid = flight->uid;
    attempt->key = flight->node.key;
    attempt->started_ms = engine->now_ms;
    attempt->accepted_ms = engine->now_ms;
    attempt->unborn_ms = engine->now_ms;
    attempt->client = flight->client;
    attempt->captcha = flight->captcha;
    attempt->reuse = flight->reuse;
    attempt->is_one_time = flight->is_one_time;
    /* A further one is recorded with its reason: how the one before ended. */
    attempt->cause = blob_ref(flight->error);
    attempt->cause_class = flight->error == NULL ? CLASS_NONE : flight->error_class;
    enter_table(engine, attempt, new_name(engine));
    return attempt;
}

static void listen_on(struct engine *engine, struct attempt *attempt, uint64_t until_ms)
{
    list_append(&engine->listening, &attempt->link);
    wheel_arm(&engine->wheel, &attempt->expiry, until_ms);
}

void attempt_let_go(struct engine *engine, struct attempt *attempt)
{
    struct flight *flight = attempt->flight;
    ASSERT(flight != NULL && flight->attempt == attempt);
    if (!attempt->is_replied) {
        /* It may be accepted yet: the budget counts it until the contrary is proven. */
        attempt->spent_day = flight->is_reserved ? engine->days[0].number : 0;
        slots_spend(engine, flight);
    }
    flight->attempt = NULL;
    attempt->flight = NULL;
    const bool can_be_heard_of = !attempt->is_replied || attempt->is_polling ||
                                 (engine->options.has_callbacks && !attempt->is_void);
    if (!can_be_heard_of) {
        attempt_free(engine, attempt);
        return;
    }
    (void)journal_attempt(engine, attempt);
    listen_on(engine, attempt, engine->now_ms + LISTEN_MS);
}

static struct attempt *attempt_of(struct engine *engine, const struct attempt_row *row,
                                  uint64_t started_ms)
{
    struct attempt *attempt = attempt_alloc(engine);
    attempt->flight_uid = row->flight;
    attempt->key = row->key;
    attempt->started_ms = started_ms;
    attempt->accepted_ms = started_ms;
    attempt->unborn_ms = started_ms;
    attempt->client = row->client;
    attempt->captcha = row->captcha;
    attempt->reuse = row->reuse;
    attempt->is_one_time = row->is_one_time;
    attempt->is_replied = true;
    attempt->is_restored = true;
    attempt->is_closed = row->is_closed;
    attempt->is_solved = row->is_solved;
    /* Its name was heard only because it is paid for. */
    attempt->is_paid = row->task_id[0] != '\0';
    attempt->cause_class = row->cause_class;
    attempt->cause = row->cause[0] == '\0' ? NULL : blob_new(slice_from(row->cause));
    memcpy(attempt->task_id, row->task_id, TASK_ID_MAX);
    enter_table(engine, attempt, row->name);
    return attempt;
}

/* An older attempt of the flight was given up before; this one took its place. */
static void supersede(struct engine *engine, struct flight *flight)
{
    struct attempt *older = flight->attempt;
    flight->attempt = NULL;
    older->flight = NULL;
    listen_on(engine, older, engine->now_ms + LISTEN_MS);
}

void attempt_restore(struct engine *engine, const struct attempt_row *row, struct flight *flight,
                     const struct solution *solution, uint64_t started_ms)
{
    const bool has_room = engine->attempts.used < engine->attempts.capacity ||
                          !list_is_empty(&engine->listening);
    if (row->name == 0 || find(engine, row->name) != NULL || !has_room)
        return;
    struct attempt *attempt = attempt_of(engine, row, started_ms);
    if (flight != NULL) {
        attempt->origin = flight->id;
        flight->attempts++;
        flight->is_paid = true;
    }
    if (solution != NULL) {
        attempt->is_closed = true;
        attempt->is_solved = true;
        attempt->text = blob_ref(solution->text);
    }
    const bool is_open = flight != NULL && !attempt->is_closed &&
                         (flight->attempt == NULL || flight->attempt->started_ms < started_ms);
    /* The submit may have been accepted without our ever hearing of it, or its solution came before
     * its reply and the crash before the budget's record. */
    const bool is_just_solved =
        solution != NULL && solution->flight_uid == row->flight && !row->is_closed;
    const bool is_unpaid = !row->is_replied && (is_open || is_just_solved);
    if (is_unpaid)
        slots_spend_unheard(engine, attempt->client);
    /* Written, so that the next restart neither pays again nor takes a repeat for news. */
    if (is_unpaid || (solution != NULL && !row->is_solved))
        (void)journal_attempt(engine, attempt);
    if (!is_open) {
        listen_on(engine, attempt, engine->now_ms + LISTEN_MS);
        forget_if_silent(engine, attempt);
        return;
    }
    if (flight->attempt != NULL)
        supersede(engine, flight);
    flight->attempt = attempt;
    attempt->flight = flight;
}

void attempt_on_expiry(struct engine *engine, struct attempt *attempt)
{
    attempt_free(engine, attempt);
}

/* ---- asking ------------------------------------------------------------------------------ */

void attempt_start(struct engine *engine, struct flight *flight)
{
    ASSERT(flight->attempt == NULL);
    struct attempt *attempt = attempt_new(engine, flight);
    flight->attempt = attempt;
    flight->attempts++;
    stats_count_submit(engine, flight->attempts > 1);
    histogram_add(&engine->timings[TIMING_QUEUE], engine->now_ms - flight->queued_ms);
    if (!flight->is_journaled)
        journal_flight(engine, flight);
    const journal_seq seq = journal_attempt(engine, attempt);
    struct action *action = engine_push(engine, ACTION_SUBMIT);
    action->after = seq;
    action->call.attempt = attempt->name;
    action->call.client = flight->client;
    action->call.params = blob_ref(flight->params);
    flight_enter(engine, flight, FLIGHT_SUBMITTING, WHEEL_NEVER);
}

void attempt_poll(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_polling)
        return;
    attempt->is_polling = true;
    attempt->asked_ms = engine->now_ms;
    COUNT(engine, polls);
    struct action *action = engine_push(engine, ACTION_POLL);
    action->call.attempt = attempt->name;
    action->call.client = attempt->client;
    memcpy(action->call.task_id, attempt->task_id, TASK_ID_MAX);
}

/* A fifth of the interval at random, so that flights that started together do not poll together. */
static uint64_t spread_ms(struct engine *engine)
{
    return rand_below(&engine->rand, engine->options.poll_interval_ms / 5 + 1);
}

static uint64_t first_poll_ms(struct engine *engine, const struct attempt *attempt)
{
    const bool is_patient = engine->options.has_callbacks && health_is_good(engine);
    const uint32_t wait_ms = is_patient ? engine->options.fallback_after_ms
                                        : engine->options.poll_first_ms[attempt->captcha];
    return engine->now_ms + wait_ms + spread_ms(engine);
}

/* What the vendor asks for counts up to the cap: it must not make us forget what is paid for. */
static void arm_next_poll(struct engine *engine, struct flight *flight, uint32_t asked_ms)
{
    const uint32_t cap_ms = engine->options.retry_cap_ms;
    uint64_t wait_ms = asked_ms < cap_ms ? asked_ms : cap_ms;
    if (wait_ms < engine->options.poll_interval_ms)
        wait_ms = engine->options.poll_interval_ms;
    wheel_arm(&engine->wheel, &flight->phase, engine->now_ms + wait_ms);
}

/* ---- hearing ----------------------------------------------------------------------------- */

/* Who waits for what an attempt brought late: the flight that made it, if that is trying anew, else
 * one that shares its key; to the latter it must not be stale already. */
static struct flight *find_waiting(const struct engine *engine, const struct attempt *attempt,
                                   const struct solution *solution)
{
    struct flight *own = slab_get(&engine->flights, attempt->origin);
    if (own != NULL && own->is_in_table)
        return own;
    if (attempt->reuse != REUSE_SHARED || solution->expires_ms <= engine->now_ms)
        return NULL;
    return flight_find(engine, &attempt->key);
}

/* A paid solution whose attempt was given up: for those who wait for the same thing now, else banked. */
static void place_late(struct engine *engine, const struct attempt *attempt,
                       struct solution *solution)
{
    struct flight *flight = find_waiting(engine, attempt, solution);
    if (flight != NULL) {
        flight_solve(engine, flight, solution);
        return;
    }
    cache_bank(engine, solution, attempt->reuse == REUSE_SHARED, attempt->is_one_time);
    journal_solution(engine, solution);
}

static void receive(struct engine *engine, struct attempt *attempt, struct flight *flight,
                    const struct vendor_result *result)
{
    COUNT(engine, solves);
    struct solution *solution = solution_new(engine, attempt, result->text, result->extra);
    if (result->task_id[0] != '\0')
        memcpy(solution->task_id, result->task_id, TASK_ID_MAX);
    solution->uid = journal_uid(engine);
    solution->attempt = attempt->name;
    solution->is_one_time = attempt->is_one_time;
    solution->is_shared = attempt->reuse == REUSE_SHARED;
    if (flight != NULL)
        flight_solve(engine, flight, solution);
    else
        place_late(engine, attempt, solution);
    solution_unref(engine, solution);
}

static void solved(struct engine *engine, struct attempt *attempt,
                   const struct vendor_result *result)
{
    histogram_add(&engine->timings[TIMING_SOLVE], engine->now_ms - attempt->accepted_ms);
    const bool is_late = attempt->flight == NULL;
    attempt->is_closed = true;
    attempt->is_solved = true;
    attempt->text = blob_ref(result->text);
    receive(engine, attempt, attempt->flight, result);
    /* Else its flight let go of it, and it was written then: a repeat is recognised after a crash. */
    if (is_late)
        (void)journal_attempt(engine, attempt);
}

static void failed(struct engine *engine, struct attempt *attempt,
                   const struct vendor_result *result)
{
    struct flight *flight = attempt->flight;
    attempt->is_closed = true;
    if (flight == NULL)
        return;
    history_add(engine, flight, result->class, slice_from(result->code));
    attempt_let_go(engine, attempt);
    retry_or_fail(engine, flight, result);
}

/* Once for each attempt, however often it is heard of. */
static void note_paid(struct engine *engine, struct attempt *attempt)
{
    if (!attempt->is_paid)
        stats_count_paid(engine, attempt, attempt->task_id, false);
    attempt->is_paid = true;
}

/* The submit's reply is lost for good, and yet somebody works on it. */
static void prove_paid(struct engine *engine, struct attempt *attempt)
{
    if (!attempt->is_paid)
        COUNT(engine, submits_proven);
    note_paid(engine, attempt);
}

static void accepted(struct engine *engine, struct attempt *attempt,
                     const struct vendor_result *result)
{
    memcpy(attempt->task_id, result->task_id, TASK_ID_MAX);
    attempt->accepted_ms = engine->now_ms;
    COUNT(engine, submits_accepted);
    note_paid(engine, attempt);
    slots_on_accepted(engine);
    struct flight *flight = attempt->flight;
    if (flight == NULL)
        return;
    slots_spend(engine, flight);
    attempt->unborn_ms = attempt->started_ms;
    (void)journal_attempt(engine, attempt);
    flight_enter(engine, flight, FLIGHT_SOLVING, first_poll_ms(engine, attempt));
}

static void ambiguous(struct engine *engine, struct attempt *attempt)
{
    COUNT(engine, submits_ambiguous);
    breaker_on_ambiguous(engine);
    struct flight *flight = attempt->flight;
    if (flight == NULL)
        return;
    (void)journal_attempt(engine, attempt);
    /* It may have been accepted: the budget counts it until the contrary is proven. */
    slots_spend(engine, flight);
    flight_enter(engine, flight, FLIGHT_AMBIGUOUS,
                 attempt->started_ms + engine->options.ambiguity_window_ms);
}

static void alert_about(struct engine *engine, const struct attempt *attempt, enum alert_kind kind)
{
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = kind;
    action->alert.attempt = attempt->name;
}

/* Two task ids on one nonce: somebody resent our submit (RELIABILITY.md, finding 5). */
static void prove_duplicate(struct engine *engine, struct attempt *attempt,
                            const char task_id[TASK_ID_MAX])
{
    if (attempt->other_task_id[0] != '\0')
        return;
    memcpy(attempt->other_task_id, task_id, TASK_ID_MAX);
    COUNT(engine, duplicates_proven);
    stats_count_paid(engine, attempt, task_id, true);
    alert_about(engine, attempt, ALERT_DUPLICATE_PROVEN);
}

/* The reply comes after a callback already told us the task id. */
static void confirm_task(struct engine *engine, struct attempt *attempt,
                         const struct vendor_result *result)
{
    if (result->outcome != OUTCOME_ACCEPTED) {
        prove_paid(engine, attempt);
        return;
    }
    COUNT(engine, submits_accepted);
    if (attempt->task_id[0] == '\0')
        memcpy(attempt->task_id, result->task_id, TASK_ID_MAX);
    note_paid(engine, attempt);
    if (strcmp(attempt->task_id, result->task_id) != 0)
        prove_duplicate(engine, attempt, result->task_id);
}

/* It does not exist at the vendor: its flight goes on without it; if that is gone, it was all. */
static void proven_void(struct engine *engine, struct attempt *attempt,
                        const struct vendor_result *result)
{
    attempt->is_void = true;
    if (attempt->flight != NULL) {
        failed(engine, attempt, result);
        return;
    }
    slots_refund(engine, attempt);
    attempt_free(engine, attempt);
}

void attempt_on_submitted(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = find(engine, result->attempt);
    if (attempt == NULL || attempt->is_replied) {
        COUNT(engine, late_completions);
        return;
    }
    attempt->is_replied = true;
    if (attempt->is_closed) {
        confirm_task(engine, attempt, result);
        forget_if_silent(engine, attempt);
        return;
    }
    switch (result->outcome) {
    case OUTCOME_ACCEPTED:
        accepted(engine, attempt, result);
        break;
    case OUTCOME_AMBIGUOUS:
        ambiguous(engine, attempt);
        break;
    case OUTCOME_NOT_SENT:
        COUNT(engine, submits_not_sent);
        proven_void(engine, attempt, result);
        return;
    case OUTCOME_REJECTED:
        COUNT(engine, submits_rejected);
        proven_void(engine, attempt, result);
        return;
    case OUTCOME_PENDING:
    case OUTCOME_SOLVED:
    case OUTCOME_FAILED:
    case OUTCOME_UNHEARD:
        UNREACHABLE();
    }
    forget_if_silent(engine, attempt);
}

/* After its end only one thing is news of an attempt: a solution for what was given up as failed. */
static bool is_news(const struct attempt *attempt, const struct vendor_result *result)
{
    return !attempt->is_closed || (!attempt->is_solved && result->outcome == OUTCOME_SOLVED);
}

void attempt_on_polled(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = find(engine, result->attempt);
    if (attempt == NULL || !attempt->is_polling) {
        COUNT(engine, late_completions);
        return;
    }
    attempt->is_polling = false;
    const bool is_late = attempt->flight == NULL;
    if (!is_news(attempt, result) || (is_late && result->outcome != OUTCOME_SOLVED)) {
        forget_if_silent(engine, attempt);
        return;
    }
    switch (result->outcome) {
    case OUTCOME_PENDING:
        /* It was not there when the vendor answered, so it is younger than our question. */
        attempt->unborn_ms = attempt->asked_ms;
        arm_next_poll(engine, attempt->flight, 0);
        return;
    case OUTCOME_UNHEARD:
    case OUTCOME_NOT_SENT:
        COUNT(engine, polls_unheard);
        arm_next_poll(engine, attempt->flight, result->retry_after_ms);
        return;
    case OUTCOME_SOLVED:
        if (engine->options.has_callbacks) {
            attempt->is_missed = true;
            health_count_missed(engine);
        }
        solved(engine, attempt, result);
        if (is_late)
            forget_if_silent(engine, attempt);
        return;
    case OUTCOME_FAILED:
        failed(engine, attempt, result);
        return;
    case OUTCOME_ACCEPTED:
    case OUTCOME_REJECTED:
    case OUTCOME_AMBIGUOUS:
        break;
    }
    UNREACHABLE();
}

/* ---- callbacks --------------------------------------------------------------------------- */

static void acknowledge(struct engine *engine, caller_id caller)
{
    struct action *action = engine_push(engine, ACTION_ACK);
    /* 200 only when everything this callback caused is safe: its record is the newest by now. */
    action->after = engine->options.has_journal ? engine->seq : 0;
    action->ack = caller;
}

/* Two solutions for one task: one of them is somebody else's. It is kept for a person to look at. */
static void quarantine(struct engine *engine, const struct attempt *attempt,
                       const struct vendor_result *result)
{
    alert_about(engine, attempt, ALERT_OTHER_SOLUTION);
    letter_of_solution(engine, attempt, result, SLICE_OF("ERROR_OTHER_SOLUTION"));
}

/* Genuine, but for an attempt of long ago: never a loss, so a letter. */
static void hear_unknown(struct engine *engine, const struct vendor_result *result)
{
    COUNT(engine, callbacks_unknown);
    if (result->outcome == OUTCOME_SOLVED)
        letter_of_solution(engine, NULL, result, SLICE_OF("ERROR_SOLUTION_WITHOUT_FLIGHT"));
}

/* Something for an attempt that is over: the same again, or proof that our submit was doubled. */
static void absorb_repeat(struct engine *engine, const struct attempt *attempt,
                          const struct vendor_result *result)
{
    const bool is_same = attempt->text != NULL && result->text != NULL &&
                         slice_equals(blob_slice(attempt->text), blob_slice(result->text));
    COUNT(engine, callbacks_duplicate);
    if (!is_same && attempt->text != NULL && result->outcome == OUTCOME_SOLVED)
        quarantine(engine, attempt, result);
}

/* A second paid task on one nonce: its solution is as good as the first one's, once. */
static void hear_other_task(struct engine *engine, struct attempt *attempt,
                            const struct vendor_result *result)
{
    prove_duplicate(engine, attempt, result->task_id);
    const bool is_third = strcmp(attempt->other_task_id, result->task_id) != 0;
    const bool is_repeat = !is_third && attempt->is_other_closed;
    if (is_third || is_repeat || attempt->is_restored || result->outcome != OUTCOME_SOLVED) {
        COUNT(engine, callbacks_duplicate);
        /* After a restart nobody remembers whether somebody has it already. */
        if (!is_repeat && result->outcome == OUTCOME_SOLVED) {
            attempt->is_other_closed |= !is_third;
            quarantine(engine, attempt, result);
        }
        return;
    }
    COUNT(engine, callbacks_ok);
    attempt->is_other_closed = true;
    receive(engine, attempt, NULL, result);
}

/* The id that a callback names must be the one the submit's reply named. */
static bool task_id_fits(struct attempt *attempt, const struct vendor_result *result)
{
    if (result->task_id[0] == '\0')
        return true;
    if (attempt->task_id[0] == '\0') {
        memcpy(attempt->task_id, result->task_id, TASK_ID_MAX);
        return true;
    }
    return strcmp(attempt->task_id, result->task_id) == 0;
}

/* It came: at once, or after a poll had to find out. */
static void note_arrival(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_missed)
        health_correct(engine);
    else if (!attempt->is_closed)
        health_count_arrived(engine);
    attempt->is_missed = false;
}

/* A callback that says neither solution nor error: a poll finds out more. */
static void hear_nothing(struct engine *engine, struct attempt *attempt)
{
    COUNT(engine, callbacks_duplicate);
    if (attempt->flight != NULL && attempt->flight->state == FLIGHT_SOLVING)
        attempt_poll(engine, attempt);
}

static void hear_news(struct engine *engine, struct attempt *attempt,
                      const struct vendor_result *result)
{
    if (attempt->flight == NULL)
        COUNT(engine, callbacks_late);
    else
        COUNT(engine, callbacks_ok);
    histogram_add(&engine->timings[TIMING_CALLBACK], engine->now_ms - attempt->accepted_ms);
    if (result->outcome == OUTCOME_SOLVED) {
        solved(engine, attempt, result);
        return;
    }
    failed(engine, attempt, result);
}

void attempt_on_callback(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = find(engine, result->attempt);
    const bool says_something =
        result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_FAILED;
    if (attempt != NULL && says_something)
        note_arrival(engine, attempt);
    const bool fits = attempt != NULL && task_id_fits(attempt, result);
    /* Nobody but the vendor knows the nonce. */
    if (attempt != NULL && attempt->is_replied)
        prove_paid(engine, attempt);
    if (attempt == NULL)
        hear_unknown(engine, result);
    else if (!fits)
        hear_other_task(engine, attempt, result);
    else if (!says_something)
        hear_nothing(engine, attempt);
    else if (!is_news(attempt, result))
        absorb_repeat(engine, attempt, result);
    else
        hear_news(engine, attempt, result);
    acknowledge(engine, result->caller);
}
