/* The writer thread: takes the queued records and commits them as one batch. */
#ifndef SOLVEGATE_STORE_STORE_WRITER_H
#define SOLVEGATE_STORE_STORE_WRITER_H

#include "store/store.h"

/* The thread's main function; its argument is a struct store. */
void store_writer_run(void *store);

/* Tells the loop what the driver knows about the store now; it hears of it with the next news. */
void store_publish(struct store *store);

/* Reports a state to the loop, from any thread. STORE_BROKEN is final. */
/* Lets the loop look at what is new, once it runs. From any thread. */
void store_wake(struct store *store);
void store_report(struct store *store, enum store_state state, const char *why);

#endif
