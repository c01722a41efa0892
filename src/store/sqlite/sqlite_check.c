#include "store/sqlite/sqlite_check.h"

#include <sqlite3.h>

/* Long enough for somebody who reads the database with the sqlite3 tool. */
#define BUSY_MS 2000

bool check_is_sound(struct sqlite3 *db, const char *path, struct buf *mistake)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    const bool has_answer = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    const char *answer =
        has_answer ? (const char *)sqlite3_column_text(statement, 0) : sqlite3_errmsg(db);
    const bool is_sound = has_answer && strcmp(answer, "ok") == 0;
    /* A line "*** in database main ***" comes first. */
    const char *const line = strchr(answer, '\n');
    if (line != NULL)
        answer = line + 1;
    if (!is_sound)
        buf_addf(mistake, "%s is damaged (%s); " SQLITE_STORE_ADVICE, path, answer);
    (void)sqlite3_finalize(statement);
    return is_sound;
}

void check_open(struct sqlite_store *store)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(store->path, &store->checked, flags, NULL) != SQLITE_OK) {
        (void)sqlite3_close(store->checked);
        store->checked = NULL;
        return;
    }
    (void)sqlite3_busy_timeout(store->checked, BUSY_MS);
    (void)sqlite3_db_config(store->checked, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/* A check that was interrupted or could not get a lock reports no damage. */
bool check_run(struct store_backend *backend, struct buf *mistake)
{
    const struct sqlite_store *const store = sqlite_store_of(backend);
    if (store->checked == NULL || check_is_sound(store->checked, store->path, mistake))
        return true;
    const int rc = sqlite3_errcode(store->checked) & 0xff;
    return atomic_load(&store->must_stop_check) || rc == SQLITE_INTERRUPT || rc == SQLITE_BUSY;
}

void check_stop(struct store_backend *backend)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    atomic_store(&store->must_stop_check, true);
    if (store->checked != NULL)
        sqlite3_interrupt(store->checked);
}
