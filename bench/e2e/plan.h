/* What is asked for when: arrivals at random, targets of which some repeat, and how long the vendor takes for each. */
#ifndef SOLVEGATE_BENCH_E2E_PLAN_H
#define SOLVEGATE_BENCH_E2E_PLAN_H

#include "base/rand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_options {
    double rate;       /* requests a second */
    double solve_ms;   /* the median */
    double duplicates; /* which share of the requests repeats an earlier one's target */
    uint32_t reach;    /* how many requests back at most */
    uint64_t seed;
};

struct target {
    uint32_t solve_ms;
    uint64_t task; /* the vendor's number of the solution that was first seen; 0: none yet */
};

struct plan {
    struct plan_options options;
    struct rand rand;
    struct target *targets; /* owned */
    size_t target_count, target_room;
    uint32_t *asked; /* owned: the target of every request so far */
    size_t asked_count, asked_room;
};

void plan_init(struct plan *plan, const struct plan_options *options);
void plan_close(struct plan *plan);

/* Nanoseconds from one arrival to the next: exponential, so that arrivals come as from many people. */
int64_t plan_gap_ns(struct plan *plan);

/* The target of the next request. A repeated one is that of k requests ago, where k is Zipf-distributed
 * (exponent 1) up to reach: retries and crowds come soon after the first. A new one takes the vendor a
 * lognormal time around the median (sigma 0.3, at most three times as long). */
uint32_t plan_draw(struct plan *plan, bool *is_first);

#endif
