#include "engine/ask.h"

#include "engine/attempt.h"
#include "engine/backlog.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/finished.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/offer.h"
#include "engine/orphan.h"
#include "engine/placed.h"
#include "engine/pool.h"
#include "engine/request.h"
#include "engine/shadow.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"
#include "engine/undeliverable.h"

/* A full table has room again soon: some flight ends every few seconds. */
#define FULL_RETRY_AFTER_MS 5000

/* ---- deciding ---------------------------------------------------------------------------- */

static enum refusal refuse_full(struct placement *placement, enum refusal refusal)
{
    placement->retry_after_ms = FULL_RETRY_AFTER_MS;
    return refusal;
}

/* A full flight still admits a client with fewer requests than its even part of the limit, so that
 * other clients cannot keep it out. */
static bool can_join(const struct engine *engine, const struct flight *flight, client_id client)
{
    const uint32_t most = engine->options.max_per_flight;
    return flight->request_count < most ||
           (engine->client_count > 1 &&
            engine->clients[client].requests < most / engine->client_count);
}

static enum refusal place_join(const struct engine *engine, const struct ask *ask,
                               struct flight *flight, enum source source,
                               struct placement *placement)
{
    if (!can_join(engine, flight, ask->client))
        return refuse_full(placement, REFUSAL_FULL_PER_FLIGHT);
    placement->kind = PLACE_JOIN;
    placement->flight = flight;
    placement->source = source;
    return REFUSAL_NONE;
}

/* Looks up the idempotency key; *is_placed tells whether the record settles the placement. */
static enum refusal place_by_idempotency(const struct engine *engine, const struct ask *ask,
                                         struct placement *placement, bool *is_placed)
{
    const struct idempotency *record =
        ask->has_idempotency ? idempotency_find(engine, &ask->idempotency, ask->client) : NULL;
    if (record == NULL) {
        const bool is_full = ask->has_idempotency && !idempotency_has_room(engine, ask->client);
        return is_full ? refuse_full(placement, REFUSAL_FULL_REQUESTS) : REFUSAL_NONE;
    }
    if (!key_equals(&record->fingerprint, &ask->key))
        return REFUSAL_MISMATCH;
    if (record->flight != NULL) {
        *is_placed = true;
        placement->is_replayed = true;
        return place_join(engine, ask, record->flight, SOURCE_IDEMPOTENT, placement);
    }
    if (idempotency_serves(engine, record)) {
        *is_placed = true;
        placement->kind = PLACE_SOLUTION;
        placement->solution = record->solution;
        placement->source = SOURCE_IDEMPOTENT;
        placement->is_replayed = true;
        return REFUSAL_NONE;
    }
    placement->is_renewed = true;
    return REFUSAL_NONE;
}

static enum refusal refuse_store(const struct engine *engine, struct placement *placement)
{
    return refuse_full(placement, engine->store_is_away ? REFUSAL_STORE_AWAY : REFUSAL_STORE);
}

/* A new flight that rides on a stray is paid for already, so neither breaker nor budget refuse it. */
static enum refusal place_ride(const struct engine *engine, const struct ask *ask,
                               struct placement *placement)
{
    if (!flight_has_room(engine, ask))
        return refuse_full(placement, REFUSAL_FULL_FLIGHTS);
    placement->source = SOURCE_DEDUP_WAIT;
    placement->is_ride = true;
    return REFUSAL_NONE;
}

/* Nothing is decided before its claim is answered: its caller waits for the store, for as long as a solve may take. */
static bool may_await_store(const struct engine *engine, const struct ask *ask)
{
    return engine->store_is_away && ask->caller != 0 && claim_is_due(engine, ask);
}

static enum refusal may_start_flight(const struct engine *engine, const struct ask *ask,
                                     struct placement *placement)
{
    if (!engine->store_is_writable && !may_await_store(engine, ask))
        return refuse_store(engine, placement);
    if (breaker_is_open(engine)) {
        placement->code = slice_from(engine->breaker.cause);
        placement->retry_after_ms = breaker_retry_after_ms(engine);
        return REFUSAL_BREAKER;
    }
    if (!flight_has_room(engine, ask))
        return refuse_full(placement, REFUSAL_FULL_FLIGHTS);
    if (!budget_has_unit(engine, ask->client) && !budget_may_come(engine, ask->client)) {
        placement->retry_after_ms = stats_ms_to_midnight(engine);
        return REFUSAL_BUDGET;
    }
    return REFUSAL_NONE;
}

/* In shadow mode only what the gateway cannot hold is refused: budget, breaker and letters are not
 * asked (docs/design.md 5.11). */
static enum refusal place_in_shadow(const struct engine *engine, const struct ask *ask,
                                    struct placement *placement)
{
    if (!engine->store_is_writable)
        return refuse_store(engine, placement);
    return flight_has_room(engine, ask) ? REFUSAL_NONE
                                        : refuse_full(placement, REFUSAL_FULL_FLIGHTS);
}

static struct flight *find_flight(const struct engine *engine, const struct ask *ask)
{
    if (ask->reuse == REUSE_SINGLE)
        return flight_find_deserted(engine, &ask->key, ask->client);
    return ask->reuse == REUSE_SHARED ? flight_find(engine, &ask->key, ask->client) : NULL;
}

enum refusal ask_place(const struct engine *engine, const struct ask *ask,
                       struct placement *placement)
{
    *placement = (struct placement){.kind = PLACE_FLIGHT, .source = SOURCE_API};
    if (engine->is_draining)
        return refuse_full(placement, REFUSAL_DRAINING);
    /* Solutions in memory are handed out even while the store cannot write, but each hand-out
     * appends a record, so the backlog limit applies. */
    if (journal_is_full(engine))
        return refuse_store(engine, placement);
    const struct client *client = &engine->clients[ask->client];
    const uint32_t address_bytes = ask->pingback == NULL ? 0 : ask->pingback->len;
    if (!finished_gives_room(engine, ask->client) ||
        !share_admits(&engine->shares.pingback_bytes, engine->client_count, ask->client,
                      address_bytes))
        return refuse_full(placement, REFUSAL_FULL_REQUESTS);
    if (client->options.requests != 0 && client->requests >= client->options.requests)
        return refuse_full(placement, REFUSAL_FULL_CLIENT);

    if (client->options.is_shadow)
        return place_in_shadow(engine, ask, placement);
    bool is_placed = false;
    const enum refusal refusal = place_by_idempotency(engine, ask, placement, &is_placed);
    if (refusal != REFUSAL_NONE || is_placed)
        return refusal;
    const struct pool *pool = pool_of(engine, ask);
    placement->solution = pool == NULL ? NULL : pool_find(pool, engine, ask);
    if (placement->solution != NULL) {
        placement->kind = PLACE_SOLUTION;
        placement->source = SOURCE_POOL;
        return REFUSAL_NONE;
    }
    placement->solution = cache_find(engine, ask);
    if (placement->solution != NULL) {
        placement->kind = PLACE_SOLUTION;
        placement->source = SOURCE_DEDUP_CACHE;
        return REFUSAL_NONE;
    }
    struct flight *flight = find_flight(engine, ask);
    if (flight != NULL)
        return place_join(engine, ask, flight, SOURCE_DEDUP_WAIT, placement);
    if (stray_find(engine, &ask->key, ask->client, ask->reuse) != NULL)
        return place_ride(engine, ask, placement);
    placement->letter = undeliverable_find(engine, &ask->key, ask->client);
    if (placement->letter != NULL) {
        placement->kind = PLACE_LETTER;
        return REFUSAL_NONE;
    }
    return may_start_flight(engine, ask, placement);
}

enum refusal ask_buy(const struct engine *engine, const struct ask *ask,
                     struct placement *placement)
{
    ASSERT(placement->kind == PLACE_LETTER);
    placement->kind = PLACE_FLIGHT;
    return may_start_flight(engine, ask, placement);
}

bool ask_would_pay(const struct placement *placement, enum refusal refusal)
{
    const bool is_nothing = placement->kind == PLACE_FLIGHT || placement->kind == PLACE_LETTER;
    return is_nothing &&
           (refusal == REFUSAL_NONE || refusal == REFUSAL_BUDGET || refusal == REFUSAL_BREAKER);
}

enum refusal ask_place_at_last(struct engine *engine, const struct ask *ask,
                               struct placement *placement)
{
    const enum refusal refusal = ask_place(engine, ask, placement);
    struct letter *letter = ask_would_pay(placement, refusal) ? orphan_find(engine, ask) : NULL;
    struct solution *given = letter == NULL ? NULL : orphan_take(engine, letter, ask->client);
    if (given == NULL)
        return refusal;
    placement->kind = PLACE_SOLUTION;
    placement->source = SOURCE_DEDUP_CACHE;
    placement->solution = placement->given = given;
    return REFUSAL_NONE;
}

/* Would a solution in memory be handed out to this request only? */
static bool is_for_one(const struct ask *ask, const struct placement *placement)
{
    const struct solution *solution = placement->solution;
    return placement->kind == PLACE_SOLUTION && placement->source != SOURCE_IDEMPOTENT &&
           !solution->is_negative && (ask->reuse != REUSE_SHARED || !solution->is_shared);
}

/* What memory has must not decide the ask, or not yet: it waits for a flight. */
static enum refusal place_anew(const struct engine *engine, const struct ask *ask,
                               struct placement *placement)
{
    const bool is_alone = ask->has_idempotency || placement->is_offered;
    struct flight *flight = is_alone ? NULL : find_flight(engine, ask);
    if (flight != NULL)
        return place_join(engine, ask, flight, SOURCE_DEDUP_WAIT, placement);
    placement->kind = PLACE_FLIGHT;
    placement->source = SOURCE_API;
    placement->solution = NULL;
    return flight_has_room(engine, ask) ? REFUSAL_NONE
                                        : refuse_full(placement, REFUSAL_FULL_FLIGHTS);
}

/* Places an ask beside other nodes, which may know its idempotency key. A request whose flight is
 * claimed needs a place to wait in, because its caller is told nothing before. */
static enum refusal place_among_others(struct engine *engine, const struct ask *ask,
                                       struct placement *placement)
{
    const bool is_claimed_first = claim_comes_first(engine, ask);
    enum refusal refusal = is_claimed_first ? ask_place(engine, ask, placement)
                                            : ask_place_at_last(engine, ask, placement);
    if ((refusal == REFUSAL_BREAKER || refusal == REFUSAL_BUDGET) && claim_may_help(engine, ask))
        refusal = place_anew(engine, ask, placement);
    if (refusal != REFUSAL_NONE)
        return refusal;
    const bool is_alone = is_for_one(ask, placement);
    placement->is_offered = is_alone && placement->solution->is_offered;
    if (is_claimed_first || placement->is_offered || (is_alone && !lease_is_valid(engine))) {
        const enum refusal full = place_anew(engine, ask, placement);
        if (full != REFUSAL_NONE)
            return full;
    }
    const bool is_answered =
        placement->kind == PLACE_SOLUTION ||
        (placement->kind == PLACE_JOIN && placement->flight->state != FLIGHT_CLAIMING);
    if (!is_answered && !request_may_wait(engine, ask->client))
        return refuse_full(placement, REFUSAL_FULL_REQUESTS);
    return REFUSAL_NONE;
}

/* ---- doing ------------------------------------------------------------------------------- */

static void count_dialect(struct engine *engine, enum dialect_kind dialect)
{
    switch (dialect) {
    case DIALECT_VENDOR:
        COUNT(engine, requests_vendor);
        return;
    case DIALECT_V1:
        COUNT(engine, requests_v1);
        return;
    case DIALECT_CREATETASK:
        COUNT(engine, requests_createtask);
        return;
    case DIALECT_NONE:
    case DIALECT_COUNT:
        return;
    }
}

static void count_look_up(struct engine *engine, const struct ask *ask,
                          const struct placement *placement)
{
    if (ask->reuse == REUSE_NONE || placement->source == SOURCE_IDEMPOTENT)
        return;
    if (placement->kind == PLACE_SOLUTION || placement->kind == PLACE_LETTER ||
        placement->is_offered)
        COUNT(engine, cache_hits);
    else
        COUNT(engine, cache_misses);
}

static void answer_from_memory(struct engine *engine, const struct ask *ask,
                               struct request *request, struct solution *solution)
{
    solution_ref(solution);
    if (solution->is_negative) {
        request_failed(engine, request, CLASS_CALLER, solution->text, 0);
    } else {
        const bool is_for_one =
            solution->handed == 0 && (ask->reuse != REUSE_SHARED || !solution->is_shared);
        if (solution->pool != NULL)
            pool_take(engine, solution->pool, solution);
        else if (request->source == SOURCE_POOL)
            pool_take(engine, pool_of(engine, ask), solution);
        else
            cache_take(engine, solution, ask->reuse);
        if (ask->has_idempotency)
            request->seq = idempotency_bind_solution(engine, ask, solution);
        /* The hand-out is journaled so that a crash cannot hand a single-use solution out again. */
        if (is_for_one)
            journal_handout(engine, request, solution);
        request_solved(engine, request, solution);
    }
    solution_unref(engine, solution);
}

static void fail_for_letter(struct engine *engine, struct request *request,
                            const struct letter *letter)
{
    request->letter = letter->number;
    request_failed(engine, request, letter->class, letter->error, 0);
}

static void reply(struct engine *engine, const struct ask *ask, struct request *request)
{
    if (request_must_wait(request))
        request_wait(engine, request, ask);
    else if (ask->is_id_told)
        request_tell(engine, request, ask->caller);
    else
        request_hold(engine, request, ask->caller, ask->hold_ms);
}

static void apply(struct engine *engine, const struct ask *ask, const struct placement *placement)
{
    struct request *request = request_new(engine, ask);
    ASSERT(request != NULL);
    const bool must_survive = ask->is_id_told || ask->pingback != NULL;
    request->source = placement->source;
    request->is_replayed = placement->is_replayed;
    request->is_renewed = placement->is_renewed;
    if (placement->kind == PLACE_SOLUTION || placement->kind == PLACE_LETTER) {
        if (placement->kind == PLACE_SOLUTION)
            answer_from_memory(engine, ask, request, placement->solution);
        else
            fail_for_letter(engine, request, placement->letter);
        if (must_survive && !request->is_journaled)
            request_journal(engine, request);
        reply(engine, ask, request);
        return;
    }
    struct flight *flight =
        placement->kind == PLACE_JOIN ? placement->flight : flight_new(engine, ask);
    ASSERT(flight != NULL);
    if (placement->kind == PLACE_JOIN && flight->state == FLIGHT_CLAIMING)
        claim_on_joined(flight, ask);
    request_join(request, engine, flight, placement->source);
    if (ask->has_idempotency)
        idempotency_bind_flight(engine, ask, flight);
    if (must_survive)
        request_journal(engine, request);
    /* Starts the flight now if a slot is free, so that the answer already says "solving". */
    slots_pump(engine);
    reply(engine, ask, request);
}

static void turn_away(struct engine *engine, const struct ask *ask,
                      const struct placement *placement, enum refusal refusal)
{
    COUNT(engine, rejected);
    TALLY(engine, ask, rejected);
    TRACE(engine, "request refused: %s", refusal_text(refusal));
    request_refuse(engine, ask->caller, refusal, placement->code, placement->retry_after_ms);
}

/* Submits at once, whatever the slots and the queue say, and lets a caller who only learns the id
 * wait for the vendor's word, as without a gateway. */
static void ask_in_shadow(struct engine *engine, const struct ask *asked)
{
    struct placement placement;
    const struct ask ask = shadow_alone(asked);
    const enum refusal refusal = ask_place(engine, &ask, &placement);
    if (refusal != REFUSAL_NONE) {
        turn_away(engine, &ask, &placement, refusal);
        return;
    }
    struct request *request = request_new(engine, &ask);
    struct flight *flight = flight_new(engine, &ask);
    ASSERT(request != NULL && flight != NULL);
    shadow_guess(engine, flight, asked);
    request_join(request, engine, flight, SOURCE_API);
    if (ask.is_id_told || ask.pingback != NULL)
        request_journal(engine, request);
    /* With a shared store nothing is submitted without the lease: the queue has it until then. */
    if (lease_is_valid(engine))
        attempt_start(engine, flight);
    if (ask.is_id_told && request_may_wait(engine, ask.client))
        request_wait(engine, request, &ask);
    else
        reply(engine, &ask, request);
}

void ask_on_ask(struct engine *engine, const struct ask *ask)
{
    struct placement placement;
    COUNT(engine, requests);
    count_dialect(engine, ask->dialect);
    TALLY(engine, ask, requests);
    if (client_is_shadow(engine, ask->client)) {
        ask_in_shadow(engine, ask);
        return;
    }
    struct pool *pool = pool_of(engine, ask);
    if (pool != NULL && !engine->is_draining)
        pool_on_demand(engine, pool);
    const enum refusal refusal = engine->options.store_is_shared
                                     ? place_among_others(engine, ask, &placement)
                                     : ask_place_at_last(engine, ask, &placement);
    if (refusal == REFUSAL_NONE) {
        count_look_up(engine, ask, &placement);
        apply(engine, ask, &placement);
        solution_unref(engine, placement.given);
        return;
    }
    turn_away(engine, ask, &placement, refusal);
}
