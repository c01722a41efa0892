/* Searches the database file for damage. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_CHECK_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_CHECK_H

#include "store/sqlite/sqlite_private.h"

/* Reads the whole file through any connection to it; false with a sentence in mistake. */
bool check_is_sound(struct sqlite3 *db, const char *path, struct buf *mistake);

/* Opens the connection that check_run uses. Without a free descriptor nothing is checked. */
void check_open(struct sqlite_store *store);

/* As in struct store_driver. */
bool check_run(struct store_backend *backend, struct buf *mistake);
void check_stop(struct store_backend *backend);

#endif
