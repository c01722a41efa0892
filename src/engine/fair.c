#include "engine/fair.h"

#include "base/assert.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

uint32_t fair_part(uint32_t total, uint32_t count, uint32_t rank)
{
    return total / count + (rank < total % count);
}

/* Nobody demands nothing, so that whoever is idle can begin. */
static uint32_t demand_of(uint32_t demand)
{
    return demand == 0 ? 1 : demand;
}

uint32_t fair_share(uint32_t total, const uint32_t *demands, size_t count, size_t self)
{
    uint32_t sorted[FAIR_MOST];
    ASSERT(self < count && count <= FAIR_MOST);
    for (size_t i = 0; i < count; i++)
        sorted[i] = demand_of(demands[i]);
    qsort(sorted, count, sizeof *sorted, compare);
    uint32_t left = total;
    size_t content = 0;
    while (content < count && sorted[content] <= left / (count - content))
        left -= sorted[content++];
    const uint32_t own = demand_of(demands[self]);
    if (content == count)
        return own + fair_part(left, (uint32_t)count, (uint32_t)self);
    /* What is left is too little for all others: they divide it evenly. */
    const uint32_t level = left / (uint32_t)(count - content);
    if (own <= level)
        return own;
    uint32_t rank = 0;
    for (size_t i = 0; i < self; i++)
        rank += demand_of(demands[i]) > level;
    const uint32_t part = fair_part(left, (uint32_t)(count - content), rank);
    return part > 0 ? part : 1;
}
