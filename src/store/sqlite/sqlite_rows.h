/* The journal's rows in SQLite: statements made from the row tables, batches, loading, tidying. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_ROWS_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_ROWS_H

#include "store/sqlite/sqlite_private.h"

/* Prepares every statement that is used often; false if the tables do not fit. */
bool rows_prepare(struct sqlite_store *store);
void rows_finalize(struct sqlite_store *store);

/* As in struct store_driver. */
enum store_result rows_load(struct store_backend *backend, int64_t wall_ms,
                            store_on_values *on_values, void *context);
enum store_result rows_write(struct store_backend *backend, const struct store_batch *batch);
enum store_result rows_settle(struct store_backend *backend, bool is_last);
enum store_result rows_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                            bool *has_more);

#endif
