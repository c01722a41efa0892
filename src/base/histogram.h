/* Durations counted by size class: one increment per observation, exported as a Prometheus histogram. */
#ifndef SOLVEGATE_BASE_HISTOGRAM_H
#define SOLVEGATE_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 21

/* Upper bounds of the classes, common to all histograms: from a turn of the loop to the longest solve. */
extern const uint32_t histogram_bounds_ms[HISTOGRAM_BOUNDS];

/* Zero-initialised. */
struct histogram {
    uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* by class, not cumulative; the last has no bound */
    uint64_t sum_ms;
};

void histogram_add(struct histogram *histogram, uint64_t ms);

/* The number of observations. */
uint64_t histogram_count(const struct histogram *histogram);

#endif
