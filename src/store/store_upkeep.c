#include "store/store_upkeep.h"

#include "base/assert.h"
#include "store/store_sql.h"

#include <errno.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>

int db_step(struct sqlite3_stmt *statement)
{
    const int rc = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

bool db_is_full(const struct store_db *db, int rc)
{
    /* SQLite knows ENOSPC only; a write beyond a quota is as harmless, and so is somebody who looks
     * at the database and forgets to end. */
    return (rc & 0xff) == SQLITE_FULL || (rc & 0xff) == SQLITE_BUSY ||
           (rc == SQLITE_IOERR_WRITE && sqlite3_system_errno(db->sqlite) == EDQUOT);
}

int db_checkpoint(struct store_db *db, bool is_last)
{
    const int mode = is_last ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    const int rc = sqlite3_wal_checkpoint_v2(db->sqlite, NULL, mode, NULL, NULL);
    if (rc == SQLITE_OK)
        db->wal_pages = 0;
    return rc;
}

/* One statement with a name and bytes; the answer is one of ours. */
static int run_with(struct store_db *db, const char *text, const char *name, struct slice bytes,
                    int64_t number)
{
    sqlite3_stmt *const statement = sql_prepare(db->sqlite, text);
    if (statement == NULL)
        return ERR_IO;
    struct sql_out out = {.statement = statement};
    sql_put_word(&out, name);
    if (sqlite3_bind_parameter_count(statement) > 1)
        sql_put_bytes(&out, bytes);
    if (sqlite3_bind_parameter_count(statement) > 2)
        sql_put_i64(&out, number);
    const int rc = out.rc == SQLITE_OK ? sqlite3_step(statement) : out.rc;
    const bool is_full = db_is_full(db, rc);
    (void)sqlite3_finalize(statement);
    if (rc == SQLITE_DONE)
        return 0;
    return is_full ? ERR_FULL : ERR_IO;
}

/* ERR_NOT_FOUND when there is none of this name. */
static int find_secret(struct store_db *db, const char *name, uint8_t *bytes, size_t count)
{
    sqlite3_stmt *const statement =
        sql_prepare(db->sqlite, "SELECT bytes FROM secret WHERE name = ?");
    if (statement == NULL)
        return ERR_IO;
    struct sql_out out = {.statement = statement};
    sql_put_word(&out, name);
    const int rc = sqlite3_step(statement);
    int result = rc == SQLITE_DONE ? ERR_NOT_FOUND : ERR_IO;
    if (rc == SQLITE_ROW) {
        struct sql_in in = {.statement = statement};
        const struct slice found = sql_take_bytes(&in);
        result = found.len == count ? 0 : ERR_INVALID;
        if (result == 0)
            memcpy(bytes, found.data, count);
    }
    (void)sqlite3_finalize(statement);
    return result;
}

int db_secret(struct store_db *db, const char *name, uint8_t *bytes, size_t count)
{
    const int found = find_secret(db, name, bytes, count);
    if (found != ERR_NOT_FOUND)
        return found;
    randombytes_buf(bytes, count);
    const struct slice made = {.data = (const char *)bytes, .len = count};
    return run_with(db, "INSERT INTO secret (name, bytes, made) VALUES (?, ?, unixepoch() * 1000)",
                    name, made, 0);
}

/* Both statements or neither: what was told to the vendor must stay understood. */
static int rotate(struct store_db *db, const char *name, int64_t max_age_ms, size_t count)
{
    uint8_t bytes[DB_SECRET_MAX];
    ASSERT(count <= sizeof(bytes));
    randombytes_buf(bytes, count);
    const struct slice fresh = {.data = (const char *)bytes, .len = count};
    const int rc = db_step(db->begin);
    if (rc != SQLITE_OK)
        return db_is_full(db, rc) ? ERR_FULL : ERR_IO;
    int err = run_with(db,
                       "REPLACE INTO secret SELECT name || '.old', bytes, made FROM secret "
                       "WHERE name = ?1 AND ?2 IS NOT NULL AND made <= unixepoch() * 1000 - ?3",
                       name, fresh, max_age_ms);
    if (err == 0)
        err = run_with(db,
                       "REPLACE INTO secret SELECT name, ?2, unixepoch() * 1000 FROM secret "
                       "WHERE name = ?1 AND made <= unixepoch() * 1000 - ?3",
                       name, fresh, max_age_ms);
    sodium_memzero(bytes, sizeof(bytes));
    if (err == 0 && db_step(db->commit) != SQLITE_OK)
        err = ERR_IO;
    if (err != 0)
        sql_roll_back(db->sqlite);
    return err;
}

int db_rotating_secret(struct store_db *db, const char *name, int64_t max_age_ms, uint8_t *bytes,
                       uint8_t *old_bytes, size_t count)
{
    char old_name[64];
    (void)snprintf(old_name, sizeof(old_name), "%s.old", name);
    int err = rotate(db, name, max_age_ms, count);
    if (err == 0 || err == ERR_FULL)
        err = db_secret(db, name, bytes, count);
    if (err != 0)
        return err;
    err = find_secret(db, old_name, old_bytes, count);
    if (err != ERR_NOT_FOUND)
        return err;
    memcpy(old_bytes, bytes, count);
    return 0;
}

static int tidy_kind(struct store_db *db, sqlite3_stmt *statement, int64_t wall_ms, int limit,
                     bool *has_more)
{
    struct sql_out out = {.statement = statement};
    sql_put_i64(&out, wall_ms);
    sql_put_i64(&out, limit);
    const int rc = out.rc == SQLITE_OK ? db_step(statement) : out.rc;
    if (rc == SQLITE_OK && limit > 0 && sqlite3_changes(db->sqlite) >= limit)
        *has_more = true;
    return rc;
}

int db_tidy(struct store_db *db, int64_t wall_ms, int limit, bool *has_more)
{
    *has_more = false;
    int rc = db_step(db->begin);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && rc == SQLITE_OK; kind++)
        if (db->tidy[kind] != NULL)
            rc = tidy_kind(db, db->tidy[kind], wall_ms, limit, has_more);
    if (rc == SQLITE_OK)
        rc = db_step(db->commit);
    if (rc != SQLITE_OK)
        sql_roll_back(db->sqlite);
    return rc;
}
