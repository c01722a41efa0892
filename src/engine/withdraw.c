#include "engine/withdraw.h"

#include "engine/attempt.h"
#include "engine/budget.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/notice.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/stray.h"

static void withdraw(struct engine *engine, const struct attempt *attempt, bool is_poll)
{
    struct action *action = engine_push(engine, ACTION_WITHDRAW);
    action->withdrawal.attempt = attempt->by_name.number;
    action->withdrawal.is_poll = is_poll;
}

void withdraw_submit(struct engine *engine, const struct attempt *attempt)
{
    /* A callback proves that the submit was sent. */
    if (!attempt->is_replied && !attempt_is_over(attempt))
        withdraw(engine, attempt, false);
}

void withdraw_poll(struct engine *engine, const struct attempt *attempt)
{
    if (attempt->is_polling)
        withdraw(engine, attempt, true);
}

/* The withdrawn submit was never sent, so the next one takes over its number and reason, also if
 * another flight made it. */
static void uncount(struct engine *engine, struct flight *flight, const struct attempt *attempt)
{
    const bool is_anothers = flight_is_riding(flight);
    uint16_t count = flight->attempts_before;
    if (count < attempt->number - 1)
        count = (uint16_t)(attempt->number - 1);
    if (is_anothers)
        flight->earlier = (uint16_t)(flight->earlier - (flight->attempts - count));
    flight->attempts = count;
    if (!is_anothers || flight->error != NULL || attempt->cause == NULL)
        return;
    flight->error = blob_ref(attempt->cause);
    flight->error_class = attempt->cause_class;
    journal_flight(engine, flight);
}

void withdraw_on_submit(struct engine *engine, struct attempt *attempt)
{
    struct flight *flight = attempt->flight;
    attempt_enter(attempt, ATTEMPT_VOID);
    slots_refund(engine, attempt);
    if (flight == NULL) {
        attempt_free(engine, attempt);
        return;
    }
    const bool is_riding = flight_is_riding(flight);
    uncount(engine, flight, attempt);
    attempt_let_go(engine, attempt);
    /* The stray was paid for by another flight, possibly of another client, so this flight may have
     * no budget of its own. */
    if (!slots_can_reserve(engine, flight) && flight_is_wanted(flight)) {
        flight_fail(engine, flight, CLASS_ACCOUNT, CODE_NO_MEANS);
        return;
    }
    if (is_riding)
        retry_note_own_solve(engine, flight);
    if (slots_can_reserve(engine, flight))
        slots_reserve(engine, flight);
    /* Queues the flight again without losing its turn. */
    budget_queue(engine, flight);
    flight_abandon(engine, flight);
}

bool engine_wants(const struct engine *engine, const struct action *action)
{
    if (action->kind == ACTION_NOTIFY)
        return notice_is_due(engine, action->notify.request);
    if (action->kind != ACTION_SUBMIT && action->kind != ACTION_POLL)
        return true;
    const struct attempt *attempt = attempt_find(engine, action->call.attempt);
    if (attempt == NULL)
        return false;
    if (action->kind == ACTION_POLL)
        return attempt->is_polling && !attempt_is_over(attempt);
    return !engine->is_stopped && !engine->is_fenced && lease_is_valid(engine) &&
           attempt->flight != NULL && flight_is_wanted(attempt->flight);
}

void engine_stop_submits(struct engine *engine)
{
    engine->is_stopped = true;
}

void engine_forgo_submit(struct engine *engine, attempt_id name)
{
    struct attempt *attempt = attempt_find(engine, name);
    ASSERT(engine->is_stopped);
    if (attempt == NULL || attempt->is_replied)
        return;
    attempt->is_replied = true;
    COUNT(engine, submits_not_sent);
    withdraw_on_submit(engine, attempt);
}
