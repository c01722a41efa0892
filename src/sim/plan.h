/* The account: its keys, its threads and its money. */
#ifndef SOLVEGATE_SIM_PLAN_H
#define SOLVEGATE_SIM_PLAN_H

#include "base/buf.h"

#include "sim/options.h"

struct plan {
    const struct options *options;
    uint64_t balance_micros;
};

void plan_init(struct plan *plan, const struct options *options);

/* NULL for a valid key, else the vendor's error. */
const char *plan_check_key(const struct plan *plan, struct slice key);

/* NULL if one more task may run beside in_flight others, else the vendor's error. */
const char *plan_check_room(const struct plan *plan, uint64_t in_flight);

/* The submit is charged its price, which is refunded if nothing was solved. */
void plan_charge(struct plan *plan);
void plan_refund(struct plan *plan);

/* The plan's threads; for a plan without limit, how many tasks fit into memory. */
uint64_t plan_threads(const struct plan *plan);

/* Adds an amount in the vendor's format: at least two decimals. */
void plan_add_amount(struct buf *out, uint64_t micros);

#endif
