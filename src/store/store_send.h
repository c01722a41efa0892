/* From the loop to the writer. */
#ifndef SOLVEGATE_STORE_STORE_SEND_H
#define SOLVEGATE_STORE_STORE_SEND_H

#include "store/store_private.h"

/* Queues the entry for the writer, unless the store is broken. The writer gets it when enough have gathered, or at the
 * end of the loop's turn. */
void store_enqueue(struct store *store, struct store_entry *take_entry);
/* Gives the writer what has gathered. */
void store_hand_over(struct store *store);

#endif
