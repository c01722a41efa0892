/* Pools: solutions of one target solved ahead, each handed out once (docs/design.md 5.8). */
#ifndef SOLVEGATE_ENGINE_POOL_H
#define SOLVEGATE_ENGINE_POOL_H

#include "engine/state.h"

void pools_init(struct engine *engine, const struct pool_options *options, uint16_t count);
/* Starts all pools awake, as if a request had just come. */
void pools_start(struct engine *engine);
/* The maximum number of solutions in all pools together. */
uint32_t pools_room(const struct engine *engine);
void pools_close(struct engine *engine);

/* The pool of this ask's target, or NULL. */
struct pool *pool_of(const struct engine *engine, const struct ask *ask);

/* The solution that expires first and suits this ask, or NULL; includes banked solutions that the
 * pool had no room for. */
struct solution *pool_find(const struct pool *pool, const struct engine *engine,
                           const struct ask *ask);

/* Notes a request for the pool's target, which keeps the pool awake. */
void pool_on_demand(struct engine *engine, struct pool *pool);

/* Hands a solution out to one request, from the pool or from the bank; the caller holds its own reference. */
void pool_take(struct engine *engine, struct pool *pool, struct solution *solution);

/* Takes a solution out that another node has by now. */
void pool_lose(struct engine *engine, struct solution *solution);

/* Counts a hand-out that a claim has brought. */
void pool_count_taken(struct pool *pool);

/* A pool accepts more solutions than its size (late ones, restored ones), up to a limit. */
bool pool_has_room(const struct pool *pool);

/* Adds the solution; false if it is too old already. */
bool pool_add(struct engine *engine, struct pool *pool, struct solution *solution);

/* Called when a refill ends. */
void pool_on_solved(struct engine *engine, struct pool *pool, struct solution *solution);
void pool_on_failed(struct engine *engine, struct pool *pool);

/* Starts at most one refill and returns its flight, or NULL if no pool wants one or none may start. */
struct flight *pools_refill(struct engine *engine);
/* Would it start one if there were a slot? */
bool pools_are_short(const struct engine *engine);

/* The solution's timer: first marks it as soon too old, so that it is replaced, then drops it. */
void pool_on_solution_timer(struct engine *engine, struct solution *solution);
void pool_on_timer(struct engine *engine, struct pool *pool);

/* The pool that a restored row belongs to, or NULL. */
struct pool *pool_by_key(const struct engine *engine, const struct key *key, client_id client);

void pool_check(const struct engine *engine);

#endif
