#include "engine/cache.h"

#include "engine/journal.h"
#include "engine/kept.h"
#include "engine/offer.h"
#include "engine/pool.h"
#include "engine/task.h"
#include "engine/vigil.h"

/* A cached solution costs its struct and allocator overhead in addition to its bytes. */
#define SOLUTION_OVERHEAD 64

struct solution *solution_new(struct engine *engine, const struct birth *birth, struct blob *text,
                              struct blob *extra)
{
    slab_id id;
    struct solution *solution = slab_alloc(&engine->solutions, &id);
    /* The slab has a place for every cached solution and one for every request, flight and
     * idempotency record. */
    ASSERT(solution != NULL);
    solution->node.key = *birth->key;
    solution->text = blob_ref(text);
    solution->extra = blob_ref(extra);
    solution->refs = 1;
    solution->client = birth->client;
    solution->type = birth->type;
    /* Uses the earliest possible birth, so that the lifetime is never overestimated. */
    solution->born_ms = birth->unborn_ms;
    solution->expires_ms = birth->unborn_ms + engine->options.ttl_ms[birth->type];
    solution->solve_ms = engine->now_ms - birth->started_ms;
    solution->task_id = blob_ref(birth->task_id);
    solution->bytes = text->len + (extra == NULL ? 0 : extra->len) +
                      (uint32_t)sizeof(struct solution) + SOLUTION_OVERHEAD;
    list_init(&solution->link);
    list_init(&solution->readers);
    list_init(&solution->records);
    list_init(&solution->kept);
    wheel_timer_init(&solution->expiry, TIMER_SOLUTION);
    return solution;
}

struct solution *solution_of_attempt(struct engine *engine, const struct attempt *attempt,
                                     struct blob *text, struct blob *extra)
{
    const struct birth birth = {
        .key = attempt_key(attempt),
        .client = attempt->client,
        .type = attempt->type,
        .started_ms = attempt->started_ms,
        .unborn_ms = attempt->unborn_ms,
        .task_id = attempt->task_id,
    };
    struct solution *solution = solution_new(engine, &birth, text, extra);
    solution->attempt = attempt->by_name.number;
    solution->is_one_time = attempt->is_one_time;
    solution->is_shared = attempt->reuse == REUSE_SHARED;
    return solution;
}

struct solution *solution_ref(struct solution *solution)
{
    ASSERT(solution->refs > 0);
    solution->refs++;
    return solution;
}

void solution_close(struct solution *solution)
{
    blob_unref(solution->text);
    blob_unref(solution->extra);
    blob_unref(solution->host);
    blob_unref(solution->task_id);
}

void solution_unref(struct engine *engine, struct solution *solution)
{
    if (solution == NULL)
        return;
    ASSERT(solution->refs > 0);
    if (--solution->refs > 0)
        return;
    ASSERT(!solution->is_cached && solution->kept_in == NULL);
    journal_solution_over(engine, solution);
    solution_close(solution);
    slab_free_item(&engine->solutions, solution);
}

/* Drops the oldest solution of the client that has most, so that no client pushes out another's
 * solutions (share.h). */
static void make_room(struct engine *engine)
{
    const struct share *number = &engine->shares.cached;
    const struct share *bytes = &engine->shares.cached_bytes;
    while (number->total > number->room || bytes->total > bytes->room) {
        const uint32_t greediest = share_greediest(number->total > number->room ? number : bytes);
        struct list *oldest = list_first(&engine->clients[greediest].cached);
        ASSERT(oldest != NULL);
        COUNT(engine, solutions_evicted);
        cache_drop(engine, CONTAINER_OF(oldest, struct solution, link));
    }
}

bool cache_has_copy(const struct engine *engine, const struct solution *solution)
{
    if (!engine->options.store_is_shared)
        return false;
    for (struct table_node *node = table_find(&engine->solutions_by_key, &solution->node.key);
         node != NULL; node = table_find_next(node))
        if (CONTAINER_OF(node, struct solution, node)->attempt == solution->attempt)
            return true;
    return false;
}

void cache_drop_copies(struct engine *engine, const struct key *key, attempt_id attempt)
{
    if (!engine->options.store_is_shared)
        return;
    struct table_node *next = table_find(&engine->solutions_by_key, key);
    while (next != NULL) {
        struct solution *copy = CONTAINER_OF(next, struct solution, node);
        next = table_find_next(next);
        if (copy->attempt != attempt || copy->is_negative)
            continue;
        copy->is_bad = true;
        task_report_bad(engine, copy);
        journal_solution(engine, copy);
        cache_drop(engine, copy);
    }
}

void cache_put(struct engine *engine, struct solution *solution, bool is_shared)
{
    ASSERT(!solution->is_cached);
    if (solution->expires_ms <= engine->now_ms)
        return;
    solution->is_cached = true;
    solution->is_shared = is_shared;
    solution_ref(solution);
    table_insert(&engine->solutions_by_key, &solution->node);
    list_append(&engine->clients[solution->client].cached, &solution->link);
    wheel_arm(&engine->wheel, &solution->expiry, solution->expires_ms);
    share_take(&engine->shares.cached, solution->client, 1);
    share_loosen(&engine->shares.cached, solution->client, 1);
    share_take(&engine->shares.cached_bytes, solution->client, solution->bytes);
    share_loosen(&engine->shares.cached_bytes, solution->client, solution->bytes);
    kept_update(engine, solution);
    make_room(engine);
}

void cache_bank(struct engine *engine, struct solution *solution, bool is_shared, bool is_one_time)
{
    /* In shadow mode nobody gets what another paid for. */
    if (client_is_shadow(engine, solution->client)) {
        COUNT(engine, solutions_expired_unused);
        return;
    }
    COUNT(engine, solutions_banked);
    /* Requests for a pooled target look in the pool first. */
    struct pool *pool =
        is_shared ? NULL : pool_by_key(engine, &solution->node.key, solution->client);
    if (pool != NULL && pool_has_room(pool))
        (void)pool_add(engine, pool, solution);
    else if (is_one_time || solution->expires_ms <= engine->now_ms)
        COUNT(engine, solutions_expired_unused);
    else
        cache_put(engine, solution, is_shared);
}

void cache_put_mistake(struct engine *engine, const struct flight *flight, struct slice code)
{
    if (engine->options.caller_error_ttl_ms == 0 || client_is_shadow(engine, flight->client))
        return;
    const struct birth birth = {
        .key = &flight->node.key,
        .client = flight->client,
        .type = flight->type,
        .started_ms = engine->now_ms,
        .unborn_ms = engine->now_ms,
    };
    struct blob *text = blob_new(code);
    struct solution *mistake = solution_new(engine, &birth, text, NULL);
    blob_unref(text);
    mistake->is_negative = true;
    mistake->expires_ms = engine->now_ms + engine->options.caller_error_ttl_ms;
    cache_put(engine, mistake, true);
    solution_unref(engine, mistake);
}

bool solution_suits(const struct engine *engine, const struct solution *solution,
                    const struct ask *ask)
{
    if (solution->is_bad || solution->expires_ms <= engine->now_ms)
        return false;
    if (solution->is_negative)
        return true;
    return solution->expires_ms - engine->now_ms >= ask->min_ttl_ms &&
           engine->now_ms - solution->born_ms <= ask->max_age_ms;
}

/* A solution that a flight is about to hand out, or that is set aside for the retry of an
 * idempotency key, is not free. */
static bool is_free(const struct engine *engine, const struct solution *solution)
{
    return solution->handed == 0 && solution->refs == 1 && offer_is_open(engine, solution);
}

struct solution *cache_next_banked(const struct engine *engine, const struct key *key,
                                   client_id client, const struct solution *before)
{
    struct table_node *node = before == NULL ? table_find(&engine->solutions_by_key, key)
                                             : table_find_next(&before->node);
    for (; node != NULL; node = table_find_next(node)) {
        struct solution *solution = CONTAINER_OF(node, struct solution, node);
        if (!solution->is_shared && solution->client == client && is_free(engine, solution))
            return solution;
    }
    return NULL;
}

struct solution *cache_find(const struct engine *engine, const struct ask *ask)
{
    if (ask->reuse == REUSE_NONE)
        return NULL;
    struct solution *unhanded = NULL;
    for (struct table_node *node = table_find(&engine->solutions_by_key, &ask->key); node != NULL;
         node = table_find_next(node)) {
        struct solution *solution = CONTAINER_OF(node, struct solution, node);
        if (!clients_may_share(engine, solution->client, ask->client) ||
            !solution_suits(engine, solution, ask))
            continue;
        if (solution->is_negative || (solution->is_shared && ask->reuse == REUSE_SHARED))
            return solution;
        /* Other nodes may have copies of what nobody here had yet. */
        if (solution->is_shared && engine->options.store_is_shared)
            continue;
        /* Of the solutions that nobody had yet, prefers the one that expires first. */
        if (is_free(engine, solution) &&
            (unhanded == NULL || solution->expires_ms < unhanded->expires_ms))
            unhanded = solution;
    }
    return unhanded;
}

void cache_take(struct engine *engine, struct solution *solution, enum reuse reuse)
{
    solution->handed++;
    if (solution->is_negative || !solution->is_cached)
        return;
    /* The solution was banked for one request, or this request must stay the only one to get it. */
    if (!solution->is_shared || reuse != REUSE_SHARED)
        cache_drop(engine, solution);
}

void cache_drop(struct engine *engine, struct solution *solution)
{
    if (!solution->is_cached)
        return;
    solution->is_cached = false;
    table_remove(&engine->solutions_by_key, &solution->node);
    list_unlink(&solution->link);
    wheel_cancel(&engine->wheel, &solution->expiry);
    share_fasten(&engine->shares.cached, solution->client, 1);
    share_give(&engine->shares.cached, solution->client, 1);
    share_fasten(&engine->shares.cached_bytes, solution->client, solution->bytes);
    share_give(&engine->shares.cached_bytes, solution->client, solution->bytes);
    kept_update(engine, solution);
    solution_unref(engine, solution);
}

void cache_on_expiry(struct engine *engine, struct solution *solution)
{
    if (solution->pool != NULL) {
        pool_on_solution_timer(engine, solution);
        return;
    }
    if (solution->handed == 0 && !solution->is_negative)
        COUNT(engine, solutions_expired_unused);
    cache_drop(engine, solution);
}
