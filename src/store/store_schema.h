/* The journal's tables: one row per thing, readable with the sqlite3 tool. */
#ifndef SOLVEGATE_STORE_STORE_SCHEMA_H
#define SOLVEGATE_STORE_STORE_SCHEMA_H

#include "base/buf.h"

#include <solvegate/record.h>

struct sqlite3;

/* Goes into PRAGMA user_version; each version has a migration from the one before. */
#define SCHEMA_VERSION 3

/* How a kind of record is stored; the statements are made from this. */
struct schema_table {
    const char *name;
    const char *key;     /* the column that names a row */
    const char *columns; /* in the order in which rows are written and read */
    const char *dead;    /* condition on rows nobody needs any more, ?1 being the time; or NULL */
};

extern const struct schema_table schema_tables[RECORD_KIND_COUNT];

/* False with a sentence in mistake when a newer program or another one made the database. */
bool schema_is_ours(struct sqlite3 *db, struct buf *mistake);

/* What the rows of an older version could not be carried over with: its keys cannot be made anew. */
struct schema_loss {
    int64_t solutions;   /* that were cached, banked or in a pool */
    int64_t idempotency; /* records */
};

/* Brings an empty or older database up to date; false with a sentence in mistake. */
bool schema_migrate(struct sqlite3 *db, struct schema_loss *loss, struct buf *mistake);

#endif
