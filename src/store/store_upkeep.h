/* What is done to the open database besides writing records: checkpoints, secrets, tidying. */
#ifndef SOLVEGATE_STORE_STORE_UPKEEP_H
#define SOLVEGATE_STORE_STORE_UPKEEP_H

#include "store/store_db.h"

/* Runs a prepared statement that gives no rows, and resets it; a result code of SQLite. */
int db_step(struct sqlite3_stmt *statement);

/* Whether this failure, the latest, ends when somebody makes room on the disk. */
bool db_is_full(const struct store_db *db, int rc);

/* Moves the log into the file; a result code of SQLite. Full leaves the rest in the log, where it
 * is as safe. */
int db_checkpoint(struct store_db *db, bool is_last);

/* Finds or makes it; 0 or an error of ours. */
int db_secret(struct store_db *db, const char *name, uint8_t *bytes, size_t count) MUST_CHECK;

/* The same, made anew when it is older than max_age_ms; the one before, or the same again. */
#define DB_SECRET_MAX 64
int db_rotating_secret(struct store_db *db, const char *name, int64_t max_age_ms, uint8_t *bytes,
                       uint8_t *old_bytes, size_t count) MUST_CHECK;

/* Deletes at most limit dead rows of each kind in one transaction, all of them if it is negative;
 * a result code of SQLite. *has_more when some kind reached the limit. */
int db_tidy(struct store_db *db, int64_t wall_ms, int limit, bool *has_more);

#endif
