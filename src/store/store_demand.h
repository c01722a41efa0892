/* What a beat says of a gateway's slots and pools, as stores keep it: numbers, and a text for the pools' levels. */
#ifndef SOLVEGATE_STORE_STORE_DEMAND_H
#define SOLVEGATE_STORE_STORE_DEMAND_H

#include <solvegate/members.h>

#include <stddef.h>

/* Everything but the pools. Zero is a gateway that has not told anything yet. */
int64_t store_demand_slots(const struct demand *demand);

struct demand store_demand_read(int64_t slots, int64_t pools);

/* " ready:" and the levels that are not 0: three characters each. */
#define STORE_LEVELS_MAX (8 + 3 * DEMAND_POOLS)
void store_demand_write_levels(const struct demand *demand, char text[STORE_LEVELS_MAX]);
/* Finds them in what a beat says; an older version's says nothing. */
void store_demand_read_levels(const char *parts, struct demand *demand);

#endif
