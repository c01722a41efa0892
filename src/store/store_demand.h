/* What a beat says of a gateway's slots, as the one number that stores keep of it. */
#ifndef SOLVEGATE_STORE_STORE_DEMAND_H
#define SOLVEGATE_STORE_STORE_DEMAND_H

#include <solvegate/members.h>

/* Everything but the pools. Zero is a gateway that has not told anything yet. */
int64_t store_demand_slots(const struct demand *demand);

struct demand store_demand_read(int64_t slots, int64_t pools);

#endif
