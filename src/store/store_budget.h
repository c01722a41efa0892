/* Units of clients' budgets in a shared store: drawn in one order with records and claims, answered once each. */
#ifndef SOLVEGATE_STORE_STORE_BUDGET_H
#define SOLVEGATE_STORE_STORE_BUDGET_H

#include "store/store.h"

struct store_entry;

/* Queues a draw, which ends in on_drawn. Never blocks. */
void store_draw(struct store *store, const struct draw *draw);

/* For the port itself: tells the loop how the entry's draw ended, unless it is none. */
void store_tell_drawn(struct store *store, const struct store_entry *entry);

#endif
