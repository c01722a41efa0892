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
    uint64_t counts[HISTOGRAM_BOUNDS + 1];  /* by class, not cumulative; the last has no bound */
    uint64_t sums_ms[HISTOGRAM_BOUNDS + 1]; /* of the observations of each class */
};

void histogram_add(struct histogram *histogram, uint64_t ms);

/* The number of observations, and their sum. */
uint64_t histogram_count(const struct histogram *histogram);
uint64_t histogram_sum_ms(const struct histogram *histogram);

/* What was added between two readings; all of `now` if a class went back, since then it is another histogram. */
struct histogram histogram_since(const struct histogram *now, const struct histogram *before);

/* Estimates the value that this share of the observations does not exceed, as if those of a class lay
 * evenly around their mean. 0 if there is none. */
uint64_t histogram_percentile_ms(const struct histogram *histogram, unsigned percent);

#endif
