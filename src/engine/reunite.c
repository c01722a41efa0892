#include "engine/reunite.h"

#include "engine/aside.h"
#include "engine/cache.h"
#include "engine/claim.h"
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
    const struct attempt stand_in = {.by_key.key = solution->node.key,
                                     .client = solution->client,
                                     .type = solution->type,
                                     .task_id = solution->task_id};
    struct solution *copy = solution_new(engine, &stand_in, solution->text, solution->extra);
    copy->uid = journal_uid(engine);
    copy->attempt = solution->attempt;
    copy->born_ms = solution->born_ms;
    copy->expires_ms = solution->expires_ms;
    copy->solve_ms = solution->solve_ms;
    copy->handed = solution->handed + (solution->handed == 0);
    copy->attempts = solution->attempts;
    copy->is_shared = solution->is_shared;
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
                   struct restored_flight *restored)
{
    struct flight *ours = idempotency_adopt(engine, row, restored->flight);
    if (ours == NULL)
        return;
    restored->follower = ours->id;
    ours->is_merging = reunite_can(ours);
}

/* A flight that was restored itself, and has not gone on, does not do so any more. */
static bool take_follower(struct engine *engine, const struct flight *follower)
{
    struct restored_flight *restored =
        follower->state == FLIGHT_NEW && follower->attempt == NULL && follower->claim == 0
            ? find_flight_row(engine->recovery, follower->uid)
            : NULL;
    if (restored == NULL || restored->flight != follower)
        return reunite_can(follower);
    restored->flight = NULL;
    return true;
}

static void take_in(struct engine *engine, struct restored_flight *restored)
{
    struct flight *follower =
        restored->follower == 0 ? NULL : slab_get(&engine->flights, restored->follower);
    restored->max_age_ms = UINT32_MAX;
    if (follower == NULL || !take_follower(engine, follower))
        return;
    if (reunite_can(follower)) {
        restored->min_ttl_ms = aside_of(engine, follower)->min_ttl_ms;
        restored->max_age_ms = aside_of(engine, follower)->max_age_ms;
    }
    follow_merge(engine, follower, restored->flight);
    idempotency_rewrite_all(engine, restored->flight);
}

static bool go_on_by_key(struct engine *engine, const struct restored_flight *restored)
{
    struct flight *flight = restored->flight;
    const struct idempotency *record =
        restored->has_idempotency ? idempotency_find(engine, &restored->idempotency, flight->client)
                                  : NULL;
    if (record == NULL || record->flight == flight || flight->attempt != NULL || flight->claim != 0)
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

void reunite(struct engine *engine, struct restored_flight *restored)
{
    if (restored->flight == NULL || restored->is_merged)
        return;
    take_in(engine, restored);
    if (restored->flight->state == FLIGHT_NEW && go_on_by_key(engine, restored))
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
