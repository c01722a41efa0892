/* Seeded, repeatable pseudo-random numbers for jitter, ids and tests. Not for secrets. */
#ifndef SOLVEGATE_BASE_RAND_H
#define SOLVEGATE_BASE_RAND_H

#include <stdint.h>

struct rand {
    uint64_t state[4];
};

void rand_init(struct rand *rand, uint64_t seed);

/* Mixes in fresh entropy; the same history yields the same numbers. */
void rand_mix(struct rand *rand, uint64_t entropy);

uint64_t rand_u64(struct rand *rand);

/* Uniform in [0, bound); 0 when bound is 0. */
uint64_t rand_below(struct rand *rand, uint64_t bound);

#endif
