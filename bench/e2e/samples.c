#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void *room_double(void *memory, size_t *room, size_t item_bytes)
{
    *room = *room == 0 ? 4096 : *room * 2;
    void *const more = realloc(memory, *room * item_bytes);
    if (more == NULL) {
        perror("realloc");
        exit(1);
    }
    return more;
}

void samples_add(struct samples *samples, double value)
{
    if (samples->count == samples->room)
        samples->values = room_double(samples->values, &samples->room, sizeof(*samples->values));
    samples->values[samples->count++] = value;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

void samples_sort(struct samples *samples, size_t from)
{
    if (samples->count > from)
        qsort(samples->values + from, samples->count - from, sizeof(*samples->values), compare);
}

double samples_percentile(const struct samples *samples, size_t from, double percent)
{
    const size_t count = samples->count - from;
    if (count == 0)
        return 0;
    const size_t at = (size_t)ceil(percent / 100 * (double)count);
    return samples->values[from + (at < 1 ? 0 : at - 1)];
}
