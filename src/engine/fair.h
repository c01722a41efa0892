/* Fair shares: the part of something common that each of several gets. Every node computes the same
 * from the same numbers. */
#ifndef SOLVEGATE_ENGINE_FAIR_H
#define SOLVEGATE_ENGINE_FAIR_H

#include <stddef.h>
#include <stdint.h>

/* At most so many divide something. */
#define FAIR_MOST 512

/* What one of them wants. */
struct fair_wish {
    uint32_t demand;
    uint32_t waiting; /* for how long it has had nothing at all, though it wants something; or 0 */
};

/* The part of `total` that number `self` of `count` gets, max-min fair by demand: nobody gets less so
 * that somebody gets more who has more already. What nobody demands is divided evenly, and what does
 * not suffice for everybody goes first to who waits longest. The parts add up to `total`. */
uint32_t fair_share(uint32_t total, const struct fair_wish *wishes, size_t count, size_t self);

/* The part that the one of this rank gets if `total` is divided evenly: all parts add up to it. */
uint32_t fair_part(uint32_t total, uint32_t count, uint32_t rank);

/* Divides the total evenly; whoever has more than its part keeps that, and the others divide the rest. */
uint32_t fair_fill(uint32_t total, const uint32_t *have, size_t count, size_t self);

#endif
