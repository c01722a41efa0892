/* Units of clients' budgets in a batch: their table and function, and what the server decided. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_BUDGET_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_BUDGET_H

#include "store/postgres/postgres_private.h"

void pg_budget_add_sql(struct buf *sql);

/* Both as in postgres_claims.h. Draws come behind the claims: who waits for another's draw has all of its names. */
bool pg_budget_prepare(struct postgres_store *store);
bool pg_budget_send(struct postgres_store *store, const struct store_batch *batch);

/* Takes the result if it is that of the draws. */
bool pg_budget_keep(struct postgres_store *store, struct pg_result *take_result);
/* The batch is durable: answers its draws. */
void pg_budget_answer(struct postgres_store *store, const struct store_batch *batch);

#endif
