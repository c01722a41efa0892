/* From the loop to the writer. */
#ifndef SOLVEGATE_STORE_STORE_SEND_H
#define SOLVEGATE_STORE_STORE_SEND_H

#include "store/store_private.h"

/* Queues the entry for the writer, unless the store is broken. */
void store_enqueue(struct store *store, struct store_entry *take_entry);

#endif
