/* Adoption: takes a dead gateway's rows in the shared store, on a thread and a connection of its own, and gives them to
 * the loop in parts. */
#ifndef SOLVEGATE_STORE_STORE_ADOPTION_H
#define SOLVEGATE_STORE_STORE_ADOPTION_H

#include "store/store.h"

#include <solvegate/adoption.h>

struct store_adopter;

/* True if the store is shared and its driver can adopt, and has an inbox. */
bool store_can_adopt(const struct store *store);

/* Takes the node's rows, one node at a time; it ends in on_adopted, whose last part is_last. The node's id is its
 * incarnation, as in struct store_member. Never blocks. */
void store_adopt(struct store *store, const struct adopt *adopt);
/* In on_adopted: rows that are not given, since they cannot be understood or nobody knows their client. */
uint64_t store_adopter_skipped(const struct store *store);

/* For the port itself: ends the thread and waits for that, from the writer; tells the loop the next part; frees it. */
void store_adopter_end(struct store *store);
void store_adopter_tell(struct store *store);
void store_adopter_free(struct store *store);

#endif
