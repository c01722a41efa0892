/* Keeps the database file of an older version, so that the program of that version can be used again. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_BACKUP_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_BACKUP_H

#include "store/sqlite/sqlite_private.h"

/* Writes a copy of the whole database beside it, named by its version: solvegate.db.version-3. A copy of that name is
 * replaced. False with a sentence in mistake when the copy is not safely on disk. */
bool backup_keep(struct sqlite_store *store, int64_t version, struct buf *mistake);

#endif
