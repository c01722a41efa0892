/* Writing batches. A name's score in its index is the time from which its row expires, negative while it is open, and 0
 * if it never does. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_WRITE_H
#define SOLVEGATE_STORE_REDIS_REDIS_WRITE_H

#include "store/redis/redis_private.h"

enum store_result redis_write(struct store_backend *backend, const struct store_batch *batch);
/* A batch of nothing, which renews the lock. */
enum store_result redis_beat(struct store_backend *backend);
/* Renews the lease, and looks at nothing else. */
enum store_result redis_renew(struct redis_store *store);

#endif
