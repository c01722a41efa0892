#include "engine/stray.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/claim.h"
#include "engine/journal.h"
#include "engine/slots.h"
#include "engine/vigil.h"

/* A stray lives for two solve timeouts: docs/design.md 5.4. */
#define LIVES 2

uint64_t stray_life_ms(const struct engine *engine, const struct attempt *attempt)
{
    return attempt->started_ms + LIVES * (uint64_t)engine->options.solve_timeout_ms;
}

uint64_t stray_until_ms(const struct engine *engine, const struct attempt *attempt)
{
    if (attempt->flight != NULL || attempt_is_over(attempt))
        return 0;
    if (attempt_is_working(attempt))
        return stray_life_ms(engine, attempt);
    /* The reply is still to come and tells whether the submit was accepted. */
    if (!attempt->is_replied)
        return WHEEL_NEVER;
    if (attempt->state == ATTEMPT_UNCONFIRMED)
        return 0;
    return attempt->started_ms + engine->options.ambiguity_window_ms;
}

static void leave_unheard(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_unheard)
        table_remove(&engine->unheard_by_key, &attempt->vigil->by_key);
    attempt->is_unheard = false;
}

bool stray_is_unheard(const struct attempt *attempt)
{
    return attempt->flight == NULL && attempt->is_replied && !attempt->is_resent &&
           !attempt_is_over(attempt) && !attempt_is_working(attempt);
}

/* After its ambiguity window an attempt may still have been accepted. */
static void update_unheard(struct engine *engine, struct attempt *attempt)
{
    if (!stray_is_unheard(attempt) || attempt->is_stray) {
        leave_unheard(engine, attempt);
        return;
    }
    if (attempt->is_unheard)
        return;
    attempt->is_unheard = true;
    table_insert(&engine->unheard_by_key, &attempt->vigil->by_key);
}

/* A single-use task stays with the client that paid for it; a shared one may be used by the clients
 * that may join its flight. */
static bool is_theirs(const struct engine *engine, const struct attempt *attempt, client_id client,
                      enum reuse reuse)
{
    return attempt->client == client || client_is_heir(engine, attempt->client, client) ||
           (reuse == REUSE_SHARED && attempt->reuse == REUSE_SHARED &&
            clients_may_share(engine, attempt->client, client));
}

const struct attempt *stray_find_unheard(const struct engine *engine, const struct flight *flight)
{
    if (flight->reuse == REUSE_NONE)
        return NULL;
    for (struct table_node *node = table_find(&engine->unheard_by_key, &flight->node.key);
         node != NULL; node = table_find_next(node)) {
        const struct attempt *attempt = CONTAINER_OF(node, struct vigil, by_key)->attempt;
        if (is_theirs(engine, attempt, flight->client, flight->reuse))
            return attempt;
    }
    return NULL;
}

void stray_leave(struct engine *engine, struct attempt *attempt)
{
    leave_unheard(engine, attempt);
    if (!attempt->is_stray)
        return;
    attempt->is_stray = false;
    table_remove(&engine->strays_by_key, &attempt->vigil->by_key);
    slots_give_back_of_stray(engine, attempt);
    if (attempt->vigil->claim != 0)
        claim_leave_stray(engine, attempt);
}

void stray_update(struct engine *engine, struct attempt *attempt)
{
    const bool is_one = stray_until_ms(engine, attempt) > engine->now_ms;
    if (!is_one)
        stray_leave(engine, attempt);
    if (is_one && !attempt->is_stray) {
        leave_unheard(engine, attempt);
        attempt->is_stray = true;
        table_insert(&engine->strays_by_key, &attempt->vigil->by_key);
        slots_take_for_stray(engine, attempt);
    }
    update_unheard(engine, attempt);
}

struct attempt *stray_find(const struct engine *engine, const struct key *key, client_id client,
                           enum reuse reuse)
{
    if (reuse == REUSE_NONE)
        return NULL;
    for (struct table_node *node = table_find(&engine->strays_by_key, key); node != NULL;
         node = table_find_next(node)) {
        struct attempt *attempt = CONTAINER_OF(node, struct vigil, by_key)->attempt;
        if (is_theirs(engine, attempt, client, reuse) &&
            stray_until_ms(engine, attempt) > engine->now_ms)
            return attempt;
    }
    return NULL;
}

/* A stray may not have been polled for long, so it is polled at once, but within the usual interval. */
static uint64_t next_poll_ms(const struct engine *engine, const struct attempt *attempt)
{
    const struct engine_options *options = &engine->options;
    uint64_t next_ms = attempt->accepted_ms + options->poll_first_ms[attempt->type];
    if (attempt->asked_ms != 0 && next_ms < attempt->asked_ms + options->poll_interval_ms)
        next_ms = attempt->asked_ms + options->poll_interval_ms;
    return next_ms > engine->now_ms ? next_ms : engine->now_ms;
}

static void enter_its_state(struct engine *engine, struct flight *flight,
                            const struct attempt *attempt)
{
    if (!attempt->is_replied)
        flight_enter(engine, flight, FLIGHT_SUBMITTING, WHEEL_NEVER);
    else if (!attempt_is_working(attempt))
        flight_enter(engine, flight, FLIGHT_AMBIGUOUS,
                     attempt->started_ms + engine->options.ambiguity_window_ms);
    else
        flight_enter(engine, flight, FLIGHT_SOLVING,
                     attempt->is_polling ? WHEEL_NEVER : next_poll_ms(engine, attempt));
}

void stray_ride(struct engine *engine, struct flight *flight, struct attempt *attempt)
{
    ASSERT(flight->attempt == NULL && attempt->flight == NULL);
    TRACE(engine, "flight %u rides on a task that is paid for", flight->number);
    COUNT(engine, rides);
    /* A task for one request only is no longer what others wait for. */
    if (attempt->vigil->claim != 0 && flight->reuse == REUSE_SHARED) {
        aside_of(engine, flight)->claim = attempt->vigil->claim;
        attempt->vigil->claim = 0;
    }
    stray_leave(engine, attempt);
    vigil_end(engine, attempt);
    attempt->flight = flight;
    attempt->is_disowned = false;
    attempt->reuse = flight->reuse;
    flight->attempt = attempt;
    flight->is_paid = true;
    flight->attempts_before = flight->attempts;
    if (flight->attempts < attempt->number) {
        flight->earlier = (uint16_t)(flight->earlier + attempt->number - flight->attempts);
        flight->attempts = attempt->number;
    }
    /* Riding costs nothing, so the reserved unit is given back. */
    slots_unreserve(engine, flight);
    if (!flight->is_journaled)
        journal_flight(engine, flight);
    (void)journal_attempt(engine, attempt);
    enter_its_state(engine, flight, attempt);
}

bool flight_is_riding(const struct flight *flight)
{
    return flight->attempt != NULL && flight->attempt->started_ms < flight->created_ms;
}
