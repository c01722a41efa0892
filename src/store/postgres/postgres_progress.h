/* The number that each batch of a gateway leaves in the table "progress", see store_kept.h. Gateways that share a
 * schema have numbers of their own there (postgres_cluster.c). */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_PROGRESS_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_PROGRESS_H

#include "store/postgres/postgres_private.h"

/* Leaves the run's first number. */
enum store_result pg_progress_begin(struct postgres_store *store);

/* Asks for the number, of an idle or a new session; gives a store that lost rows its secrets and clocks again. */
enum store_result pg_progress_prove(struct postgres_store *store);

/* The part of a batch's transaction: preparing, sending, and what a result of the transaction says about it. */
bool pg_progress_prepare(struct postgres_store *store);
bool pg_progress_send(struct postgres_store *store, const struct store_batch *batch);
void pg_progress_take(struct postgres_store *store, struct pg_result *result);
/* The batch is durable. */
void pg_progress_written(struct postgres_store *store);

#endif
