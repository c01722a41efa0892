#include "engine/offer.h"

#include "engine/aside.h"
#include "engine/cache.h"
#include "engine/journal.h"
#include "engine/pool.h"
#include "engine/recover.h"

static bool is_waiting(const struct solution *solution)
{
    return (solution->is_cached || solution->pool != NULL) && !solution->is_shared &&
           !solution->is_negative && solution->handed == 0;
}

void offer_make(struct engine *engine, struct solution *solution)
{
    /* What an idempotency key stands for is not for whoever asks. */
    if (!engine->options.store_is_shared || solution->is_offered || !is_waiting(solution) ||
        !list_is_empty(&solution->records))
        return;
    solution->flight_uid = 0;
    solution->is_offered = true;
    solution->is_taken = false;
    journal_solution(engine, solution);
}

void offer_restore(struct engine *engine, struct solution *solution, const struct solution_row *row)
{
    solution->is_offered =
        engine->options.store_is_shared && row->flight == 0 && is_waiting(solution);
}

/* Its row stays, or is another's by now. */
static void lose(struct engine *engine, struct solution *solution)
{
    solution->uid = 0;
    if (solution->pool != NULL)
        pool_lose(engine, solution);
    else
        cache_drop(engine, solution);
}

void offer_forget(struct engine *engine, struct solution *solution)
{
    TRACE(engine, "an offered solution is forgotten");
    lose(engine, solution);
}

/* ---- finding ------------------------------------------------------------------------------- */

struct solution *offer_find(const struct engine *engine, const struct ask *ask)
{
    const struct pool *pool = pool_of(engine, ask);
    struct solution *found = pool == NULL ? NULL : pool_find(pool, engine, ask);
    if (found == NULL)
        found = cache_find(engine, ask);
    return found == NULL || !found->is_offered ? NULL : found;
}

static struct solution *find_cached(const struct engine *engine, const struct key *key,
                                    uint64_t uid)
{
    for (struct table_node *node = table_find(&engine->solutions_by_key, key); node != NULL;
         node = table_find_next(node)) {
        struct solution *solution = CONTAINER_OF(node, struct solution, node);
        if (solution->uid == uid)
            return solution;
    }
    return NULL;
}

static struct solution *find_pooled(const struct engine *engine, const struct key *key,
                                    uint64_t uid)
{
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        if (!key_equals(&engine->pools[i].options.key, key))
            continue;
        LIST_FOR_EACH(link, &engine->pools[i].ready) {
            struct solution *solution = CONTAINER_OF(link, struct solution, link);
            if (solution->uid == uid)
                return solution;
        }
    }
    return NULL;
}

static void lose_known(struct engine *engine, const struct key *key, uint64_t uid)
{
    struct solution *solution = find_cached(engine, key, uid);
    if (solution == NULL)
        solution = find_pooled(engine, key, uid);
    if (solution != NULL && solution->is_offered)
        lose(engine, solution);
}

/* ---- claims -------------------------------------------------------------------------------- */

/* Only a pool has something at other nodes that is for those as well who would share: for all other keys they do not
 * look, since it would cost each claim a question. Letters are replayed for an answer of their own. */
bool offer_may_take(const struct engine *engine, const struct ask *ask)
{
    if (ask->caller == 0 || ask->reuse == REUSE_NONE)
        return false;
    return ask->reuse == REUSE_SINGLE || pool_of(engine, ask) != NULL ||
           offer_find(engine, ask) != NULL;
}

/* A flight that waits for another one may have been joined by many. */
void offer_propose(struct engine *engine, const struct flight *flight, struct claim *claim)
{
    const struct ask ask = {.client = flight->client,
                            .reuse = flight->reuse,
                            .pool = flight->aside->pool_asked,
                            .min_ttl_ms = flight->aside->min_ttl_ms,
                            .max_age_ms = flight->aside->max_age_ms,
                            .key = flight->node.key};
    const struct pool *pool = pool_of(engine, &ask);
    claim->offered = pool == NULL ? ask.key : pool->options.key;
    claim->may_take = flight->reuse == REUSE_SINGLE ||
                      (flight->aside->may_take && flight->state == FLIGHT_CLAIMING);
    struct solution *solution = claim->may_take ? offer_find(engine, &ask) : NULL;
    if (solution == NULL)
        return;
    solution->is_proposed = true;
    claim->solution = solution->uid;
    claim->proposal = slab_id_of(&engine->solutions, solution);
}

static void tell_owner(struct engine *engine, const struct claimed *claimed)
{
    struct action *action = engine_push(engine, ACTION_TELL);
    action->after = ++engine->seq;
    action->tell.kind = FACT_TAKEN;
    action->tell.number = journal_number(engine);
    action->tell.errand.to = claimed->owner;
    action->tell.taken.key = claimed->solution->key;
    action->tell.taken.solution = claimed->solution->id;
}

void offer_on_claimed(struct engine *engine, const struct claimed *claimed)
{
    struct solution *proposed = slab_get(&engine->solutions, claimed->proposal);
    if (proposed != NULL)
        proposed->is_proposed = false;
    /* While rows are written again, the store may only not have it yet. */
    if (proposed != NULL && claimed->is_lost && proposed->is_offered && engine->rewriting == 0)
        lose(engine, proposed);
    if (claimed->result != CLAIM_TAKEN)
        return;
    lose_known(engine, &claimed->solution->key, claimed->solution->id);
    if (claimed->owner != 0 && engine->options.store_adopts)
        tell_owner(engine, claimed);
}

struct solution *offer_taken(struct engine *engine, const struct solution_row *row)
{
    struct solution *solution = recover_solution(engine, row);
    solution->handed = 0;
    solution->is_taken = true;
    return solution;
}

void offer_on_told(struct engine *engine, const struct taken_solution *taken)
{
    lose_known(engine, &taken->key, taken->solution);
}
