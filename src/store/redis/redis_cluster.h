/* Membership: how a gateway joins those that share a prefix, and how one gets it back for itself. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_CLUSTER_H
#define SOLVEGATE_STORE_REDIS_REDIS_CLUSTER_H

#include "store/redis/redis_private.h"

/* Gives a gateway with a name its number and an incarnation, and the rows that nobody owns; one without takes the rows
 * of the last node back. */
enum store_result cluster_join(struct redis_store *store);

/* As in struct store_sharing. */
enum store_result cluster_load_claims(struct store_backend *backend,
                                      void (*on_claim)(void *context, const struct key *name,
                                                       uint64_t flight),
                                      void *context);
enum store_result cluster_read_time(struct store_backend *backend, int64_t *wall_ms);
enum store_result cluster_leave(struct store_backend *backend);

#endif
