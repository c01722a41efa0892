/* Loading rows: {prefix}:kind:name holds a row, and the sorted set {prefix}:kind has the names of all of them. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LOAD_H
#define SOLVEGATE_STORE_REDIS_REDIS_LOAD_H

#include "store/store_driver.h"

enum store_result redis_load(struct store_backend *backend, int64_t wall_ms,
                             store_on_values *on_values, void *context);
/* As books() of struct store_sharing. */
enum store_result redis_load_books(struct store_backend *reader, uint16_t node, int64_t wall_ms,
                                   store_on_values *on_values, void *context);

#endif
