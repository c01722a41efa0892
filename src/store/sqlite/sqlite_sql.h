/* Helpers for SQLite: whole statements, values of rows, result codes. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_SQL_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_SQL_H

#include "store/sqlite/sqlite_private.h"

/* Each returns a result code of SQLite. */
int sql_run(struct sqlite3 *db, const char *text);
/* The first column of the first row; 0 if there is no row. */
int sql_number(struct sqlite3 *db, const char *text, int64_t *number);
/* Runs a prepared statement that returns no rows, and resets it. */
int sql_step(struct sqlite3_stmt *statement);
/* Runs a statement that is used once, and finalizes it; NULL is an error. */
int sql_step_once(struct sqlite3_stmt *statement);

/* NULL if the text does not fit the tables. */
struct sqlite3_stmt *sql_prepare(struct sqlite3 *db, const char *text);

/* Binds the values to the parameters from the first on; their bytes are borrowed until the statement is reset. */
int sql_bind(struct sqlite3_stmt *statement, const struct row_value *values, size_t count);
/* Reads the columns of a row as integers and text; bytes are valid until the next step. The tables
 * are STRICT, so every value has the type of its column. */
void sql_columns(struct sqlite3_stmt *statement, const struct column *columns, size_t count,
                 struct row_value *values);

/* Moves the log into the file. On a full disk the rest stays in the log, where it is just as safe. */
int sql_checkpoint(struct sqlite_store *store, bool is_last);

/* Begins a write transaction; after a full disk it starts with a checkpoint. */
int sql_begin(struct sqlite_store *store);
int sql_commit(struct sqlite_store *store);

/* True if the code means that the file itself is damaged. */
bool sql_is_damage(int rc);

/* Turns SQLite's code into the port's, stores the reason in the backend, and rolls back a failed
 * transaction. */
enum store_result sql_result(struct sqlite_store *store, int rc);

#endif
