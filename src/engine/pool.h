/* Pools: solutions of one target solved ahead, handed out once each (docs/design.md 5.8). */
#ifndef SOLVEGATE_ENGINE_POOL_H
#define SOLVEGATE_ENGINE_POOL_H

#include "engine/state.h"

void pools_init(struct engine *engine, const struct pool_options *options, uint16_t count);
/* Filled at start, as if somebody had just asked. */
void pools_start(struct engine *engine);
/* How many solutions all of them may hold. */
uint32_t pools_room(const struct engine *engine);
void pools_close(struct engine *engine);

/* The pool of a request, or NULL. */
struct pool *pool_of(const struct engine *engine, const struct ask *ask);

/* The solution that would go stale first and is good enough for this ask, or NULL; also of those that it had no
 * room for. */
struct solution *pool_find(const struct pool *pool, const struct engine *engine,
                           const struct ask *ask);

/* Somebody asked for this target: it is worth keeping some. */
void pool_on_demand(struct engine *engine, struct pool *pool);

/* To one request, out of the pool or from where those wait that it had no room for; the caller holds a reference
 * of its own. */
void pool_take(struct engine *engine, struct pool *pool, struct solution *solution);

/* More than it wants may come, late or after a restart, but not without end. */
bool pool_has_room(const struct pool *pool);

/* Keeps it, unless it is too old already: false. */
bool pool_add(struct engine *engine, struct pool *pool, struct solution *solution);

/* The end of a refill. */
void pool_on_solved(struct engine *engine, struct pool *pool, struct solution *solution);
void pool_on_failed(struct engine *engine, struct pool *pool);

/* Starts at most one refill, if a pool wants one and nothing forbids it: NULL when none. */
struct flight *pools_refill(struct engine *engine);

/* A solution in a pool: soon too old to be handed out, then too old. */
void pool_on_solution_timer(struct engine *engine, struct solution *solution);
void pool_on_timer(struct engine *engine, struct pool *pool);

/* After a restart: which pool a row belongs to, or NULL. */
struct pool *pool_by_key(const struct engine *engine, const struct key *key, client_id client);

void pool_check(const struct engine *engine);

#endif
