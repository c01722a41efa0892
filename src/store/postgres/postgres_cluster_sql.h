/* The tables and functions in PostgreSQL that gateways need to share it. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_CLUSTER_SQL_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_CLUSTER_SQL_H

#include "base/buf.h"

#include <solvegate/record.h>

/* Pages of the books and letters are each node's own: their keys have the owner, too. */
bool pg_cluster_is_per_node(enum record_kind kind);

/* What a batch that was refused has as its SQLSTATE. */
#define PG_FENCED "SG001"  /* the node was taken over */
#define PG_APPLIED "SG002" /* the batch was applied before */

/* Adds the migration to version 2. */
void pg_cluster_add_sql(struct buf *sql);
/* Adds the migration to version 5. */
void pg_cluster_add_room_sql(struct buf *sql);
/* Adds that to version 6. */
void pg_cluster_add_offers_sql(struct buf *sql);
/* Adds that to version 7: the function that decides claims as it is now. */
void pg_cluster_add_bad_sql(struct buf *sql);

#endif
