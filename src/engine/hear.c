/* The vendor's news about attempts: replies to submits and polls, callbacks, and late results. */
#include "engine/hear.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/breaker.h"
#include "engine/cache.h"
#include "engine/health.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/late.h"
#include "engine/letters.h"
#include "engine/oddity.h"
#include "engine/recover.h"
#include "engine/rest.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"
#include "engine/task.h"
#include "engine/tell.h"
#include "engine/unknown.h"
#include "engine/withdraw.h"

/* ---- hearing ----------------------------------------------------------------------------- */

static void receive(struct engine *engine, struct attempt *attempt, struct flight *flight,
                    const struct vendor_result *result)
{
    COUNT(engine, solves);
    struct solution *solution = solution_of_attempt(engine, attempt, result->text, result->extra);
    task_id_change(&solution->task_id, result->task_id);
    solution->uid = journal_uid(engine);
    if (flight != NULL)
        flight_solve(engine, flight, solution);
    else
        late_place(engine, attempt, solution);
    /* An attempt without a flight is journaled here (flight_solve() did it otherwise), before the
     * solution can be dropped: a repeat must be recognised after a crash. */
    if (flight == NULL)
        (void)journal_attempt(engine, attempt);
    solution_unref(engine, solution);
}

/* The stray that this flight rides on has run out of time. */
static void end_ride(struct engine *engine, struct flight *flight)
{
    history_add(engine, flight, CLASS_TIMEOUT, CODE_SOLVE_TIMEOUT);
    attempt_let_go(engine, flight->attempt);
    retry_after_ride(engine, flight, CLASS_TIMEOUT, CODE_SOLVE_TIMEOUT);
}

/* Solved so long ago, as far as we know, that it is worthless to the flight riding on it. */
static bool is_stale(const struct engine *engine, const struct attempt *attempt)
{
    const struct flight *flight = attempt->flight;
    return flight != NULL && flight_is_riding(flight) &&
           attempt->unborn_ms + engine->options.ttl_ms[attempt->type] <= engine->now_ms;
}

static void receive_stale(struct engine *engine, struct attempt *attempt,
                          const struct vendor_result *result)
{
    struct flight *flight = attempt->flight;
    attempt->is_disowned = true;
    receive(engine, attempt, NULL, result);
    end_ride(engine, flight);
}

/* The stray failed in a way that another task may not. */
static bool may_go_on_alone(enum error_class class)
{
    return class == CLASS_UNSOLVABLE || class == CLASS_TRANSIENT || class == CLASS_UNKNOWN;
}

/* Also runs when no flight waits for the attempt: the failure is recorded all the same. */
static void failed(struct engine *engine, struct attempt *attempt,
                   const struct vendor_result *result)
{
    struct flight *flight = attempt->flight;
    withdraw_poll(engine, attempt);
    if (!attempt_is_over(attempt))
        attempt_enter(attempt, ATTEMPT_FAILED);
    if (result->class == CLASS_UNKNOWN)
        unknown_count(engine, slice_from(result->code));
    if (flight == NULL)
        return;
    const bool is_riding = flight_is_riding(flight);
    history_add(engine, flight, result->class, slice_from(result->code));
    attempt_let_go(engine, attempt);
    /* The flight's own first attempt is still to come. */
    if (is_riding && may_go_on_alone(result->class))
        retry_after_ride(engine, flight, result->class, slice_from(result->code));
    else
        retry_or_fail(engine, flight, result);
}

/* The solution is another attempt's (docs/reliability.md, threat 24): a new task may bring its own. */
static void refuse_anothers(struct engine *engine, struct attempt *attempt)
{
    const bool is_late = attempt->flight == NULL;
    struct vendor_result none = {
        .attempt = attempt->by_name.number, .outcome = OUTCOME_FAILED, .class = CLASS_TRANSIENT};
    code_copy(none.code, CODE_TASK_OF_ANOTHER);
    failed(engine, attempt, &none);
    if (is_late)
        (void)journal_attempt(engine, attempt);
}

static void solved(struct engine *engine, struct attempt *attempt,
                   const struct vendor_result *result, bool is_called_back)
{
    const uint64_t text_hash = task_text_hash(engine, result->text);
    if (!task_claim(engine, attempt, blob_slice(attempt->task_id), text_hash, is_called_back)) {
        /* The solution may be paid for and unused: a restart forgets texts, so this cannot be decided. */
        if (is_called_back && !task_has_text(engine, blob_slice(attempt->task_id)))
            oddity_of_attempt(engine, attempt, result);
        refuse_anothers(engine, attempt);
        return;
    }
    histogram_add(&engine->timings[TIMING_SOLVE], engine->now_ms - attempt->accepted_ms);
    withdraw_poll(engine, attempt);
    attempt_enter(attempt, ATTEMPT_SOLVED);
    attempt->text_hash = text_hash;
    if (is_stale(engine, attempt))
        receive_stale(engine, attempt, result);
    else
        receive(engine, attempt, attempt->flight, result);
}

void attempt_settle(struct engine *engine, struct attempt *attempt)
{
    const struct vendor_result result = {.outcome = OUTCOME_SOLVED, .text = attempt->partial};
    solved(engine, attempt, &result, true);
}

static void close_with(struct engine *engine, struct attempt *attempt,
                       const struct vendor_result *result)
{
    attempt_enter(attempt, ATTEMPT_SOLVED);
    attempt->text_hash = task_text_hash(engine, result->text);
    (void)journal_attempt(engine, attempt);
}

/* Keeps a paid answer that cannot be handed out: its bytes go into a letter before anything else is
 * journaled. While that letter is kept, nobody pays for the key again (undeliverable.h). */
static void undeliverable(struct engine *engine, struct attempt *attempt,
                          const struct vendor_result *result)
{
    struct flight *flight = attempt->flight;
    const struct slice code = slice_from(result->code);
    unknown_count(engine, code);
    if (flight == NULL) {
        letter_of_late_answer(engine, attempt, result);
        close_with(engine, attempt, result);
        return;
    }
    const attempt_id name = attempt->by_name.number;
    history_add(engine, flight, result->class, code);
    letter_of_answer(engine, flight, result);
    flight->is_answered = true;
    if (flight_letter(flight) == 0)
        cache_put_mistake(engine, flight, code);
    flight_fail(engine, flight, result->class, code);
    /* Closed last: a crash before this must find it open, or the flight would make another. */
    attempt = attempt_find(engine, name);
    if (attempt == NULL)
        return;
    close_with(engine, attempt, result);
    attempt_linger(engine, attempt);
}

/* Counts the payment once per attempt, however often news of it arrives. */
static void note_paid(struct engine *engine, struct attempt *attempt)
{
    if (!attempt->is_paid)
        stats_count_paid(engine, attempt, attempt->task_id, false);
    attempt->is_paid = true;
}

/* The submit's reply says that the vendor accepted it, or a callback that came before that reply. The
 * callback counts at once: a restart would lose the reply, and a flight that it ends its parameters. */
static void note_accepted(struct engine *engine, struct attempt *attempt)
{
    if (!attempt->is_paid)
        COUNT(engine, submits_accepted);
    note_paid(engine, attempt);
}

/* The submit's reply is lost for good, but a callback proves that the vendor accepted it. */
static void prove_paid(struct engine *engine, struct attempt *attempt)
{
    if (!attempt->is_paid)
        COUNT(engine, submits_proven);
    note_paid(engine, attempt);
}

static void alert_about(struct engine *engine, const struct attempt *attempt, enum alert_kind kind)
{
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = kind;
    action->alert.attempt = attempt->by_name.number;
}

/* Two task ids on one nonce: somebody resent our submit (docs/reliability.md, finding 5). */
static void prove_duplicate(struct engine *engine, struct attempt *attempt,
                            const char task_id[TASK_ID_MAX])
{
    if (attempt->other_task_id != NULL)
        return;
    attempt->other_task_id = blob_new(slice_from(task_id));
    (void)task_learn(engine, attempt, attempt->other_task_id);
    COUNT(engine, duplicates_proven);
    stats_count_paid(engine, attempt, attempt->other_task_id, true);
    alert_about(engine, attempt, ALERT_DUPLICATE_PROVEN);
}

/* A callback may have named the task before the submit's reply does, and perhaps another one. */
static void confirm_task(struct engine *engine, struct attempt *attempt,
                         const struct vendor_result *result)
{
    if (result->outcome != OUTCOME_ACCEPTED)
        return;
    if (attempt->task_id == NULL)
        attempt_name_task(engine, attempt, result->task_id);
    if (!task_id_is(attempt->task_id, result->task_id))
        prove_duplicate(engine, attempt, result->task_id);
}

static void accepted(struct engine *engine, struct attempt *attempt,
                     const struct vendor_result *result)
{
    confirm_task(engine, attempt, result);
    attempt->accepted_ms = engine->now_ms;
    note_accepted(engine, attempt);
    slots_on_accepted(engine);
    struct flight *flight = attempt->flight;
    if (flight == NULL) {
        /* The id tells a second task's solution from this one's, also after a restart. */
        (void)journal_attempt(engine, attempt);
        return;
    }
    slots_spend(engine, flight);
    attempt->unborn_ms = attempt->started_ms;
    (void)journal_attempt(engine, attempt);
    flight_enter(engine, flight, FLIGHT_SOLVING, attempt_first_poll_ms(engine, attempt));
}

static void ambiguous(struct engine *engine, struct attempt *attempt)
{
    COUNT(engine, submits_ambiguous);
    if (attempt->state == ATTEMPT_SENT)
        attempt_enter(attempt, ATTEMPT_AMBIGUOUS);
    breaker_on_ambiguous(engine);
    struct flight *flight = attempt->flight;
    if (flight == NULL)
        return;
    /* The submit may have been accepted, so the budget counts it until the opposite is proven. This
     * comes first: once the row says that the submit ended, a restart no longer counts it. */
    slots_spend(engine, flight);
    (void)journal_attempt(engine, attempt);
    /* A callback named the task before, so only the reply is lost. */
    if (attempt_is_working(attempt)) {
        flight_enter(engine, flight, FLIGHT_SOLVING, attempt_first_poll_ms(engine, attempt));
        return;
    }
    flight_enter(engine, flight, FLIGHT_AMBIGUOUS, retry_window_end_ms(engine, flight));
}

/* Like confirm_task(), while the rest of the answer has yet to be polled. */
static void confirm_partial(struct engine *engine, struct attempt *attempt,
                            const struct vendor_result *result)
{
    const bool is_late = attempt->flight == NULL;
    confirm_task(engine, attempt, result);
    if (!is_late)
        slots_spend(engine, attempt->flight);
    (void)journal_attempt(engine, attempt);
    rest_go_on(engine, attempt);
    if (is_late)
        attempt_linger(engine, attempt);
}

/* The task does not exist at the vendor: its flight, if any, goes on without it. */
static void proven_void(struct engine *engine, struct attempt *attempt,
                        const struct vendor_result *result)
{
    const bool is_all = attempt->flight == NULL;
    attempt_enter(attempt, ATTEMPT_VOID);
    slots_refund(engine, attempt);
    failed(engine, attempt, result);
    if (is_all)
        attempt_free(engine, attempt);
}

void attempt_on_submitted(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = attempt_find(engine, result->attempt);
    if (attempt == NULL || attempt->is_replied) {
        tell_late(engine, result);
        return;
    }
    attempt->is_replied = true;
    if (attempt_is_over(attempt)) {
        confirm_task(engine, attempt, result);
        attempt_linger(engine, attempt);
        return;
    }
    if (rest_is_due(attempt)) {
        confirm_partial(engine, attempt, result);
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
    case OUTCOME_WITHDRAWN:
        COUNT(engine, submits_not_sent);
        withdraw_on_submit(engine, attempt);
        return;
    case OUTCOME_REJECTED:
        COUNT(engine, submits_rejected);
        proven_void(engine, attempt, result);
        return;
    case OUTCOME_PENDING:
    case OUTCOME_SOLVED:
    case OUTCOME_FAILED:
    case OUTCOME_UNHEARD:
    case OUTCOME_UNDELIVERABLE:
        UNREACHABLE();
    }
    attempt_linger(engine, attempt);
}

static bool is_solution(const struct vendor_result *result)
{
    return result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_UNDELIVERABLE;
}

/* After an attempt's end only a solution for a task given up as failed is news. */
static bool is_news(const struct attempt *attempt, const struct vendor_result *result)
{
    return !attempt_is_over(attempt) || (attempt->state != ATTEMPT_SOLVED && is_solution(result));
}

static void ask_again(struct engine *engine, struct attempt *attempt, uint32_t asked_ms)
{
    struct flight *flight = attempt->flight;
    if (flight == NULL)
        attempt_linger(engine, attempt);
    else if (flight_is_riding(flight) && engine->now_ms >= stray_life_ms(engine, attempt))
        end_ride(engine, flight);
    else
        attempt_arm_next_poll(engine, flight, asked_ms);
}

/* Journals the end, so that nobody polls again after a restart. */
static void end_late(struct engine *engine, struct attempt *attempt)
{
    (void)journal_attempt(engine, attempt);
    attempt_linger(engine, attempt);
}

/* The text is there already; this poll was for the rest of the answer. */
static void hear_rest(struct engine *engine, struct attempt *attempt,
                      const struct vendor_result *result)
{
    const bool is_late = attempt->flight == NULL;
    if (result->outcome == OUTCOME_SOLVED)
        solved(engine, attempt, result, true);
    else
        rest_not_heard(engine, attempt, result);
    if (is_late)
        attempt_linger(engine, attempt);
}

void attempt_on_polled(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = attempt_find(engine, result->attempt);
    if (attempt == NULL || !attempt->is_polling) {
        tell_late(engine, result);
        return;
    }
    attempt->is_polling = false;
    if (!is_news(attempt, result)) {
        attempt_linger(engine, attempt);
        return;
    }
    if (rest_is_due(attempt)) {
        hear_rest(engine, attempt, result);
        return;
    }
    const bool is_late = attempt->flight == NULL;
    switch (result->outcome) {
    case OUTCOME_PENDING:
        /* The solution did not exist when the vendor answered, so it is younger than our question. */
        attempt->unborn_ms = attempt->asked_ms;
        ask_again(engine, attempt, 0);
        return;
    case OUTCOME_UNHEARD:
    case OUTCOME_NOT_SENT:
    case OUTCOME_WITHDRAWN:
        COUNT(engine, polls_unheard);
        ask_again(engine, attempt, result->retry_after_ms);
        return;
    case OUTCOME_SOLVED:
        health_note_missed(engine, attempt);
        solved(engine, attempt, result, false);
        if (is_late)
            attempt_linger(engine, attempt);
        return;
    case OUTCOME_UNDELIVERABLE:
        health_note_missed(engine, attempt);
        undeliverable(engine, attempt, result);
        if (is_late)
            attempt_linger(engine, attempt);
        return;
    case OUTCOME_FAILED:
        failed(engine, attempt, result);
        if (is_late)
            end_late(engine, attempt);
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
    /* The callback is acknowledged when everything it caused is durable; its record is the newest by now. */
    action->after = engine->options.has_journal ? engine->seq : 0;
    action->ack = caller;
}

static bool is_same_text(const struct engine *engine, const struct attempt *attempt,
                         const struct vendor_result *result)
{
    const uint64_t its = task_text_hash(engine, result->text);
    return its != 0 && (its == attempt->text_hash || its == attempt->partial_hash ||
                        its == task_text_hash(engine, attempt->partial));
}

/* Handles a callback for an attempt that is over: a repeat, or proof that our submit was doubled. */
static void absorb_repeat(struct engine *engine, struct attempt *attempt,
                          const struct vendor_result *result)
{
    COUNT(engine, callbacks_duplicate);
    if (!is_solution(result) || is_same_text(engine, attempt, result))
        return;
    /* Where the answer is more than a text, a callback may say less than the poll before it did. */
    const bool has_partial = attempt->partial != NULL || attempt->partial_hash != 0;
    if (attempt->wants_rest && !has_partial)
        attempt->partial_hash = task_text_hash(engine, result->text);
    else if (attempt->text_hash != 0 || has_partial)
        oddity_of_attempt(engine, attempt, result);
}

/* The callback names the task of another attempt, which gets its own callback. */
static void hear_anothers(struct engine *engine, struct attempt *attempt,
                          const struct vendor_result *result)
{
    COUNT(engine, callbacks_duplicate);
    struct blob *name = blob_new(slice_from(result->task_id));
    (void)task_learn(engine, attempt, name);
    blob_unref(name);
    if (is_solution(result))
        oddity_of_attempt(engine, attempt, result);
}

/* Two paid tasks share one nonce: the second one's solution is good, too, and is used once. */
static void hear_other_task(struct engine *engine, struct attempt *attempt,
                            const struct vendor_result *result)
{
    if (task_is_anothers(engine, attempt, slice_from(result->task_id))) {
        hear_anothers(engine, attempt, result);
        return;
    }
    prove_duplicate(engine, attempt, result->task_id);
    const bool is_third = !task_id_is(attempt->other_task_id, result->task_id);
    /* A callback that named no task may have brought this solution already. */
    const bool is_repeat =
        is_same_text(engine, attempt, result) || (!is_third && attempt->is_other_closed);
    if (is_third || is_repeat || attempt->is_restored || result->outcome != OUTCOME_SOLVED) {
        COUNT(engine, callbacks_duplicate);
        /* After a restart it is unknown whether somebody got it already: a letter keeps it. */
        if (!is_repeat && is_solution(result)) {
            attempt->is_other_closed |= !is_third;
            oddity_of_attempt(engine, attempt, result);
        }
        return;
    }
    COUNT(engine, callbacks_ok);
    attempt->is_other_closed = true;
    (void)task_claim(engine, attempt, slice_from(result->task_id),
                     task_text_hash(engine, result->text), true);
    receive(engine, attempt, NULL, result);
}

/* A callback must name the same task id as the submit's reply did. */
static bool task_id_fits(struct engine *engine, struct attempt *attempt,
                         const struct vendor_result *result)
{
    if (result->task_id[0] == '\0')
        return true;
    if (attempt->task_id == NULL) {
        attempt_name_task(engine, attempt, result->task_id);
        return true;
    }
    return task_id_is(attempt->task_id, result->task_id);
}

/* Handles a callback with neither solution nor error: a poll finds out more. If it names the task,
 * the vendor has accepted it, so it must not be paid for again. */
static void hear_nothing(struct engine *engine, struct attempt *attempt, bool is_named_now)
{
    struct flight *flight = attempt->flight;
    if (!is_named_now)
        COUNT(engine, callbacks_duplicate);
    else if (flight == NULL)
        COUNT(engine, callbacks_late);
    else
        COUNT(engine, callbacks_ok);
    if (is_named_now)
        (void)journal_attempt(engine, attempt);
    if (flight != NULL && flight->state == FLIGHT_AMBIGUOUS && attempt_is_working(attempt))
        flight_enter(engine, flight, FLIGHT_SOLVING, WHEEL_NEVER);
    const bool is_awaited = flight == NULL ? is_named_now : flight->state == FLIGHT_SOLVING;
    if (is_awaited && !attempt_is_over(attempt))
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
    if (result->outcome == OUTCOME_SOLVED && attempt->wants_rest && !attempt_is_over(attempt))
        rest_await(engine, attempt, result);
    else if (result->outcome == OUTCOME_SOLVED)
        solved(engine, attempt, result, true);
    else if (result->outcome == OUTCOME_UNDELIVERABLE)
        undeliverable(engine, attempt, result);
    else
        failed(engine, attempt, result);
}

void attempt_hear(struct engine *engine, const struct vendor_result *result)
{
    struct attempt *attempt = attempt_find(engine, result->attempt);
    const bool says_something = is_solution(result) || result->outcome == OUTCOME_FAILED;
    if (attempt != NULL && says_something)
        health_note_arrival(engine, attempt);
    const bool is_late = attempt != NULL && attempt->flight == NULL;
    const bool is_unnamed = attempt != NULL && attempt->task_id == NULL;
    const bool fits = attempt != NULL && task_id_fits(engine, attempt, result);
    /* Only the vendor knows the nonce, so a callback proves acceptance. */
    if (attempt != NULL && attempt->is_replied)
        prove_paid(engine, attempt);
    else if (attempt != NULL && (says_something || attempt->task_id != NULL))
        note_accepted(engine, attempt);
    if (attempt == NULL)
        tell_unknown(engine, result);
    else if (!fits)
        hear_other_task(engine, attempt, result);
    else if (!says_something)
        hear_nothing(engine, attempt, is_unnamed && attempt->task_id != NULL);
    else if (!is_news(attempt, result) || rest_is_due(attempt))
        absorb_repeat(engine, attempt, result);
    else
        hear_news(engine, attempt, result);
    /* Only attempt_linger() frees an attempt without a flight, if nothing more can come of it. */
    if (is_late)
        attempt_linger(engine, attempt);
}

void attempt_on_callback(struct engine *engine, const struct vendor_result *result)
{
    /* While its flight is being adopted, the callback waits in our own inbox. */
    if (engine->adopting != 0 && recovery_awaits(engine, attempt_find(engine, result->attempt)))
        tell_fact(engine, result);
    else
        attempt_hear(engine, result);
    acknowledge(engine, result->caller);
}
