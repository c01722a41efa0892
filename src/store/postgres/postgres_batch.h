/* Writes a batch as one transaction of a few statements over arrays, in one round trip. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_BATCH_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_BATCH_H

#include "store/postgres/postgres_private.h"

/* As in struct store_driver. */
enum store_result pg_batch_write(struct store_backend *backend, const struct store_batch *batch);

/* Lays the batch's entries out in `rows` by their place, for answers that name one. */
void pg_batch_place(struct postgres_store *store, const struct store_batch *batch);

#endif
