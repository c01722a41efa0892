/* Membership: how a gateway joins those that share a schema, and how one gets it back for itself. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_CLUSTER_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_CLUSTER_H

#include "store/postgres/postgres_private.h"

/* The row of meta in which a node says what its configuration is like is named by this and its number. A column of the
 * table node would lock gateways of an older version out. */
#define PG_PARTS_NAME "'parts/'"

/* Gives a gateway with a name its number and an incarnation, and rows that nobody else owns; one without takes the rows
 * of the last node back. False with a sentence in mistake. */
bool pg_cluster_join(struct postgres_store *store, struct buf *mistake);

/* Begins a transaction during which nobody else creates, joins or takes back. */
enum store_result pg_cluster_begin(struct postgres_store *store);

/* As in struct store_sharing. */
enum store_result pg_cluster_load_claims(struct store_backend *backend,
                                         void (*on_claim)(void *context, const struct key *name,
                                                          uint64_t flight),
                                         void *context);
enum store_result pg_cluster_read_time(struct store_backend *backend, int64_t *wall_ms);
enum store_result pg_cluster_leave(struct store_backend *backend);

#endif
