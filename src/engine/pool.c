#include "engine/pool.h"

#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/divide.h"
#include "engine/journal.h"
#include "engine/kept.h"
#include "engine/offer.h"
#include "engine/slots.h"
#include "engine/undeliverable.h"

#include <stdlib.h>

/* A replacement is started this long before a solution becomes too old to hand out. */
#define LEAD_MS 30000

void pools_init(struct engine *engine, const struct pool_options *options, uint16_t count)
{
    engine->pool_count = count;
    if (count == 0)
        return;
    engine->pools = calloc(count, sizeof *engine->pools);
    ASSERT(engine->pools != NULL);
    for (uint16_t i = 0; i < count; i++) {
        struct pool *pool = &engine->pools[i];
        pool->options = options[i];
        pool->told_last = pool->told_least = UINT16_MAX;
        (void)blob_ref(pool->options.params);
        list_init(&pool->ready);
        wheel_timer_init(&pool->timer, TIMER_POOL);
    }
    divide_mark_pools(engine);
}

void pools_start(struct engine *engine)
{
    for (uint16_t i = 0; i < engine->pool_count; i++)
        pool_on_demand(engine, &engine->pools[i]);
}

void pools_close(struct engine *engine)
{
    for (uint16_t i = 0; i < engine->pool_count; i++)
        blob_unref(engine->pools[i].options.params);
    free(engine->pools);
}

/* ---- waking and sleeping ----------------------------------------------------------------- */

void pool_on_demand(struct engine *engine, struct pool *pool)
{
    pool->asked_ms = engine->now_ms;
    pool->wasted = 0;
    pool->is_asleep = false;
    if (!pool->timer.is_armed)
        wheel_arm(&engine->wheel, &pool->timer, engine->now_ms + pool->options.idle_after_ms);
}

/* Needs no call to refill: every step ends by looking at the pools. */
void pool_on_timer(struct engine *engine, struct pool *pool)
{
    const uint64_t idle_ms = pool->asked_ms + pool->options.idle_after_ms;
    if (engine->now_ms >= idle_ms) {
        pool->is_asleep = true;
        return;
    }
    wheel_arm(&engine->wheel, &pool->timer, idle_ms);
}

/* ---- handing out ------------------------------------------------------------------------- */

struct pool *pool_of(const struct engine *engine, const struct ask *ask)
{
    if (ask->pool == 0 || ask->pool > engine->pool_count || ask->reuse == REUSE_NONE)
        return NULL;
    return &engine->pools[ask->pool - 1];
}

/* Solutions that arrived while the pool was full wait in the cache under the pool's key. */
static struct solution *next_banked(const struct engine *engine, const struct pool *pool,
                                    const struct solution *before)
{
    return cache_next_banked(engine, &pool->options.key, pool->options.client, before);
}

struct solution *pool_find(const struct pool *pool, const struct engine *engine,
                           const struct ask *ask)
{
    struct solution *first = NULL;
    LIST_FOR_EACH(link, &pool->ready) {
        struct solution *solution = CONTAINER_OF(link, struct solution, link);
        if (solution_suits(engine, solution, ask) && !solution->is_set_aside &&
            offer_is_open(engine, solution) &&
            (first == NULL || solution->expires_ms < first->expires_ms))
            first = solution;
    }
    for (struct solution *solution = next_banked(engine, pool, NULL); solution != NULL;
         solution = next_banked(engine, pool, solution))
        if (solution_suits(engine, solution, ask) &&
            (first == NULL || solution->expires_ms < first->expires_ms))
            first = solution;
    return first;
}

/* Takes the solution out of the pool and releases the pool's reference. */
static void leave(struct engine *engine, struct solution *solution)
{
    struct pool *pool = solution->pool;
    ASSERT(pool->ready_count > 0);
    pool->ready_count--;
    pool->waning_count -= solution->is_waning;
    solution->pool = NULL;
    list_unlink(&solution->link);
    wheel_cancel(&engine->wheel, &solution->expiry);
    kept_update(engine, solution);
    solution_unref(engine, solution);
}

void pool_lose(struct engine *engine, struct solution *solution)
{
    leave(engine, solution);
}

void pool_count_taken(struct pool *pool)
{
    pool->served++;
    pool->wasted = 0;
}

void pool_take(struct engine *engine, struct pool *pool, struct solution *solution)
{
    ASSERT(solution->pool == pool || solution->is_cached);
    pool_count_taken(pool);
    solution->handed++;
    if (solution->pool != NULL)
        leave(engine, solution);
    else
        cache_drop(engine, solution);
}

/* ---- filling ----------------------------------------------------------------------------- */

static uint64_t last_use_ms(const struct pool *pool, const struct solution *solution)
{
    const uint64_t min_ttl_ms = pool->options.min_ttl_ms;
    return solution->expires_ms > min_ttl_ms ? solution->expires_ms - min_ttl_ms : 0;
}

static uint32_t room_of(const struct pool *pool)
{
    return 2 * pool->options.size;
}

uint32_t pools_room(const struct engine *engine)
{
    uint32_t room = 0;
    for (uint16_t i = 0; i < engine->pool_count; i++)
        room += room_of(&engine->pools[i]);
    return room;
}

bool pool_has_room(const struct pool *pool)
{
    return pool->ready_count < room_of(pool);
}

bool pool_add(struct engine *engine, struct pool *pool, struct solution *solution)
{
    const uint64_t until_ms = last_use_ms(pool, solution);
    if (until_ms <= engine->now_ms) {
        COUNT(engine, pool_expired);
        pool->expired++;
        return false;
    }
    ASSERT(!solution->is_cached && solution->pool == NULL);
    solution->pool = pool;
    (void)solution_ref(solution);
    pool->refilled++;
    list_append(&pool->ready, &solution->link);
    pool->ready_count++;
    kept_update(engine, solution);
    /* The replacement starts at the earliest after half of the remaining lifetime. */
    const uint64_t left_ms = until_ms - engine->now_ms;
    const uint64_t lead_ms = left_ms / 2 < LEAD_MS ? left_ms / 2 : LEAD_MS;
    wheel_arm(&engine->wheel, &solution->expiry, until_ms - lead_ms);
    return true;
}

void pool_on_solution_timer(struct engine *engine, struct solution *solution)
{
    struct pool *pool = solution->pool;
    const uint64_t until_ms = last_use_ms(pool, solution);
    if (engine->now_ms < until_ms) {
        solution->is_waning = true;
        pool->waning_count++;
        wheel_arm(&engine->wheel, &solution->expiry, until_ms);
        return;
    }
    COUNT(engine, pool_expired);
    COUNT(engine, solutions_expired_unused);
    pool->expired++;
    if (++pool->wasted >= pool->options.max_waste && pool->options.max_waste > 0)
        pool->is_asleep = true;
    leave(engine, solution);
}

/* A refused refill is not repeated at once, but after a growing pause. */
void pool_on_failed(struct engine *engine, struct pool *pool)
{
    uint64_t wait_ms = engine->options.retry_base_ms;
    for (unsigned i = 0; i < pool->fails && wait_ms < engine->options.retry_cap_ms; i++)
        wait_ms *= 2;
    if (wait_ms > engine->options.retry_cap_ms)
        wait_ms = engine->options.retry_cap_ms;
    pool->fails++;
    pool->retry_at_ms = engine->now_ms + wait_ms;
    /* The timer runs while the pool is asleep, too, because a request may wake it first. */
    wheel_arm(&engine->wheel, &pool->timer, pool->retry_at_ms);
}

/* A solution too old on arrival counts as a failure: where a solve takes longer than a solution
 * lives, further refills would be paid for nothing. */
void pool_on_solved(struct engine *engine, struct pool *pool, struct solution *solution)
{
    if (pool_has_room(pool) && !pool_add(engine, pool, solution)) {
        pool_on_failed(engine, pool);
        return;
    }
    pool->fails = 0;
    if (solution->pool == NULL)
        cache_put(engine, solution, false);
}

/* Without its client nobody has a budget for its refills. */
static bool is_short(const struct engine *engine, const struct pool *pool)
{
    const struct client *client = &engine->clients[pool->options.client];
    return !pool->is_asleep && pool->retry_at_ms <= engine->now_ms && !client->options.is_shadow &&
           !client->options.is_gone &&
           pool->ready_count - pool->waning_count + pool->solving < divide_pool(engine, pool) &&
           pool->ready_count + pool->solving < room_of(pool) &&
           undeliverable_find(engine, &pool->options.key, pool->options.client) == NULL &&
           (client->options.slots == 0 || client->slots_used < client->options.slots);
}

static bool wants_one(const struct engine *engine, const struct pool *pool)
{
    return budget_has_unit(engine, pool->options.client) && is_short(engine, pool);
}

bool pools_are_short(const struct engine *engine)
{
    if (engine->is_draining)
        return false;
    for (uint16_t i = 0; i < engine->pool_count; i++)
        if (wants_one(engine, &engine->pools[i]))
            return true;
    return false;
}

/* Moves banked solutions into the pool before new ones are paid for. A row is the same in both
 * places, so nothing is journaled. Solutions too old for the pool stay in the cache, for requests
 * that accept them. */
static void take_over(struct engine *engine, struct pool *pool)
{
    struct solution *next = next_banked(engine, pool, NULL);
    while (next != NULL && wants_one(engine, pool)) {
        struct solution *const solution = next;
        next = next_banked(engine, pool, solution);
        if (last_use_ms(pool, solution) <= engine->now_ms)
            continue;
        (void)solution_ref(solution);
        cache_drop(engine, solution);
        (void)pool_add(engine, pool, solution);
        solution_unref(engine, solution);
    }
}

static struct flight *start(struct engine *engine, struct pool *pool)
{
    const struct ask ask = {
        .client = pool->options.client,
        .type = pool->options.type,
        .reuse = REUSE_SINGLE,
        .is_one_time = false,
        .wants_rest = pool->options.wants_rest,
        .key = pool->options.key,
        .params = pool->options.params,
    };
    struct flight *flight = flight_new(engine, &ask);
    if (flight == NULL)
        return NULL;
    flight->pool = pool;
    pool->solving++;
    COUNT(engine, pool_refills);
    return flight;
}

struct flight *pools_refill(struct engine *engine)
{
    if (engine->pool_count == 0 || engine->is_draining)
        return NULL;
    /* Takes the pools in turn, so that the first one cannot take all the free slots. */
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        struct pool *pool = &engine->pools[(engine->next_pool + i) % engine->pool_count];
        if (engine->budgets != NULL && !budget_has_unit(engine, pool->options.client) &&
            is_short(engine, pool))
            budget_want(engine, pool->options.client);
        if (wants_one(engine, pool))
            take_over(engine, pool);
        if (!wants_one(engine, pool) ||
            engine->shares.flight_bytes.total + pool->options.params->len >
                engine->options.max_flight_bytes)
            continue;
        engine->next_pool = (uint16_t)((engine->next_pool + i + 1) % engine->pool_count);
        return start(engine, pool);
    }
    return NULL;
}

/* ---- looking ----------------------------------------------------------------------------- */

/* The client matters: two clients may have a pool each for the same target. */
struct pool *pool_by_key(const struct engine *engine, const struct key *key, client_id client)
{
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        const struct pool_options *options = &engine->pools[i].options;
        if (options->client == client && key_equals(&options->key, key))
            return &engine->pools[i];
    }
    return NULL;
}

static uint32_t count_banked(const struct engine *engine, const struct pool *pool)
{
    uint32_t count = 0;
    for (const struct solution *next = next_banked(engine, pool, NULL); next != NULL;
         next = next_banked(engine, pool, next))
        count++;
    return count;
}

size_t engine_list_pools(const struct engine *engine, struct pool_view *views, size_t room)
{
    size_t count = 0;
    for (uint16_t i = 0; i < engine->pool_count && count < room; i++) {
        const struct pool *pool = &engine->pools[i];
        views[count++] = (struct pool_view){
            .size = pool->options.size,
            .ready = pool->ready_count,
            .waning = pool->waning_count,
            .banked = count_banked(engine, pool),
            .solving = pool->solving,
            .is_asleep = pool->is_asleep,
            .served = pool->served,
            .refilled = pool->refilled,
            .expired = pool->expired,
        };
    }
    return count;
}

void pool_check(const struct engine *engine)
{
    uint32_t solving = 0;
    for (uint16_t i = 0; i < engine->pool_count; i++) {
        const struct pool *pool = &engine->pools[i];
        uint32_t waning = 0;
        LIST_FOR_EACH(link, &pool->ready) {
            const struct solution *solution = CONTAINER_OF(link, struct solution, link);
            ASSERT(solution->pool == pool && !solution->is_cached && solution->handed == 0);
            waning += solution->is_waning;
        }
        ASSERT(pool->ready_count == list_length(&pool->ready) && pool->waning_count == waning);
        ASSERT(pool->is_asleep || pool->timer.is_armed);
        solving += pool->solving;
    }
    for (slab_id id = 0; (id = slab_next(&engine->flights, id)) != 0;)
        solving -= ((const struct flight *)slab_get(&engine->flights, id))->pool != NULL;
    ASSERT(solving == 0);
}
