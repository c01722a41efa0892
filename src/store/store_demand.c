#include "store/store_demand.h"

#include <string.h>

/* From the lowest bit on: 20 bits of what it wants, 20 of what it holds, 23 of since when it waits. */
#define HELD_BIT 20
#define WAITING_BIT 40
#define WAITING_MOST DEMAND_SECONDS

_Static_assert(DEMAND_MOST == (1u << HELD_BIT) - 1, "what is wanted has its bits");
_Static_assert(WAITING_BIT == 2 * HELD_BIT, "what is held has as many");

static uint64_t at_most(uint32_t number, uint32_t most)
{
    return number < most ? number : most;
}

int64_t store_demand_slots(const struct demand *demand)
{
    return (int64_t)(at_most(demand->slots, DEMAND_MOST) |
                     at_most(demand->held, DEMAND_MOST) << HELD_BIT |
                     at_most(demand->waiting, WAITING_MOST) << WAITING_BIT);
}

/* A row that was damaged by hand may say anything. */
struct demand store_demand_read(int64_t slots, int64_t pools)
{
    const uint64_t number = (uint64_t)slots;
    return (struct demand){
        .slots = (uint32_t)(number & DEMAND_MOST),
        .held = (uint32_t)(number >> HELD_BIT & DEMAND_MOST),
        .waiting = (uint32_t)at_most((uint32_t)(number >> WAITING_BIT), WAITING_MOST),
        .pools = (uint64_t)pools,
    };
}

/* ---- levels ------------------------------------------------------------------------------ */

#define LEVELS_NAME " ready:"
#define DIGIT_BITS 6
#define DIGIT_MOST ((1u << DIGIT_BITS) - 1)

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

_Static_assert(DEMAND_POOLS == 1u << DIGIT_BITS, "a pool's bit is a digit");
_Static_assert(DEMAND_LEVEL_MOST == (1u << 2 * DIGIT_BITS) - 1, "a level has two digits");

void store_demand_write_levels(const struct demand *demand, char text[STORE_LEVELS_MAX])
{
    size_t len = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < DEMAND_POOLS; i++) {
        const unsigned level = demand->levels[i];
        if (level == 0)
            continue;
        if (len == 0)
            memcpy(text, LEVELS_NAME, len = sizeof LEVELS_NAME - 1);
        text[len++] = digits[i];
        text[len++] = digits[level >> DIGIT_BITS & DIGIT_MOST];
        text[len++] = digits[level & DIGIT_MOST];
        text[len] = '\0';
    }
}

static int value_of(char digit)
{
    const char *const found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

void store_demand_read_levels(const char *parts, struct demand *demand)
{
    const char *next = strstr(parts, LEVELS_NAME);
    memset(demand->levels, 0, sizeof demand->levels);
    if (next == NULL)
        return;
    for (next += sizeof LEVELS_NAME - 1;; next += 3) {
        const int place = value_of(next[0]);
        const int high = place < 0 ? -1 : value_of(next[1]);
        const int low = high < 0 ? -1 : value_of(next[2]);
        if (low < 0)
            return;
        demand->levels[place] = (uint16_t)(high << DIGIT_BITS | low);
    }
}
