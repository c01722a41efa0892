#include "engine/withdraw.h"

#include "engine/attempt.h"
#include "engine/notice.h"
#include "engine/slots.h"

static void withdraw(struct engine *engine, const struct attempt *attempt, bool is_poll)
{
    struct action *action = engine_push(engine, ACTION_WITHDRAW);
    action->withdrawal.attempt = attempt->name;
    action->withdrawal.is_poll = is_poll;
}

void withdraw_submit(struct engine *engine, const struct attempt *attempt)
{
    /* A callback proves that it has left. */
    if (!attempt->is_replied && !attempt->is_closed)
        withdraw(engine, attempt, false);
}

void withdraw_poll(struct engine *engine, const struct attempt *attempt)
{
    if (attempt->is_polling)
        withdraw(engine, attempt, true);
}

void withdraw_on_submit(struct engine *engine, struct attempt *attempt)
{
    struct flight *flight = attempt->flight;
    attempt->is_void = true;
    attempt->is_closed = true;
    slots_refund(engine, attempt);
    if (flight == NULL) {
        attempt_free(engine, attempt);
        return;
    }
    attempt_let_go(engine, attempt);
    /* What it rode on was another flight's to pay for. */
    if (slots_can_reserve(engine, flight))
        slots_reserve(engine, flight);
    /* It keeps its turn; and since nothing was tried, the next one is no retry. */
    flight_enter(engine, flight, FLIGHT_QUEUED, WHEEL_NEVER);
    flight->attempts--;
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
        return attempt->is_polling && !attempt->is_closed;
    return !engine->is_stopped && attempt->flight != NULL && flight_is_wanted(attempt->flight);
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
