#include "base/histogram.h"

const uint32_t histogram_bounds_ms[HISTOGRAM_BOUNDS] = {
    1,    2,    5,     10,    25,    50,    100,   250,   500,    1000,   2500,
    5000, 7500, 10000, 15000, 20000, 30000, 45000, 60000, 120000, 180000,
};

/* Most observations fall into the first classes, so a linear search is fastest. */
void histogram_add(struct histogram *histogram, uint64_t ms)
{
    size_t class = 0;
    while (class < HISTOGRAM_BOUNDS && ms > histogram_bounds_ms[class])
        class ++;
    histogram->counts[class]++;
    histogram->sum_ms += ms;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
        count += histogram->counts[i];
    return count;
}
