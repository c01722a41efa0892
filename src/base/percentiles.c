#include "base/percentiles.h"

#include <stddef.h>
#include <string.h>

#define SPLIT ((uint64_t)1 << PERCENTILES_SPLIT_BITS)
#define LARGEST (((uint64_t)1 << PERCENTILES_MAX_BITS) - 1)

/* Numbers below SPLIT have a class each; every further power of two has SPLIT classes. */
static size_t class_of(uint64_t number)
{
    if (number > LARGEST)
        number = LARGEST;
    if (number < SPLIT)
        return (size_t)number;
    const unsigned highest_bit = 63 - (unsigned)__builtin_clzll(number);
    const unsigned shift = highest_bit - PERCENTILES_SPLIT_BITS;
    return (size_t)((shift + 1) * SPLIT + (number >> shift) - SPLIT);
}

static uint64_t class_end(size_t class)
{
    if (class < SPLIT)
        return class;
    const unsigned shift = (unsigned)(class / SPLIT) - 1;
    return ((SPLIT + class % SPLIT + 1) << shift) - 1;
}

void percentiles_add(struct percentiles *percentiles, uint64_t number)
{
    percentiles->counts[class_of(number)]++;
    if (percentiles->count == 0 || number < percentiles->min)
        percentiles->min = number;
    if (number > percentiles->max)
        percentiles->max = number;
    percentiles->count++;
    percentiles->sum += number;
}

void percentiles_reset(struct percentiles *percentiles)
{
    memset(percentiles, 0, sizeof *percentiles);
}

uint64_t percentiles_at(const struct percentiles *percentiles, double share)
{
    const double exact = share * (double)percentiles->count;
    uint64_t wanted = (uint64_t)exact;
    uint64_t seen = 0;
    if ((double)wanted < exact || wanted == 0)
        wanted++;
    if (wanted >= percentiles->count)
        return percentiles->max;
    for (size_t class = 0; class < PERCENTILES_CLASSES; class ++) {
        seen += percentiles->counts[class];
        if (seen >= wanted) {
            const uint64_t end = class_end(class);
            return end < percentiles->max ? end : percentiles->max;
        }
    }
    return percentiles->max;
}

double percentiles_mean(const struct percentiles *percentiles)
{
    return percentiles->count == 0 ? 0 : (double)percentiles->sum / (double)percentiles->count;
}

uint64_t percentiles_up_to(const struct percentiles *percentiles, uint64_t number)
{
    const size_t last = class_of(number);
    uint64_t seen = 0;
    for (size_t class = 0; class <= last; class ++)
        seen += percentiles->counts[class];
    return seen;
}
