/* Whether a server's settings keep the store's promises, and what they are worth. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_SERVER_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_SERVER_H

#include "store/postgres/postgres_private.h"

/* Reads the settings and describes the server in the backend. False with a sentence in mistake if it cannot hold a
 * journal, or cannot be asked. */
bool pg_server_check(struct postgres_store *store, struct buf *mistake);

/* The version is as libpq tells it; false with a sentence in mistake. */
bool pg_server_is_new_enough(int version, struct buf *mistake);

/* As in struct store_driver. */
enum store_opening pg_server_inspect(const struct store_place *place, const char *address,
                                     struct buf *report, struct buf *mistake);

#endif
