/* Fresh solutions in memory: who may get which, expiry per solution, limits in count and bytes
 * (docs/design.md 5.2). */
#ifndef SOLVEGATE_ENGINE_CACHE_H
#define SOLVEGATE_ENGINE_CACHE_H

#include "engine/state.h"

/* Whose and how old a solution is. */
struct birth {
    const struct key *key;
    client_id client;
    enum type type;
    uint64_t started_ms;  /* its submit */
    uint64_t unborn_ms;   /* as in struct attempt */
    struct blob *task_id; /* or NULL */
};

/* Creates a solution with one reference, which the caller owns. Its lifetime counts from unborn_ms. */
struct solution *solution_new(struct engine *engine, const struct birth *birth, struct blob *text,
                              struct blob *extra);
/* The same for what this attempt brought. */
struct solution *solution_of_attempt(struct engine *engine, const struct attempt *attempt,
                                     struct blob *text, struct blob *extra);
struct solution *solution_ref(struct solution *solution);
void solution_unref(struct engine *engine, struct solution *solution);
/* Releases what it refers to. */
void solution_close(struct solution *solution);

/* Keeps a solution for later requests: a shared one for everybody, any other for exactly one request. */
void cache_put(struct engine *engine, struct solution *solution, bool is_shared);

/* With a shared store a solution may arrive more than once, as a row of another node or of our own. */
bool cache_has_copy(const struct engine *engine, const struct solution *solution);
/* With a shared store: drops all copies of what this attempt brought, which was reported as bad. */
void cache_drop_copies(struct engine *engine, const struct key *key, attempt_id attempt);

/* Keeps a paid solution that nobody waits for, for the next request that asks. */
void cache_bank(struct engine *engine, struct solution *solution, bool is_shared, bool is_one_time);

/* Remembers that the vendor refused this key's parameters, so that repeats cost nothing. */
void cache_put_mistake(struct engine *engine, const struct flight *flight, struct slice code);

/* The best solution for this ask, or NULL. Changes nothing. */
struct solution *cache_find(const struct engine *engine, const struct ask *ask);

/* The next unused solution that this client's own solves of the key banked for one request: the
 * first after `before`, or the first of all if `before` is NULL. */
struct solution *cache_next_banked(const struct engine *engine, const struct key *key,
                                   client_id client, const struct solution *before);

/* Is the solution still good enough for this ask? */
bool solution_suits(const struct engine *engine, const struct solution *solution,
                    const struct ask *ask);

/* Records one more hand-out; a single-use solution leaves the cache. */
void cache_take(struct engine *engine, struct solution *solution, enum reuse reuse);

/* Removes the solution from the cache; other references stay valid. */
void cache_drop(struct engine *engine, struct solution *solution);

void cache_on_expiry(struct engine *engine, struct solution *solution);

#endif
