/* What a flight needs only with a shared store, for a dead letter, or while callers wait to be told
 * that it began. Most flights never do, so it lies aside. */
#ifndef SOLVEGATE_ENGINE_ASIDE_H
#define SOLVEGATE_ENGINE_ASIDE_H

#include "engine/state.h"

struct aside {
    slab_id id;
    struct flight *flight; /* its owner */
    struct list letters;   /* dead letters that this flight replays */
    struct list briefs;    /* holds of callers who wait only until it is claimed */
    struct list tell;      /* engine's telling list, while they are told */
    struct list unleased;  /* engine's list of that name, while its claim is held back */
    struct list unit;      /* its client's list of those who wait for a unit of its budget */
    uint64_t followed;     /* number of the claim that it waits for, or 0 */
    uint32_t min_ttl_ms;   /* what its requests accept, while it is claimed */
    uint32_t max_age_ms;
    bool may_take;       /* its claim may take a single-use solution (offer.h) */
    uint16_t pool_asked; /* number of the pool that its request asked for, or 0 */
};

/* The flight's, which is made if it has none. */
struct aside *aside_of(struct engine *engine, struct flight *flight);
/* Takes it off all lists and frees it, if there is one. */
void aside_free(struct engine *engine, struct flight *flight);

static inline bool flight_has_letters(const struct flight *flight)
{
    return flight->aside != NULL && !list_is_empty(&flight->aside->letters);
}

static inline bool flight_has_briefs(const struct flight *flight)
{
    return flight->aside != NULL && !list_is_empty(&flight->aside->briefs);
}

static inline bool flight_is_telling(const struct flight *flight)
{
    return flight->aside != NULL && !list_is_empty(&flight->aside->tell);
}

static inline bool flight_is_unleased(const struct flight *flight)
{
    return flight->aside != NULL && !list_is_empty(&flight->aside->unleased);
}

static inline bool flight_lacks_unit(const struct flight *flight)
{
    return flight->aside != NULL && !list_is_empty(&flight->aside->unit);
}

#endif
