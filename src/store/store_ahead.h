/* Reading ahead: what a gateway needs of its store to begin is read on the thread that opens the store, so that its
 * loop has to wait for no answer. */
#ifndef SOLVEGATE_STORE_STORE_AHEAD_H
#define SOLVEGATE_STORE_STORE_AHEAD_H

#include "store/store.h"

/* Reads all rows and claims, which store_load() and store_load_claims() then give without asking the driver. Secrets
 * that are read from now on are remembered, too. Blocks. */
int store_read_ahead(struct store *store, const struct clocks *now) MUST_CHECK;

/* For the port's own use. False: it was not read ahead. */
bool ahead_find_secret(const struct store *store, const char *name, uint8_t *bytes,
                       uint8_t *old_bytes, size_t count);
void ahead_keep_secret(struct store *store, const char *name, const uint8_t *bytes,
                       const uint8_t *old_bytes, size_t count);
/* On the loop, as they find clients by their names, or free rows. */
void ahead_give_rows(struct store *store,
                     void (*on_row)(void *context, const struct record *record), void *context);
void ahead_give_claims(const struct store *store,
                       void (*on_claim)(void *context, const struct key *name, uint64_t flight),
                       void *context);
void ahead_free(struct store *store);

#endif
