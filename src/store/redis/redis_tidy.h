/* Deletes rows that have expired, by the times in the indexes. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_TIDY_H
#define SOLVEGATE_STORE_REDIS_REDIS_TIDY_H

#include "store/store_driver.h"

enum store_result redis_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                             bool *has_more);

#endif
