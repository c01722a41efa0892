/* What a flight needs only with a shared store, in shadow mode, for a dead letter, once an attempt failed, or while
 * callers wait to be told that it began. Most flights never do, so it lies aside. */
#ifndef SOLVEGATE_ENGINE_ASIDE_H
#define SOLVEGATE_ENGINE_ASIDE_H

#include "engine/state.h"

/* In shadow mode: a flight's place in what serving would have done (shadow.h). */
struct seat {
    slab_id guess;          /* or 0 */
    enum source source : 8; /* of a duplicate: how serving would have spared it */
    bool is_taken;          /* the flight was asked for in shadow mode */
    bool is_duplicate;      /* serving would not have submitted it */
    bool is_counted;        /* as a duplicate, in the books */
    bool is_leading;        /* its end is the end of the guess */
};

struct aside {
    slab_id id;
    struct flight *flight; /* its owner */
    struct list letters;   /* dead letters that this flight replays */
    struct list briefs;    /* holds of callers who wait only until it is claimed */
    struct list tell;      /* engine's telling list, while they are told */
    struct list unleased;  /* engine's list of that name, while its claim is held back */
    struct list unit;      /* its client's list of those who wait for a unit of its budget */
    struct seat seat;
    uint64_t claim;      /* number of the claim that it has, or 0 */
    uint64_t letter;     /* number of the letter that keeps its undeliverable answer, or 0 */
    uint64_t followed;   /* number of the claim that it waits for, or 0 */
    uint32_t min_ttl_ms; /* what its requests accept, while it is claimed */
    uint32_t max_age_ms;
    uint16_t pool_asked;         /* number of the pool that its request asked for, or 0 */
    uint16_t tries[CLASS_COUNT]; /* retries used, per class */
    bool may_take;               /* its claim may take a single-use solution (offer.h) */
};

/* The flight's, which is made if it has none. */
struct aside *aside_of(struct engine *engine, struct flight *flight);
/* Takes it off all lists and frees it, if there is one. */
void aside_free(struct engine *engine, struct flight *flight);

/* Was it asked for in shadow mode? */
static inline bool flight_is_shadow(const struct flight *flight)
{
    return flight->aside != NULL && flight->aside->seat.is_taken;
}

static inline uint64_t flight_claim(const struct flight *flight)
{
    return flight->aside == NULL ? 0 : flight->aside->claim;
}

static inline uint64_t flight_letter(const struct flight *flight)
{
    return flight->aside == NULL ? 0 : flight->aside->letter;
}

static inline uint16_t flight_tries(const struct flight *flight, enum error_class class)
{
    return flight->aside == NULL ? 0 : flight->aside->tries[class];
}

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
