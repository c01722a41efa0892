#include "engine/late.h"

#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/letters.h"
#include "engine/offer.h"
#include "engine/vigil.h"

/* Finds the flight that a late solution serves: the one that made the attempt, if it is trying
 * again, else one with the same key, for which the solution must not be stale. */
static struct flight *find_waiting(const struct engine *engine, const struct attempt *attempt,
                                   const struct solution *solution)
{
    struct flight *own = attempt_origin(engine, attempt);
    if (own != NULL && own->is_in_table)
        return own;
    if (attempt->reuse != REUSE_SHARED || solution->expires_ms <= engine->now_ms)
        return NULL;
    return flight_find(engine, attempt_key(attempt), attempt->client);
}

/* Nobody can ask for the solution: its client is gone, or an older version's row has no key. */
static bool is_orphan(const struct engine *engine, const struct attempt *attempt)
{
    static const struct key zeros = {{0}};
    return client_is_gone(engine, attempt->client) || key_equals(attempt_key(attempt), &zeros);
}

void late_place(struct engine *engine, const struct attempt *attempt, struct solution *solution)
{
    struct flight *flight = find_waiting(engine, attempt, solution);
    if (flight != NULL) {
        flight_solve(engine, flight, solution);
        return;
    }
    if (is_orphan(engine, attempt)) {
        const struct ask ask = {.reuse = attempt->reuse, .is_one_time = attempt->is_one_time};
        letter_of_orphan(engine, solution, &ask);
        /* The letter's row is the only one; the solution has none to drop. */
        solution->uid = 0;
        return;
    }
    cache_bank(engine, solution, attempt->reuse == REUSE_SHARED, attempt->is_one_time);
    offer_make(engine, solution);
    if (!solution->is_offered)
        journal_solution(engine, solution);
}
