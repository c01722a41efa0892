/* The versions of the database's tables and the migration from each to the next. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_SCHEMA_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_SCHEMA_H

#include "base/buf.h"

struct sqlite3;

/* Goes into PRAGMA user_version; each version has a migration from the one before. */
#define SCHEMA_VERSION 6

/* False with a sentence in mistake when a newer program or another one made the database. */
bool schema_is_ours(struct sqlite3 *db, struct buf *mistake);

/* Rows of an older version that are lost because their keys can no longer be computed. */
struct schema_loss {
    int64_t solutions;   /* those that were cached, banked or in a pool */
    int64_t idempotency; /* records */
};

/* Brings an empty or older database up to date; false with a sentence in mistake. */
bool schema_migrate(struct sqlite3 *db, struct schema_loss *loss, struct buf *mistake);

#endif
