/* Counts numbers in log-linear classes, so that any percentile is known within 0.8 %, whatever their range. */
#ifndef SOLVEGATE_BASE_PERCENTILES_H
#define SOLVEGATE_BASE_PERCENTILES_H

#include <stdint.h>

/* Every power of two is split into this many classes, so a class is at most 1/128 of its numbers wide. */
#define PERCENTILES_SPLIT_BITS 7
/* Larger numbers count as the largest; as microseconds that is 19 hours. */
#define PERCENTILES_MAX_BITS 36
#define PERCENTILES_CLASSES \
    ((PERCENTILES_MAX_BITS - PERCENTILES_SPLIT_BITS + 1) << PERCENTILES_SPLIT_BITS)

/* Zero-initialised. */
struct percentiles {
    uint64_t counts[PERCENTILES_CLASSES];
    uint64_t count;
    uint64_t sum;
    uint64_t min, max; /* exact; 0 while there is nothing */
};

void percentiles_add(struct percentiles *percentiles, uint64_t number);
void percentiles_reset(struct percentiles *percentiles);

/* The smallest number that at least this share (0 to 1) of all numbers does not exceed, rounded up to the end of its
 * class; 0 if there is none. */
uint64_t percentiles_at(const struct percentiles *percentiles, double share);

double percentiles_mean(const struct percentiles *percentiles);

/* How many numbers there are up to this one, by whole classes. */
uint64_t percentiles_up_to(const struct percentiles *percentiles, uint64_t number);

#endif
