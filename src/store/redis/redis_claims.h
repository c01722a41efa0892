/* Batches of a gateway that shares the store: one script for rows, releases and claims. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_CLAIMS_H
#define SOLVEGATE_STORE_REDIS_REDIS_CLAIMS_H

#include "store/redis/redis_private.h"

enum store_result claims_write(struct redis_store *store, const struct store_batch *batch);

#endif
