/* Claims and releases in a batch: their statements, and what the server decided. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_CLAIMS_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_CLAIMS_H

#include "store/postgres/postgres_private.h"

/* Sends the preparation of the statements below, in pipeline mode as all of them. False: the connection is lost. */
bool pg_claims_prepare(struct postgres_store *store);

/* The fence: the rest of the transaction fails unless the node is still ours, and unless the batch is new. Number 0: it
 * is not asked whether it is. */
bool pg_claims_send_fence(struct postgres_store *store, uint64_t number);
bool pg_claims_send_releases(struct postgres_store *store, const struct store_batch *batch);
bool pg_claims_send_claims(struct postgres_store *store, const struct store_batch *batch);
/* After the commit, which must not wait for anybody's. */
bool pg_claims_send_wake_ups(struct postgres_store *store, const struct store_batch *batch);

/* Keeps the result if it is that of the claims, else clears it. */
void pg_claims_keep(struct postgres_store *store, struct pg_result *take_result);
/* The batch is durable: answers its claims. */
void pg_claims_answer(struct postgres_store *store, const struct store_batch *batch);

#endif
