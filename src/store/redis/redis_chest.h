/* Empties the chests of this node: what dead gateways left, see redis_lua.c. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_CHEST_H
#define SOLVEGATE_STORE_REDIS_REDIS_CHEST_H

#include "store/redis/redis_private.h"

/* Makes all that is in them ours, in steps of a few milliseconds of the server's time, and gives it; to may be NULL.
 * After STORE_RETRY it goes on where it was and gives nothing twice. */
enum store_result chest_empty(struct redis_store *store, const struct store_adopted *to);
/* Forgets where it was. */
void chest_forget(struct redis_store *store);

#endif
