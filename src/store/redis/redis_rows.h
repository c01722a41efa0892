/* Rows in Redis: {prefix}:kind:name holds a row, and the sorted set {prefix}:kind has the names of all of them. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_ROWS_H
#define SOLVEGATE_STORE_REDIS_REDIS_ROWS_H

#include "store/store_driver.h"

/* A name's score is the time from which its row expires, negative while it is open, and 0 if it never does. */
enum store_result redis_rows_load(struct store_backend *backend, int64_t wall_ms,
                                  store_on_values *on_values, void *context);
enum store_result redis_rows_write(struct store_backend *backend, const struct store_batch *batch);
enum store_result redis_rows_beat(struct store_backend *backend);

#endif
