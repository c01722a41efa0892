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

/* NULL for a good key, else the vendor's word. */
const char *plan_check_key(const struct plan *plan, struct slice key);

/* NULL when one more task may run beside in_flight others, else the vendor's word. */
const char *plan_check_room(const struct plan *plan, uint64_t in_flight);

/* The price is taken with the submit and given back when nothing was solved. */
void plan_charge(struct plan *plan);
void plan_refund(struct plan *plan);

/* Threads the plan has; a plan without limit says how many tasks fit into memory. */
uint64_t plan_threads(const struct plan *plan);

/* As the vendor writes amounts: at least two decimals. */
void plan_add_amount(struct buf *out, uint64_t micros);

#endif
