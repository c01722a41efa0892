/* Durations counted by size class: one increment an observation, told as a Prometheus histogram. */
#ifndef SOLVEGATE_BASE_HISTOGRAM_H
#define SOLVEGATE_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 21

/* Upper bounds of the classes, the same for all: from a turn of the loop to the longest solve. */
extern const uint32_t histogram_bounds_ms[HISTOGRAM_BOUNDS];

/* All zero at first. */
struct histogram {
    uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* of each class alone; the last one has no bound */
    uint64_t sum_ms;
};

void histogram_add(struct histogram *histogram, uint64_t ms);

/* How many observations there were. */
uint64_t histogram_count(const struct histogram *histogram);

#endif
