/* Fresh solutions in memory: who may get which, per-solution expiry, bounds in count and bytes (docs/design.md 5.2). */
#ifndef SOLVEGATE_ENGINE_CACHE_H
#define SOLVEGATE_ENGINE_CACHE_H

#include "engine/state.h"

/* A solution held by the caller (one reference). Its lifetime counts from born_ms. */
struct solution *solution_new(struct engine *engine, const struct attempt *attempt,
                              struct blob *text, struct blob *extra);
struct solution *solution_ref(struct solution *solution);
void solution_unref(struct engine *engine, struct solution *solution);

/* Keeps it for later requests; shared ones for everybody, others for exactly one. */
void cache_put(struct engine *engine, struct solution *solution, bool is_shared);

/* The same for one that nobody waits for: paid for, and now for whoever asks next. */
void cache_bank(struct engine *engine, struct solution *solution, bool is_shared, bool is_one_time);

/* Remembers that this key's parameters were refused, so that repeats cost nothing. */
void cache_put_mistake(struct engine *engine, const struct flight *flight, struct slice code);

/* The best solution this ask may have, or NULL. Touches nothing. */
struct solution *cache_find(const struct engine *engine, const struct ask *ask);

/* The next solution that this client's own solves of the key left for one request, and that nobody has: the first after
 * `before`, or with NULL the first of all. */
struct solution *cache_next_banked(const struct engine *engine, const struct key *key,
                                   client_id client, const struct solution *before);

/* Is it still good enough for this ask? */
bool solution_suits(const struct engine *engine, const struct solution *solution,
                    const struct ask *ask);

/* Marks it handed out to one more request; a single one leaves the cache. */
void cache_take(struct engine *engine, struct solution *solution, enum reuse reuse);

/* Takes it out of the cache; those who hold it keep it. */
void cache_drop(struct engine *engine, struct solution *solution);

void cache_on_expiry(struct engine *engine, struct solution *solution);

#endif
