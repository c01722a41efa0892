/* Milliseconds that were measured, and arrays that grow. */
#ifndef SOLVEGATE_BENCH_E2E_SAMPLES_H
#define SOLVEGATE_BENCH_E2E_SAMPLES_H

#include <stddef.h>

struct samples {
    double *values; /* owned */
    size_t count, room;
};

void samples_add(struct samples *samples, double value);

/* Sorts those from this one on, so that percentiles of them can be read. */
void samples_sort(struct samples *samples, size_t from);

/* Of those from this one on, in order; 0 when there are none. */
double samples_percentile(const struct samples *samples, size_t from, double percent);

/* The memory with twice as much room, or the end of the program. */
void *room_double(void *memory, size_t *room, size_t item_bytes);

#endif
