/* The session with PostgreSQL: connecting, its settings and its lock; sending and waiting with a deadline. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_LINK_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_LINK_H

#include "store/postgres/postgres_private.h"

/* Connects to the first host that lets us in and sets the session. Without STORE_DONE there is no
 * connection. */
enum store_result pg_link_connect(struct postgres_store *store);
void pg_link_close(struct postgres_store *store);

/* Runs statements without parameters; after an error the transaction is rolled back. */
enum store_result pg_link_run(struct postgres_store *store, const char *sql);
/* Runs one statement with parameters $1::bigint, $2::text, … Its rows are binary or text; the caller clears the result,
 * which is NULL without STORE_DONE. */
enum store_result pg_link_ask(struct postgres_store *store, const char *sql,
                              const struct row_value *values, size_t count, bool is_binary,
                              struct pg_result **result);

/* For statements that were sent by the caller: the next result, or NULL between two of them. False: the connection is
 * lost. */
bool pg_link_next(struct postgres_store *store, struct pg_result **result);
/* Sends what libpq has gathered, so that it does not gather a whole batch of images. False: the connection is lost. */
bool pg_link_flush(struct postgres_store *store);
/* Reads results until none is left, and keeps the first error. */
enum store_result pg_link_drain(struct postgres_store *store);
/* Ends a transaction that an error has left behind; keeps the error's sentence. */
void pg_link_roll_back(struct postgres_store *store);

/* A column of a row as an integer, if it is one in the binary format. */
int64_t pg_link_integer(const struct pg_result *result, int row, int column);

#endif
