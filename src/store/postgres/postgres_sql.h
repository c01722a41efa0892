/* The statements for each kind of row, made from the row tables. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_SQL_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_SQL_H

#include "store/postgres/postgres_private.h"

/* Each adds one statement and a final '\0'; the owner is the node that runs it, or 0. Puts and drops take an array for
 * each column of its own, puts one more for the body. */
void pg_sql_add_put(struct buf *sql, const struct row_table *table, uint16_t owner);
void pg_sql_add_drop(struct buf *sql, const struct row_table *table, uint16_t owner);
/* $1 is row_expired_until(), if rows of this kind expire. */
void pg_sql_add_load(struct buf *sql, const struct row_table *table, uint16_t owner);
/* The same in no order, and without the '\0'. */
void pg_sql_add_rows(struct buf *sql, const struct row_table *table, uint16_t owner);
/* $2 is the limit. */
void pg_sql_add_tidy(struct buf *sql, const struct row_table *table, uint16_t owner);
/* $1 is by how much times move; false if this kind has no time that moves. */
bool pg_sql_add_shift(struct buf *sql, const struct row_table *table);

/* Names of the prepared statements. */
#define PG_SQL_NAME_MAX 32
void pg_sql_put_name(enum record_kind kind, char name[PG_SQL_NAME_MAX]);
void pg_sql_drop_name(enum record_kind kind, char name[PG_SQL_NAME_MAX]);

/* Prepares what a batch needs in a new session. */
enum store_result pg_sql_prepare(struct postgres_store *store);

#endif
