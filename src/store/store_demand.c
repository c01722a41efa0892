#include "store/store_demand.h"

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
