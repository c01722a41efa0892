#include "engine/fair.h"

#include "base/assert.h"

#include <stdbool.h>
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

/* How many of those who want more than there is for each come before this one. */
static uint32_t rank_of(const struct fair_wish *wishes, size_t count, size_t self, uint32_t level)
{
    const uint32_t own = wishes[self].waiting;
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_before = wishes[i].waiting > own || (wishes[i].waiting == own && i < self);
        rank += wishes[i].demand > level && is_before;
    }
    return rank;
}

uint32_t fair_share(uint32_t total, const struct fair_wish *wishes, size_t count, size_t self)
{
    uint32_t sorted[FAIR_MOST];
    ASSERT(self < count && count <= FAIR_MOST);
    for (size_t i = 0; i < count; i++)
        sorted[i] = wishes[i].demand;
    qsort(sorted, count, sizeof *sorted, compare);
    uint32_t left = total;
    size_t content = 0;
    while (content < count && sorted[content] <= left / (count - content))
        left -= sorted[content++];
    const uint32_t own = wishes[self].demand;
    if (content == count)
        return own + fair_part(left, (uint32_t)count, (uint32_t)self);
    /* What is left is too little for all others: they divide it evenly. */
    const uint32_t unmet = (uint32_t)(count - content);
    const uint32_t level = left / unmet;
    return own <= level ? own : fair_part(left, unmet, rank_of(wishes, count, self, level));
}

/* Of those that are still in, the one that has most beyond its part; count: nobody has. */
static size_t find_fullest(uint32_t total, const uint32_t *have, size_t count, const bool *is_out,
                           uint32_t in)
{
    size_t fullest = count;
    uint32_t most = 0;
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t part = is_out[i] ? 0 : fair_part(total, in, rank);
        rank += !is_out[i];
        if (!is_out[i] && have[i] > part && have[i] - part > most) {
            most = have[i] - part;
            fullest = i;
        }
    }
    return fullest;
}

uint32_t fair_fill(uint32_t total, const uint32_t *have, size_t count, size_t self)
{
    bool is_out[FAIR_MOST] = {false};
    ASSERT(self < count && count <= FAIR_MOST);
    for (uint32_t in = (uint32_t)count;; in--) {
        const size_t fullest = find_fullest(total, have, count, is_out, in);
        if (fullest == self)
            return have[self];
        if (fullest == count) {
            uint32_t rank = 0;
            for (size_t i = 0; i < self; i++)
                rank += !is_out[i];
            return fair_part(total, in, rank);
        }
        is_out[fullest] = true;
        total -= have[fullest] < total ? have[fullest] : total;
    }
}
