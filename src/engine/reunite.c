#include "engine/reunite.h"

#include "engine/aside.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/flight_name.h"
#include "engine/follow.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/placed.h"
#include "engine/pool.h"

bool reunite_can(const struct flight *flight)
{
    return (flight->state == FLIGHT_CLAIMING || flight->state == FLIGHT_FOLLOWING) &&
           !flight_lacks_unit(flight);
}

/* ---- solutions ----------------------------------------------------------------------------- */

/* The requests of the flight that it was solved for name that flight in their rows, and find it by that: so whoever
 * else gets it has a row of its own, which says that somebody got it. */
static struct solution *copy_of(struct engine *engine, const struct solution *solution)
{
    const struct birth birth = {.key = &solution->node.key,
                                .client = solution->client,
                                .type = solution->type,
                                .task_id = solution->task_id};
    struct solution *copy = solution_new(engine, &birth, solution->text, solution->extra);
    copy->uid = journal_uid(engine);
    copy->attempt = solution->attempt;
    copy->born_ms = solution->born_ms;
    copy->expires_ms = solution->expires_ms;
    copy->solve_ms = solution->solve_ms;
    copy->handed = solution->handed + (solution->handed == 0);
    copy->attempts = solution->attempts;
    copy->is_shared = solution->is_shared;
    copy->is_bad = solution->is_bad;
    copy->is_one_time = solution->is_one_time;
    return copy;
}

/* Somebody has a copy: a single-use one is nobody else's any more. */
static void use(struct engine *engine, struct solution *solution)
{
    if (solution->is_shared || solution->handed > 0)
        return;
    if (solution->pool != NULL)
        pool_take(engine, solution->pool, solution);
    else
        cache_take(engine, solution, REUSE_SINGLE);
    journal_solution(engine, solution);
}

static void solve(struct engine *engine, struct flight *flight, struct solution *solution)
{
    struct solution *copy = copy_of(engine, solution);
    flight_set_source(engine, flight, SOURCE_IDEMPOTENT);
    flight->attempts = copy->attempts;
    flight_solve(engine, flight, copy);
    solution_unref(engine, copy);
    use(engine, solution);
}

void reunite_refuse(struct engine *engine, const struct idempotency_row *row)
{
    struct flight *ours = idempotency_misused(engine, row);
    if (ours != NULL && reunite_can(ours))
        claim_refuse_mismatch(engine, ours);
}

void reunite_solved(struct engine *engine, const struct idempotency_row *row,
                    struct solution *solution)
{
    bool is_copied = false;
    struct flight *ours = idempotency_adopt_solution(engine, row, solution, &is_copied);
    /* One that is restored itself goes on by its key. */
    if (ours != NULL && reunite_can(ours))
        solve(engine, ours, solution);
    else if (is_copied)
        use(engine, solution);
}

/* ---- flights ------------------------------------------------------------------------------- */

void reunite_await(struct engine *engine, const struct idempotency_row *row,
                   const struct restored_flight *restored)
{
    struct flight *ours = idempotency_adopt(engine, row, restored->flight);
    /* One that is restored itself goes on by its key. */
    if (ours == NULL || !reunite_can(ours))
        return;
    ours->is_merging = true;
    gather_repeat(recovery_of(engine), flight_id(engine, ours), &row->digest);
}

/* What the key stands for may be another flight of ours, or a solution: the flight goes on as that. */
static bool go_on_by_key(struct engine *engine, struct flight *flight, const struct key *digest)
{
    const struct idempotency *record = idempotency_find(engine, digest, flight->client);
    if (record == NULL || record->flight == flight || flight->attempt != NULL ||
        flight_claim(flight) != 0)
        return false;
    if (record->flight != NULL) {
        follow_merge(engine, flight, record->flight);
        return true;
    }
    if (!idempotency_serves(engine, record))
        return false;
    flight->is_restoring = false;
    solve(engine, flight, record->solution);
    return true;
}

void reunite_repeat(struct engine *engine, const struct repeat *repeat)
{
    struct flight *flight = slab_get(&engine->flights, repeat->flight);
    if (flight == NULL)
        return;
    /* It may have ended meanwhile, and wait only for its callers to be told. */
    flight->is_merging = false;
    if (!reunite_can(flight))
        return;
    const client_id client = flight->client;
    if (go_on_by_key(engine, flight, &repeat->digest)) {
        /* A claim that came too late for it may have bound the key anew. */
        idempotency_rewrite(engine, &repeat->digest, client);
        return;
    }
    idempotency_await(engine, &repeat->digest, flight);
    claim_send_again(engine, flight);
}

static void take_in(struct engine *engine, struct restored_flight *restored)
{
    struct flight *follower =
        restored->follower == 0 ? NULL : slab_get(&engine->flights, restored->follower);
    restored->max_age_ms = UINT32_MAX;
    if (follower == NULL || !reunite_can(follower))
        return;
    restored->min_ttl_ms = aside_of(engine, follower)->min_ttl_ms;
    restored->max_age_ms = aside_of(engine, follower)->max_age_ms;
    follow_merge(engine, follower, restored->flight);
}

void reunite(struct engine *engine, struct restored_flight *restored)
{
    if (restored->flight == NULL || restored->is_merged)
        return;
    take_in(engine, restored);
    if (restored->has_idempotency && restored->flight->state == FLIGHT_NEW &&
        go_on_by_key(engine, restored->flight, &restored->idempotency))
        restored->flight = NULL;
}

void reunite_tell(struct engine *engine, struct flight *flight,
                  const struct restored_flight *restored)
{
    const struct ask wish = {.min_ttl_ms = restored->min_ttl_ms,
                             .max_age_ms = restored->max_age_ms};
    if (flight->state == FLIGHT_CLAIMING)
        claim_on_joined(flight, &wish);
    else
        flight_tell(engine, flight);
}
