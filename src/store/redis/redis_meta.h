/* Secrets and the clock that stored times follow. When the wall clock is set no row changes: times are stored less the
 * sum of all leaps, which {prefix}:clock has as "moved", so that a leap is one small change of that. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_META_H
#define SOLVEGATE_STORE_REDIS_REDIS_META_H

#include "store/redis/redis_private.h"

enum store_result redis_find_secret(struct store_backend *backend, const char *name,
                                    struct store_secret *secret);
enum store_result redis_replace_secret(struct store_backend *backend, const char *name,
                                       const struct store_secret *secret, const char *old_name,
                                       const struct store_secret *before);
enum store_result redis_read_mark(struct store_backend *backend, struct store_mark *mark);
enum store_result redis_shift(struct store_backend *backend, const struct store_shift *shift);

/* Adds to a transaction the secrets and the clock that are known, for a server that has lost them: without them its
 * rows could be restored, but no request would find what it paid for. */
void redis_add_kept(struct redis_store *store);
/* Adds the number that a batch leaves, see store_kept.h. */
void redis_add_progress(struct redis_store *store, int64_t number);

#endif
