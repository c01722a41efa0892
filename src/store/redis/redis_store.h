/* Making and freeing the driver's state, connected to nothing yet. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_STORE_H
#define SOLVEGATE_STORE_REDIS_REDIS_STORE_H

#include "store/redis/redis_private.h"

/* NULL with a sentence in mistake if the place makes no sense. */
struct redis_store *redis_store_new(const struct store_place *place, struct buf *mistake);
void redis_store_free(struct redis_store *store);

/* The place's prefix, or the usual one. */
const char *redis_prefix(const struct store_place *place);

#endif
