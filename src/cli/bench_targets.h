/* Which target each request asks for: a new one, or one that was asked for before. */
#ifndef SOLVEGATE_CLI_BENCH_TARGETS_H
#define SOLVEGATE_CLI_BENCH_TARGETS_H

#include "base/rand.h"

#include <stdbool.h>

struct bench_targets {
    struct rand rand;
    double repeat; /* the share of requests that repeat a target */
    double zipf;   /* target N is repeated in proportion to 1 / N to this power; 0: all alike */
    uint64_t known;
};

void bench_targets_init(struct bench_targets *targets, double repeat, double zipf, uint64_t seed);

/* The number of the target, from 0; it is `known` before the call if it is a new one. */
uint64_t bench_targets_next(struct bench_targets *targets);

#endif
