/* The inbox of a shared store: facts for whoever has the attempt, kept until he has dealt with them. */
#ifndef SOLVEGATE_STORE_STORE_INBOX_H
#define SOLVEGATE_STORE_STORE_INBOX_H

#include "store/store.h"

#include <solvegate/event.h>

/* Queues a fact under its number in the journal, as store_append() does with a record; takes the fact's references.
 * What others told comes by on_told, again and again until it is forgotten. Never blocks. */
void store_tell(struct store *store, journal_seq seq, const struct fact *take_fact);
/* Says by number who sent an errand: in the store its text is the client's name. Nobody has a request of a client that
 * is not known here. From the loop. */
void store_name_client(const struct store *store, struct fact *fact);
/* Queues that a fact is dealt with: the records before say everything that it caused. Never blocks. */
void store_forget(struct store *store, uint64_t number);

/* The facts that a closed store could not write; of one that is not closed, everything that waits. */
uint32_t store_count_facts(const struct store *store);
/* Queues the facts that a closed store could not write, since its node was adopted, in the one of the next run. */
void store_pass_facts(struct store *from, struct store *to);

#endif
