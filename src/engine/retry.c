#include "engine/retry.h"

#include "engine/account.h"
#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/history.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"

/* How soon a window whose end came without a lease is looked at again. */
#define LEASE_LOOK_MS 1000

/* The client's own limits, or the engine's. */
static struct retry_options limits_of(const struct engine *engine, const struct flight *flight)
{
    const struct engine_options *options = &engine->options;
    const struct client_options *client = &engine->clients[flight->client].options;
    if (client->has_retry)
        return client->retry;
    return (struct retry_options){
        .base_ms = options->retry_base_ms,
        .cap_ms = options->retry_cap_ms,
        .busy = options->retry_busy,
        .unsolvable = options->retry_unsolvable,
        .transient = options->retry_transient,
    };
}

uint16_t retry_most_tries(const struct engine *engine, const struct flight *flight,
                          enum error_class class)
{
    const struct retry_options limits = limits_of(engine, flight);
    switch (class) {
    case CLASS_BUSY:
        return limits.busy;
    case CLASS_UNSOLVABLE:
        return limits.unsolvable;
    case CLASS_TRANSIENT:
        return limits.transient;
    case CLASS_UNKNOWN:
        return engine->options.retry_unknown;
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_AMBIGUOUS:
    case CLASS_ACCOUNT:
    case CLASS_CALLER:
    case CLASS_PROXY:
    case CLASS_TIMEOUT:
    case CLASS_COUNT:
        return 0;
    }
    UNREACHABLE();
}

uint64_t retry_backoff_ms(struct engine *engine, uint64_t base_ms, uint64_t cap_ms, unsigned tries,
                          uint32_t asked_ms)
{
    uint64_t wait = base_ms;
    for (unsigned i = 0; i < tries && wait < cap_ms; i++)
        wait *= 2;
    if (wait < asked_ms)
        wait = asked_ms;
    if (wait > cap_ms)
        wait = cap_ms;
    return wait + rand_below(&engine->rand, (uint64_t)engine->options.retry_jitter_ms + 1);
}

/* A longer wait asked for by the vendor or the request counts, up to the cap; a request can lengthen
 * the operator's wait but not shorten it. */
static uint64_t backoff_ms(struct engine *engine, const struct flight *flight, unsigned tries,
                           uint32_t asked_ms)
{
    const struct retry_options limits = limits_of(engine, flight);
    const uint32_t base_ms =
        flight->retry_delay_ms > limits.base_ms ? flight->retry_delay_ms : limits.base_ms;
    return retry_backoff_ms(engine, base_ms, limits.cap_ms, tries, asked_ms);
}

/* A wait beyond the deadline would be in vain. */
static bool is_in_time(const struct engine *engine, const struct flight *flight, uint64_t wait_ms)
{
    return engine->now_ms + wait_ms < flight->deadline.due_ms;
}

/* A failed refill is not retried, because retries go before newcomers in the queue; its pool starts
 * another when nobody waits. */
static bool is_tried_again(const struct engine *engine, const struct flight *flight)
{
    return flight_is_wanted(flight) && flight->pool == NULL &&
           !client_is_gone(engine, flight->client);
}

/* Every further submit counts, whatever its cause. */
static bool wants_another(const struct flight *flight)
{
    return !flight->has_max_retries || flight->attempts - flight->earlier <= flight->max_retries;
}

static bool may_try_again(struct engine *engine, const struct flight *flight,
                          enum error_class class)
{
    return is_tried_again(engine, flight) && wants_another(flight) &&
           flight_tries(flight, class) < retry_most_tries(engine, flight, class) &&
           slots_can_reserve(engine, flight) && stats_retry_allowed(engine);
}

/* Journals the reason, so that a restart does not take the next attempt for the first. */
static void note_reason(struct engine *engine, struct flight *flight)
{
    if (flight->is_journaled)
        journal_flight(engine, flight);
}

static void try_again(struct engine *engine, struct flight *flight,
                      const struct vendor_result *result)
{
    const enum error_class class = result->class;
    const bool is_at_once = class == CLASS_UNSOLVABLE;
    const uint64_t wait = is_at_once ? 0
                                     : backoff_ms(engine, flight, flight_tries(flight, class),
                                                  result->retry_after_ms);
    if (budget_is_stale(engine, flight))
        slots_unreserve(engine, flight);
    if (!may_try_again(engine, flight, class) || !is_in_time(engine, flight, wait)) {
        flight->retry_after_ms = result->retry_after_ms;
        flight_fail(engine, flight, class, slice_from(result->code));
        return;
    }
    aside_of(engine, flight)->tries[class]++;
    stats_note_retry(engine);
    slots_reserve(engine, flight);
    TRACE(engine, "flight %u tries again after %llu ms: %s", flight->number,
          (unsigned long long)wait, result->code);
    note_reason(engine, flight);
    if (is_at_once)
        budget_queue(engine, flight);
    else
        flight_enter(engine, flight, FLIGHT_BACKING_OFF, engine->now_ms + wait);
}

/* The vendor uses one code for "no free threads" and "no money" (docs/protocol.md 3a): the flight
 * backs off as if busy while a free probe finds out which it is. */
static void await_verdict(struct engine *engine, struct flight *flight,
                          const struct vendor_result *result)
{
    struct vendor_result as_busy = *result;
    as_busy.class = CLASS_BUSY;
    flight->verdict = engine->verdict_number;
    if (!engine->probes[PROBE_THREADS].is_asked)
        engine->verdict_slots = 0;
    if (engine->verdict_slots < engine->slots_used)
        engine->verdict_slots = engine->slots_used;
    account_probe(engine, PROBE_THREADS);
    slots_on_busy(engine);
    try_again(engine, flight, &as_busy);
    /* The flight failed and can no longer wait for the verdict, but all other flights depend on it. */
    if (flight->state == FLIGHT_FAILED)
        engine->is_verdict_due = true;
}

void retry_or_fail(struct engine *engine, struct flight *flight, const struct vendor_result *result)
{
    blob_unref(flight->error);
    flight->error = blob_new(slice_from(result->code));
    flight->error_class = result->class;
    /* Any verdict that the flight waited for was about an earlier attempt. */
    flight->verdict = 0;
    switch (result->class) {
    case CLASS_BUSY:
        slots_on_busy(engine);
        try_again(engine, flight, result);
        return;
    case CLASS_UNSOLVABLE:
    case CLASS_TRANSIENT:
    case CLASS_UNKNOWN:
        try_again(engine, flight, result);
        return;
    case CLASS_ACCOUNT:
        if (result->is_short) {
            await_verdict(engine, flight, result);
            return;
        }
        breaker_open(engine, CLASS_ACCOUNT, slice_from(result->code), false);
        flight->retry_after_ms = breaker_retry_after_ms(engine);
        flight_fail(engine, flight, CLASS_ACCOUNT, slice_from(result->code));
        return;
    case CLASS_CALLER:
        cache_put_mistake(engine, flight, slice_from(result->code));
        flight_fail(engine, flight, CLASS_CALLER, slice_from(result->code));
        return;
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_AMBIGUOUS:
    case CLASS_PROXY:
    case CLASS_TIMEOUT:
    case CLASS_COUNT:
        flight_fail(engine, flight, result->class, slice_from(result->code));
        return;
    }
    UNREACHABLE();
}

/* The queue can wait for an ambiguity storm to pass, but an unavailable account does not recover by itself. */
static bool is_hopeless(const struct engine *engine)
{
    return breaker_is_open(engine) && engine->breaker.cause_class == CLASS_ACCOUNT;
}

void retry_note_own_solve(struct engine *engine, struct flight *flight)
{
    struct list *first = list_first(&flight->requests);
    if (first == NULL)
        return;
    struct request *request = CONTAINER_OF(first, struct request, link);
    if (request->source != SOURCE_DEDUP_WAIT)
        return;
    request->source = SOURCE_API;
    if (request->is_journaled)
        journal_request(engine, request);
}

void retry_after_ride(struct engine *engine, struct flight *flight, enum error_class class,
                      struct slice code)
{
    blob_unref(flight->error);
    flight->error = blob_new(code);
    flight->error_class = class;
    /* The flight's own deadline ended the ride, so nothing may follow. */
    const bool is_late = !flight->deadline.is_armed;
    /* A clock that was set while the program was down makes its own attempt look like a ride. */
    if (is_late || !wants_another(flight) || !is_tried_again(engine, flight) ||
        !slots_can_reserve(engine, flight) || is_hopeless(engine)) {
        flight_fail(engine, flight, class, code);
        return;
    }
    retry_note_own_solve(engine, flight);
    slots_reserve(engine, flight);
    note_reason(engine, flight);
    TRACE(engine, "flight %u goes on alone: %s", flight->number, flight->error->data);
    budget_queue(engine, flight);
}

uint64_t retry_window_end_ms(struct engine *engine, const struct flight *flight)
{
    const uint64_t window_ms = engine->options.ambiguity_window_ms;
    const uint64_t end_ms = flight->attempt->started_ms + window_ms;
    /* A window as long as the first pause is enough of one: the operator chose it. */
    if (!engine->options.resend_ambiguous || window_ms >= limits_of(engine, flight).base_ms)
        return end_ms;
    const unsigned tries = flight->attempt->number - 1U;
    const uint64_t pause_ms = engine->now_ms + backoff_ms(engine, flight, tries, 0);
    return pause_ms > end_ms ? pause_ms : end_ms;
}

void retry_after_window(struct engine *engine, struct flight *flight)
{
    /* A fact that came in time may wait in the inbox, which is read with the next beat. */
    if (!lease_is_valid(engine)) {
        wheel_arm(&engine->wheel, &flight->phase, engine->now_ms + LEASE_LOOK_MS);
        return;
    }
    const bool is_riding = flight_is_riding(flight);
    history_add(engine, flight, CLASS_AMBIGUOUS, CODE_AMBIGUOUS_SUBMIT);
    const bool may_resend = engine->options.resend_ambiguous && is_tried_again(engine, flight) &&
                            wants_another(flight) && slots_can_reserve(engine, flight) &&
                            !is_hopeless(engine);
    attempt_enter(flight->attempt, ATTEMPT_UNCONFIRMED);
    flight->attempt->is_resent = may_resend;
    attempt_let_go(engine, flight->attempt);
    if (!may_resend) {
        /* Nobody here wants it sent again, but those who follow it at other nodes may. */
        if (engine->options.resend_ambiguous && !flight_is_wanted(flight))
            claim_end(engine, flight, NULL, CLASS_NONE, SLICE_NONE);
        flight_fail(engine, flight, CLASS_AMBIGUOUS, CODE_AMBIGUOUS_SUBMIT);
        return;
    }
    blob_unref(flight->error);
    flight->error = blob_new(CODE_AMBIGUOUS_SUBMIT);
    flight->error_class = CLASS_AMBIGUOUS;
    COUNT(engine, resends);
    stats_note_retry(engine);
    if (is_riding)
        retry_note_own_solve(engine, flight);
    slots_reserve(engine, flight);
    note_reason(engine, flight);
    TRACE(engine, "flight %u resends: not confirmed within the window", flight->number);
    budget_queue(engine, flight);
}

void retry_judge(struct engine *engine, bool is_account)
{
    if (is_account)
        breaker_open(engine, CLASS_ACCOUNT, CODE_NO_MEANS, true);
    engine->is_verdict_due = false;
    engine->verdict_number++;
    engine->verdict_waits = 0;
}
