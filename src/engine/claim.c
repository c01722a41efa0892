#include "engine/claim.h"

#include "engine/aside.h"
#include "engine/bad.h"
#include "engine/breaker.h"
#include "engine/cache.h"
#include "engine/flight_name.h"
#include "engine/flight_table.h"
#include "engine/follow.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/offer.h"
#include "engine/placed.h"
#include "engine/pool.h"
#include "engine/reclaim.h"
#include "engine/recover.h"
#include "engine/request.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"
#include "engine/vigil.h"

#define ASK_AGAIN_MS FOLLOW_ASK_MS

/* ---- asking ------------------------------------------------------------------------------ */

/* Refills of pools are nobody's: caller is 0, and there is no idempotency key. */
bool claim_is_due(const struct engine *engine, const struct ask *ask)
{
    return engine->options.store_is_shared && (ask->reuse == REUSE_SHARED || ask->has_idempotency ||
                                               (ask->reuse == REUSE_SINGLE && ask->caller != 0));
}

bool claim_comes_first(const struct engine *engine, const struct ask *ask)
{
    if (!engine->options.store_is_shared || !ask->has_idempotency)
        return false;
    const struct idempotency *record = idempotency_find(engine, &ask->idempotency, ask->client);
    return record == NULL || (record->flight == NULL && !idempotency_serves(engine, record));
}

bool claim_may_help(const struct engine *engine, const struct ask *ask)
{
    const bool is_enough =
        engine->vain_count >= CLAIMS_IN_VAIN_MOST && engine->vain_second == engine->now_ms / 1000;
    return claim_is_due(engine, ask) && !engine->store_is_away && lease_is_valid(engine) &&
           !is_enough;
}

/* A client that goes on asking while nothing may be paid for must not cost the store a claim each time. */
static void note_vain(struct engine *engine)
{
    const uint64_t second = engine->now_ms / 1000;
    engine->vain_count = second == engine->vain_second ? engine->vain_count + 1 : 1;
    engine->vain_second = second;
}

/* Only a shared key has one flight. Otherwise the idempotency key is what may have only one. */
static void push_claim(struct engine *engine, struct flight *flight, const struct key *digest)
{
    flight->is_woken = false;
    if (!lease_is_valid(engine)) {
        lease_await_claim(engine, flight);
        return;
    }
    struct claim *claim = &engine_push(engine, ACTION_CLAIM)->claim;
    claim->flight = flight->uid;
    claim->ticket = flight_id(engine, flight);
    claim->following = flight->aside->followed;
    claim->client = flight->client;
    claim->reuse = flight->reuse;
    claim->pool = flight->aside->pool_asked;
    claim->min_ttl_ms = flight->aside->min_ttl_ms;
    claim->max_age_ms = flight->aside->max_age_ms;
    claim->key = flight->node.key;
    claim->has_name = flight->reuse == REUSE_SHARED || digest != NULL;
    if (claim->has_name)
        claim->name = flight->reuse == REUSE_SHARED ? flight->node.key : *digest;
    claim->has_idempotency = digest != NULL;
    if (digest != NULL)
        claim->idempotency = *digest;
    offer_propose(engine, flight, claim);
    flight->is_asking = true;
}

void claim_begin(struct engine *engine, struct flight *flight, const struct ask *ask)
{
    struct aside *aside = aside_of(engine, flight);
    aside->min_ttl_ms = ask->min_ttl_ms;
    aside->max_age_ms = ask->max_age_ms;
    aside->pool_asked = ask->pool;
    aside->may_take = offer_may_take(engine, ask);
    /* Nobody joins a flight whose idempotency key may turn out to mean something else, or which may get what only one
     * may have. */
    if (ask->has_idempotency || (aside->may_take && ask->reuse == REUSE_SHARED))
        flight_table_hide(engine, flight);
    flight_enter(engine, flight, FLIGHT_CLAIMING, WHEEL_NEVER);
    push_claim(engine, flight, ask->has_idempotency ? &ask->idempotency : NULL);
}

/* The idempotency key that is part of the claim. A follower's own key is bound already, and its
 * flight may have got more of them by then. */
static const struct key *digest_of(struct flight *flight)
{
    struct list *first = list_first(&flight->idempotency);
    if (first == NULL)
        return NULL;
    const struct idempotency *record = CONTAINER_OF(first, struct idempotency, link);
    const bool is_bound = flight->reuse == REUSE_SHARED && flight->state == FLIGHT_FOLLOWING &&
                          !record->is_unconfirmed;
    return is_bound ? NULL : &record->node.key;
}

void claim_send_again(struct engine *engine, struct flight *flight)
{
    if (!flight->is_asking && !flight->is_merging)
        push_claim(engine, flight, digest_of(flight));
}

bool claim_resume(struct engine *engine, struct flight *flight)
{
    const bool is_due = engine->options.store_is_shared && flight_claim(flight) == 0 &&
                        (flight->reuse == REUSE_SHARED || !list_is_empty(&flight->idempotency));
    if (!is_due)
        return false;
    const struct key *digest = digest_of(flight);
    (void)aside_of(engine, flight);
    /* As if it was asked for now: the key may mean something else by then. */
    if (digest != NULL && flight->is_in_table)
        flight_table_hide(engine, flight);
    flight_enter(engine, flight, FLIGHT_CLAIMING, WHEEL_NEVER);
    push_claim(engine, flight, digest);
    return true;
}

/* Whoever joins may want a fresher solution than the one that the claim finds. */
void claim_on_joined(struct flight *flight, const struct ask *ask)
{
    if (flight->aside->min_ttl_ms < ask->min_ttl_ms)
        flight->aside->min_ttl_ms = ask->min_ttl_ms;
    if (flight->aside->max_age_ms > ask->max_age_ms)
        flight->aside->max_age_ms = ask->max_age_ms;
}

/* ---- releasing --------------------------------------------------------------------------- */

static struct release *push_release(struct engine *engine, const struct key *name, uint64_t claim)
{
    struct release *release = &engine_push(engine, ACTION_RELEASE)->release;
    release->flight = claim;
    release->name = *name;
    return release;
}

void claim_release_lost(struct engine *engine, const struct key *name, uint64_t claim)
{
    (void)push_release(engine, name, claim);
}

/* Passes the claim to a stray of the key, if there is one. */
static bool pass_to_stray(struct engine *engine, const struct key *key, client_id client,
                          uint64_t claim)
{
    struct attempt *stray = stray_find(engine, key, client, REUSE_SHARED);
    if (stray == NULL || stray->vigil->claim != 0)
        return false;
    stray->vigil->claim = claim;
    return true;
}

const struct key *claim_name_of(struct flight *flight)
{
    if (flight->reuse == REUSE_SHARED)
        return &flight->node.key;
    struct list *first = list_first(&flight->idempotency);
    ASSERT(first != NULL);
    return &CONTAINER_OF(first, struct idempotency, link)->node.key;
}

void claim_end(struct engine *engine, struct flight *flight, const struct solution *solution,
               enum error_class class, struct slice code)
{
    const uint64_t claim = flight_claim(flight);
    flight->is_asking = false;
    if (claim == 0)
        return;
    flight->aside->claim = 0;
    const bool is_kept = flight->reuse == REUSE_SHARED &&
                         pass_to_stray(engine, &flight->node.key, flight->client, claim);
    if (is_kept && solution == NULL)
        return;
    struct release *release = push_release(engine, claim_name_of(flight), claim);
    release->solution = solution == NULL ? 0 : solution->uid;
    release->is_kept = is_kept;
    release->attempts = flight->attempts;
    release->class = class;
    code_copy(release->code, code);
    /* Only the vendor's word is remembered. What was never submitted failed for reasons of this gateway. */
    if (class == CLASS_CALLER && flight->attempts > 0)
        release->keep_ms = engine->options.caller_error_ttl_ms;
}

void claim_leave_stray(struct engine *engine, struct attempt *attempt)
{
    const uint64_t claim = attempt->vigil->claim;
    attempt->vigil->claim = 0;
    if (claim != 0 && !pass_to_stray(engine, attempt_key(attempt), attempt->client, claim))
        (void)push_release(engine, attempt_key(attempt), claim);
}

/* ---- results ----------------------------------------------------------------------------- */

/* The flight that asked has ended: nothing that the store gave it may be lost. */
static void too_late(struct engine *engine, const struct claimed *claimed)
{
    COUNT(engine, late_completions);
    if (claimed->result == CLAIM_WON && claimed->has_name)
        (void)push_release(engine, &claimed->name, claimed->flight);
    if (claimed->result != CLAIM_TAKEN)
        return;
    struct solution *solution = offer_taken(engine, claimed->solution);
    if (claimed->has_idempotency) {
        /* Whoever repeats the key gets it from the store, at any node, and may have got it by now: its row stays. */
        solution->handed = 1;
        cache_put(engine, solution, false);
    } else {
        cache_bank(engine, solution, false, false);
        offer_make(engine, solution);
    }
    solution_unref(engine, solution);
}

/* Refuses everybody who was not told anything yet; for all others the flight fails. The claim, if it
 * was granted, is free for the next: another node may have the means. */
static void turn_away(struct engine *engine, struct flight *flight, enum refusal refusal,
                      uint32_t retry_after_ms, enum error_class class, struct slice code)
{
    claim_end(engine, flight, NULL, CLASS_NONE, SLICE_NONE);
    if (flight->state == FLIGHT_CLAIMING)
        flight->refusal = refusal;
    flight->retry_after_ms = retry_after_ms;
    flight_fail(engine, flight, class, code);
}

void claim_on_deadline(struct engine *engine, struct flight *flight)
{
    turn_away(engine, flight, REFUSAL_STORE_AWAY, ASK_AGAIN_MS, CLASS_TRANSIENT, CODE_STORE_AWAY);
}

static void flight_set_renewed(struct flight *flight)
{
    struct list *first = list_first(&flight->requests);
    if (first != NULL)
        CONTAINER_OF(first, struct request, link)->is_renewed = true;
}

/* Another flight of ours with the same key, which was claimed without the idempotency key. */
static struct flight *find_other(struct engine *engine, const struct flight *flight)
{
    struct flight *other = flight->reuse == REUSE_SHARED
                               ? flight_find(engine, &flight->node.key, flight->client)
                               : NULL;
    return other == flight ? NULL : other;
}

void claim_refuse_mismatch(struct engine *engine, struct flight *flight)
{
    turn_away(engine, flight, REFUSAL_MISMATCH, 0, CLASS_TRANSIENT, CODE_STORE_AWAY);
}

void claim_refuse_budget(struct engine *engine, struct flight *flight)
{
    turn_away(engine, flight, REFUSAL_BUDGET, stats_ms_to_midnight(engine), CLASS_ACCOUNT,
              CODE_NO_MEANS);
}

void claim_set_out(struct engine *engine, struct flight *flight)
{
    const struct breaker *breaker = &engine->breaker;
    const bool is_ride =
        stray_find(engine, &flight->node.key, flight->client, flight->reuse) != NULL;
    if (!is_ride && breaker_is_open(engine)) {
        note_vain(engine);
        turn_away(engine, flight, REFUSAL_BREAKER, breaker_retry_after_ms(engine),
                  breaker->cause_class, slice_from(breaker->cause));
        return;
    }
    if (!is_ride && !slots_can_reserve(engine, flight)) {
        note_vain(engine);
        claim_refuse_budget(engine, flight);
        return;
    }
    flight_set_out(engine, flight);
    if (flight->state == FLIGHT_CLAIMING)
        return;
    /* Starts the flight now if a slot is free, so that the answers already say "solving". */
    slots_pump(engine);
    flight_tell(engine, flight);
}

/* Whoever joins from now on joins the flight that has the claim. Another one of ours, without the
 * idempotency key, keeps waiting for what it asked for: it may be solved already. */
static void take_table(struct engine *engine, struct flight *flight)
{
    struct flight *other = find_other(engine, flight);
    if (other != NULL)
        flight_table_hide(engine, other);
    flight_table_show(engine, flight);
}

static void won(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    aside_of(engine, flight)->claim = claimed->has_name ? claimed->flight : 0;
    take_table(engine, flight);
    idempotency_confirm(engine, flight);
    if (claimed->is_renewed)
        flight_set_renewed(flight);
    if (flight->state == FLIGHT_FOLLOWING)
        retry_note_own_solve(engine, flight);
    claim_set_out(engine, flight);
}

/* The claim is our own: of another flight, or of a stray. */
static bool join_own(struct engine *engine, struct flight *flight)
{
    struct flight *other = find_other(engine, flight);
    if (other != NULL && flight_claim(other) != 0 &&
        flight->request_count <= engine->options.step_batch) {
        follow_merge(engine, flight, other);
        return true;
    }
    const struct attempt *stray =
        stray_find(engine, &flight->node.key, flight->client, flight->reuse);
    if (stray == NULL || stray->vigil->claim == 0)
        return false;
    flight_set_source(engine, flight, SOURCE_DEDUP_WAIT);
    take_table(engine, flight);
    claim_set_out(engine, flight);
    return true;
}

static void followed(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    if (!claimed->is_replayed)
        idempotency_confirm(engine, flight);
    if (claimed->is_own && join_own(engine, flight))
        return;
    flight_set_source(engine, flight, claimed->is_replayed ? SOURCE_IDEMPOTENT : SOURCE_DEDUP_WAIT);
    /* Who waits for what an idempotency key stands for does so alone: others of the key may get
     * another solution. */
    struct flight *other = find_other(engine, flight);
    if (other != NULL && !claimed->is_replayed &&
        flight->request_count <= engine->options.step_batch) {
        follow_merge(engine, flight, other);
        return;
    }
    if (other == NULL && !claimed->is_replayed)
        flight_table_show(engine, flight);
    follow_begin(engine, flight, claimed);
    flight_tell(engine, flight);
}

/* A solution that is too old for somebody who joined after the claim was sent. */
static bool is_too_old(const struct engine *engine, const struct flight *flight,
                       const struct claimed *claimed, const struct solution *solution)
{
    const struct ask ask = {.min_ttl_ms = flight->aside->min_ttl_ms,
                            .max_age_ms = flight->aside->max_age_ms};
    return flight->state == FLIGHT_CLAIMING && !claimed->is_replayed &&
           !solution_suits(engine, solution, &ask);
}

static enum source source_of(const struct flight *flight, const struct claimed *claimed)
{
    if (claimed->is_replayed)
        return SOURCE_IDEMPOTENT;
    if (claimed->result == CLAIM_TAKEN)
        return flight->aside->pool_asked != 0 ? SOURCE_POOL : SOURCE_DEDUP_CACHE;
    return flight->state == FLIGHT_FOLLOWING ? SOURCE_DEDUP_WAIT : SOURCE_DEDUP_CACHE;
}

/* Copies another node's solution. Only if one of our rows refers to it the copy has a row as well,
 * which says that somebody got it: nobody may take it from there. */
static struct solution *copy_of(struct engine *engine, struct flight *flight,
                                const struct solution_row *row)
{
    struct solution *copy = recover_solution(engine, row);
    const bool has_rows = flight->is_journaled || !list_is_empty(&flight->idempotency);
    copy->uid = has_rows ? journal_uid(engine) : 0;
    copy->handed += copy->handed == 0;
    return copy;
}

static void count_served(const struct engine *engine, const struct flight *flight,
                         const struct claimed *claimed)
{
    const struct ask ask = {.pool = flight->aside->pool_asked, .reuse = flight->reuse};
    struct pool *pool = pool_of(engine, &ask);
    if (claimed->result == CLAIM_TAKEN && pool != NULL)
        pool_count_taken(pool);
}

static void solved(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    const bool is_copy = claimed->result == CLAIM_SOLVED;
    /* Reported since the store found it, or its owner has not heard of that yet and wrote its row again. */
    if (is_copy && bad_is_known(engine, claimed->solution->attempt)) {
        flight->aside->followed = 0;
        wheel_arm(&engine->wheel, &flight->phase, engine->now_ms + ASK_AGAIN_MS);
        return;
    }
    struct solution *solution = is_copy ? copy_of(engine, flight, claimed->solution)
                                        : offer_taken(engine, claimed->solution);
    if (is_copy && is_too_old(engine, flight, claimed, solution)) {
        solution->uid = 0;
        solution_unref(engine, solution);
        claim_send_again(engine, flight);
        return;
    }
    solution->is_one_time = flight->is_one_time;
    if (!claimed->is_replayed)
        idempotency_confirm(engine, flight);
    flight_set_source(engine, flight, source_of(flight, claimed));
    if (claimed->is_renewed)
        flight_set_renewed(flight);
    count_served(engine, flight, claimed);
    flight->attempts = solution->attempts;
    flight_solve(engine, flight, solution);
    solution_unref(engine, solution);
}

static void refused(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    const struct slice code = slice_from(claimed->code);
    if (claimed->class == CLASS_CALLER)
        cache_put_mistake(engine, flight, code);
    flight->attempts = claimed->attempts;
    flight_fail(engine, flight, claimed->class, code);
}

void claim_on_claimed(struct engine *engine, const struct claimed *claimed)
{
    if (claimed->is_held) {
        reclaim_on_claimed(engine, claimed);
        return;
    }
    offer_on_claimed(engine, claimed);
    struct flight *flight = slab_get(&engine->flights, claimed->ticket);
    if (flight == NULL || flight->uid != claimed->flight || !flight->is_asking) {
        too_late(engine, claimed);
        return;
    }
    flight->is_asking = false;
    /* Its key is another flight's already. */
    if (flight->is_merging) {
        too_late(engine, claimed);
        return;
    }
    switch (claimed->result) {
    case CLAIM_WON:
        won(engine, flight, claimed);
        return;
    case CLAIM_FOLLOW:
        followed(engine, flight, claimed);
        return;
    case CLAIM_SOLVED:
    case CLAIM_TAKEN:
        solved(engine, flight, claimed);
        return;
    case CLAIM_MISMATCH:
        claim_refuse_mismatch(engine, flight);
        return;
    case CLAIM_REFUSED:
        refused(engine, flight, claimed);
        return;
    case CLAIM_UNAVAILABLE:
        wheel_arm(&engine->wheel, &flight->phase, engine->now_ms + ASK_AGAIN_MS);
        return;
    }
    UNREACHABLE();
}

/* ---- after a restart --------------------------------------------------------------------- */

static struct flight *find_claimer(const struct engine *engine, const struct key *name)
{
    for (struct table_node *node = table_find(&engine->flights_by_key, name); node != NULL;
         node = table_find_next(node)) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        if (flight->reuse == REUSE_SHARED && flight->state == FLIGHT_NEW)
            return flight;
    }
    struct table_node *node = table_find(&engine->idempotency_by_key, name);
    struct flight *flight =
        node == NULL ? NULL : CONTAINER_OF(node, struct idempotency, node)->flight;
    return flight == NULL || flight->state != FLIGHT_NEW ? NULL : flight;
}

void engine_restore_claim(struct engine *engine, const struct key *name, uint64_t flight)
{
    struct flight *claimer = find_claimer(engine, name);
    struct table_node *stray = table_find(&engine->strays_by_key, name);
    if (claimer != NULL)
        aside_of(engine, claimer)->claim = flight;
    else if (stray != NULL)
        CONTAINER_OF(stray, struct vigil, by_key)->claim = flight;
    else
        (void)push_release(engine, name, flight);
}
