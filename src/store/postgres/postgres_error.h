/* What errors of PostgreSQL mean for the journal, by their SQLSTATE, as sentences that say what to do. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ERROR_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ERROR_H

#include "store/postgres/postgres_private.h"

/* Keeps the error of a result, with a sentence in the backend's why. NULL, or a connection that is gone: the
 * connection was lost, and is closed here. */
enum store_result pg_error_take(struct postgres_store *store, const struct pg_result *result);

/* The same for a connection that could not be made; it says why in its message. */
enum store_result pg_error_connect(struct postgres_store *store, const struct pg_conn *conn);

/* Sets the backend's why. */
void pg_error_say(struct postgres_store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool pg_error_is(const struct postgres_store *store, const char *sqlstate);

/* True if the same batch may well pass at once: a connection that was lost quickly, a deadlock. */
bool pg_error_is_brief(const struct postgres_store *store, enum store_result result);

#endif
