/* The journal's rows in PostgreSQL besides batches: loading, tidying; and the session that all calls use. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ROWS_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ROWS_H

#include "store/postgres/postgres_body.h"

/* Makes sure that there is a session with the lock, and with prepared statements once the tables are
 * open. */
enum store_result pg_rows_ready(struct postgres_store *store);

/* As in struct store_driver: the server's settings may have changed. */
enum store_result pg_rows_look(struct store_backend *backend);

/* The row's values from the place in a binary result on: the columns of its own, then the body. They borrow from the
 * result and from *body, which the caller closes. */
void pg_rows_read(const struct pg_result *result, int row, int place, enum record_kind kind,
                  struct row_value values[ROW_COLUMNS_MAX], struct pg_body *body);

/* Gives the rows of a statement that selects what pg_sql_add_load() does. */
enum store_result pg_rows_give(struct postgres_store *store, enum record_kind kind, const char *sql,
                               int64_t wall_ms, store_on_values *on_values, void *context);

/* As in struct store_driver. */
enum store_result pg_rows_load(struct store_backend *backend, int64_t wall_ms,
                               store_on_values *on_values, void *context);
enum store_result pg_rows_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                               bool *has_more);

#endif
