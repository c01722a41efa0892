/* The tables in PostgreSQL: what must be created, and whether what is there fits. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_SCHEMA_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_SCHEMA_H

#include "store/postgres/postgres_private.h"

/* Is kept in the table meta; each version has a migration from the one before. */
#define PG_SCHEMA_VERSION 7

/* True if the column has a column of its own in PostgreSQL: it is part of the key, searched for, counted by whoever
 * adopts the row, moved with the clock, or made of bytes. All others are members of the row's body. */
bool pg_schema_is_own(const struct row_table *table, size_t column);
/* Of a column of its own: "bigint", "text", "bytea" or "json". */
const char *pg_schema_type(enum column_type type);
bool pg_schema_has_body(const struct row_table *table);

/* Adds the statements that bring the tables from a version (0: there are none) up to date, in one
 * transaction. */
void pg_schema_add_sql(struct buf *sql, const char *schema, bool has_schema, int64_t version);

/* The version of what is there: 0 if there is nothing, -1 if tables of another program are in the
 * way. */
enum store_result pg_schema_read_version(struct postgres_store *store, int64_t *version);
/* Adds the names of tables on which the role lacks a right that the gateway needs. */
enum store_result pg_schema_find_denied(struct postgres_store *store, struct buf *names);

/* Creates or migrates the tables, and checks the rights; false with a sentence in mistake. */
bool pg_schema_open(struct postgres_store *store, struct buf *mistake);

/* As in struct store_driver. */
void pg_schema_print(const struct store_place *place, struct buf *out);

#endif
