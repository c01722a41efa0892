/* The inbox in PostgreSQL: facts that batches put there and drop, and whoever they are for. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_INBOX_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_INBOX_H

#include "store/postgres/postgres_private.h"

/* Sends the preparation of the statements below, in pipeline mode as all of them. False: the connection is lost. */
bool pg_inbox_prepare(struct postgres_store *store);

/* The facts that the batch tells, and those that it drops. */
bool pg_inbox_send(struct postgres_store *store, const struct store_batch *batch);
/* After the commit: tells those who have the attempts that there is something for them. */
bool pg_inbox_send_wake_ups(struct postgres_store *store, const struct store_batch *batch);

/* A notification that begins with this sign is such a list of nodes. */
#define PG_INBOX_SIGN '@'
bool pg_inbox_is_named(const char *payload, uint16_t node);

/* Reads what is for the node, over a connection that is there; as in struct store_sharing. */
enum store_result pg_inbox_read(struct postgres_store *store, unsigned limit,
                                void (*on_fact)(void *context, const struct fact *take_fact),
                                void *context);

#endif
