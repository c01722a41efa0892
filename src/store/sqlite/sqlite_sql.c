#include "store/sqlite/sqlite_sql.h"

#include "base/assert.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

int sql_run(struct sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int sql_number(struct sqlite3 *db, const char *text, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    *number = 0;
    int rc = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sql_step(struct sqlite3_stmt *statement)
{
    const int rc = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sql_step_once(struct sqlite3_stmt *statement)
{
    const int rc = statement == NULL ? SQLITE_ERROR : sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct sqlite3_stmt *sql_prepare(struct sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    return statement;
}

static int bind(struct sqlite3_stmt *statement, int at, const struct row_value *value)
{
    const struct slice bytes = value->bytes;
    switch (value->type) {
    case VALUE_NULL:
        return sqlite3_bind_null(statement, at);
    case VALUE_INTEGER:
        return sqlite3_bind_int64(statement, at, value->integer);
    case VALUE_TEXT:
        return sqlite3_bind_text64(statement, at, bytes.data, bytes.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case VALUE_BYTES:
        return sqlite3_bind_blob64(statement, at, bytes.data, bytes.len, SQLITE_STATIC);
    }
    UNREACHABLE();
}

int sql_bind(struct sqlite3_stmt *statement, const struct row_value *values, size_t count)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++)
        rc = bind(statement, (int)i + 1, &values[i]);
    return rc;
}

static struct row_value text_at(struct sqlite3_stmt *statement, int at)
{
    const char *data = sqlite3_column_blob(statement, at);
    const int len = sqlite3_column_bytes(statement, at);
    if (data == NULL && sqlite3_column_type(statement, at) == SQLITE_NULL)
        return (struct row_value){.type = VALUE_NULL};
    /* SQLite returns NULL for an empty blob, too. */
    return (struct row_value){.type = VALUE_TEXT,
                              .bytes = {.data = data == NULL ? "" : data, .len = (size_t)len}};
}

void sql_columns(struct sqlite3_stmt *statement, const struct column *columns, size_t count,
                 struct row_value *values)
{
    for (int i = 0; i < (int)count; i++) {
        if (column_is_integer(columns[i].type)) {
            values[i].type = VALUE_INTEGER;
            values[i].integer = sqlite3_column_int64(statement, i);
        } else {
            values[i] = text_at(statement, i);
        }
    }
}

bool sql_is_damage(int rc)
{
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
}

/* SQLite reports ENOSPC only as a full disk; exceeding a quota is as harmless. After any other
 * failure it may report success again although pages are lost, so such a failure is final
 * (docs/reliability.md, finding 2). */
static enum store_result classify(struct sqlite3 *db, int rc)
{
    const bool is_over_quota = rc == SQLITE_IOERR_WRITE && sqlite3_system_errno(db) == EDQUOT;
    if ((rc & 0xff) == SQLITE_FULL || is_over_quota)
        return STORE_NO_ROOM;
    return (rc & 0xff) == SQLITE_BUSY ? STORE_RETRY : STORE_FAILED;
}

int sql_checkpoint(struct sqlite_store *store, bool is_last)
{
    const int mode = is_last ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    const int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, mode, NULL, NULL);
    if (rc == SQLITE_OK)
        store->wal_pages = 0;
    return rc;
}

int sql_begin(struct sqlite_store *store)
{
    /* After a checkpoint the log is overwritten from its start, which needs no new disk space. */
    const int rc = store->was_full ? sql_checkpoint(store, false) : SQLITE_OK;
    if (rc != SQLITE_OK && classify(store->db, rc) == STORE_FAILED)
        return rc;
    return sql_step(store->begin);
}

int sql_commit(struct sqlite_store *store)
{
    const int rc = sql_step(store->commit);
    if (rc == SQLITE_OK)
        store->was_full = false;
    return rc;
}

enum store_result sql_result(struct sqlite_store *store, int rc)
{
    if (rc == SQLITE_OK)
        return STORE_DONE;
    const enum store_result result = classify(store->db, rc);
    store->was_full = true;
    char *const why = store->base.why;
    if (sql_is_damage(rc))
        (void)snprintf(why, sizeof store->base.why, "%s is damaged (%s); " SQLITE_STORE_ADVICE,
                       store->path, sqlite3_errmsg(store->db));
    else
        (void)snprintf(why, sizeof store->base.why, "%s (SQLite %d)", sqlite3_errstr(rc), rc);
    if (sqlite3_get_autocommit(store->db) == 0)
        (void)sql_run(store->db, "ROLLBACK");
    return result;
}
