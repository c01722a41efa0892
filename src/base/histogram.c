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
    histogram->sums_ms[class] += ms;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
        count += histogram->counts[i];
    return count;
}

uint64_t histogram_sum_ms(const struct histogram *histogram)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
        sum += histogram->sums_ms[i];
    return sum;
}

struct histogram histogram_since(const struct histogram *now, const struct histogram *before)
{
    struct histogram since = *now;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
        if (now->counts[i] < before->counts[i] || now->sums_ms[i] < before->sums_ms[i])
            return since;
    for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        since.counts[i] -= before->counts[i];
        since.sums_ms[i] -= before->sums_ms[i];
    }
    return since;
}

uint64_t histogram_percentile_ms(const struct histogram *histogram, unsigned percent)
{
    /* In hundredths of an observation, so that the middle of two lies between them. */
    uint64_t rank = histogram_count(histogram) * percent;
    if (rank == 0)
        return 0;
    size_t class = 0;
    for (; rank > histogram->counts[class] * 100; class ++)
        rank -= histogram->counts[class] * 100;
    const uint64_t count = histogram->counts[class];
    const uint64_t mean = histogram->sums_ms[class] / count;
    if (count == 1)
        return mean;
    /* As wide as the class allows with this mean. */
    uint64_t half = mean - (class == 0 ? 0 : histogram_bounds_ms[class - 1]);
    if (class < HISTOGRAM_BOUNDS && half > histogram_bounds_ms[class] - mean)
        half = histogram_bounds_ms[class] - mean;
    return mean - half + 2 * half * rank / (count * 100);
}
