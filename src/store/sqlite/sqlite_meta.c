#include "store/sqlite/sqlite_meta.h"

#include "store/sqlite/sqlite_sql.h"
#include "store/store_clock.h"
#include "store/store_secret.h"

#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>

#define SQL_MAX 1024

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value text(const char *string)
{
    return (struct row_value){.type = VALUE_TEXT, .bytes = slice_from(string)};
}

static struct row_value secret_bytes(const struct store_secret *secret)
{
    return (struct row_value){.type = VALUE_BYTES,
                              .bytes = {.data = (const char *)secret->bytes, .len = secret->count}};
}

static int run(struct sqlite_store *store, const char *sql, const struct row_value *values,
               size_t count)
{
    struct sqlite3_stmt *const statement = sql_prepare(store->db, sql);
    if (statement == NULL)
        return sqlite3_extended_errcode(store->db);
    (void)sql_bind(statement, values, count);
    return sql_step_once(statement);
}

/* The columns of one row. Bytes in them are borrowed until the statement is finalized. */
static int find(struct sqlite3_stmt *statement, const struct column *columns, size_t count,
                struct row_value *values, bool *is_found)
{
    const int rc = sqlite3_step(statement);
    *is_found = rc == SQLITE_ROW;
    if (*is_found)
        sql_columns(statement, columns, count, values);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- secrets ----------------------------------------------------------------------------- */

static int read_secret(struct sqlite_store *store, const char *name, struct store_secret *secret)
{
    static const struct column columns[] = {{.type = COLUMN_BYTES}, {.type = COLUMN_DATE}};
    struct row_value values[2];
    bool is_found;
    const struct row_value key = text(name);
    *secret = (struct store_secret){.count = 0};
    struct sqlite3_stmt *const statement =
        sql_prepare(store->db, "SELECT bytes, made FROM secret WHERE name = ?");
    if (statement == NULL)
        return sqlite3_extended_errcode(store->db);
    (void)sql_bind(statement, &key, 1);
    const int rc = find(statement, columns, 2, values, &is_found);
    if (is_found) {
        secret->count = values[0].bytes.len;
        secret->made_wall_ms = values[1].integer;
        if (secret->count <= sizeof secret->bytes)
            memcpy(secret->bytes, values[0].bytes.data, secret->count);
    }
    (void)sqlite3_finalize(statement);
    return rc;
}

enum store_result meta_find_secret(struct store_backend *backend, const char *name,
                                   struct store_secret *secret)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    return sql_result(store, read_secret(store, name, secret));
}

static int write_secret(struct sqlite_store *store, const char *name,
                        const struct store_secret *secret)
{
    const struct row_value values[] = {text(name), secret_bytes(secret),
                                       integer(secret->made_wall_ms)};
    return run(store, "REPLACE INTO secret (name, bytes, made) VALUES (?, ?, ?)", values, 3);
}

enum store_result meta_replace_secret(struct store_backend *backend, const char *name,
                                      const struct store_secret *secret, const char *old_name,
                                      const struct store_secret *before)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    struct store_secret stored = {.count = 0};
    int rc = sql_begin(store);
    if (rc == SQLITE_OK)
        rc = read_secret(store, name, &stored);
    if (rc == SQLITE_OK && secret_is_same(&stored, before)) {
        if (before != NULL)
            rc = write_secret(store, old_name, before);
        if (rc == SQLITE_OK)
            rc = write_secret(store, name, secret);
    }
    if (rc == SQLITE_OK)
        rc = sql_commit(store);
    sodium_memzero(&stored, sizeof stored);
    return sql_result(store, rc);
}

/* ---- the clock --------------------------------------------------------------------------- */

static bool is_time(const struct row_value *value)
{
    return value->type == VALUE_INTEGER && value->integer >= 0 && value->integer <= ROW_TIME_MAX;
}

static int read_mark(struct sqlite_store *store, struct store_mark *mark)
{
    static const struct column columns[] = {
        {.type = COLUMN_TEXT}, {.type = COLUMN_TIME}, {.type = COLUMN_TIME}};
    struct row_value values[3];
    bool is_found;
    *mark = (struct store_mark){.is_set = false};
    struct sqlite3_stmt *const statement =
        sql_prepare(store->db, "SELECT boot, even, wall FROM clock");
    if (statement == NULL)
        return sqlite3_extended_errcode(store->db);
    const int rc = find(statement, columns, 3, values, &is_found);
    if (is_found && values[0].bytes.len < sizeof mark->boot && is_time(&values[1]) &&
        is_time(&values[2])) {
        *mark = (struct store_mark){
            .is_set = true, .even_ms = values[1].integer, .wall_ms = values[2].integer};
        memcpy(mark->boot, values[0].bytes.data, values[0].bytes.len);
    }
    (void)sqlite3_finalize(statement);
    return rc;
}

enum store_result meta_read_mark(struct store_backend *backend, struct store_mark *mark)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    return sql_result(store, read_mark(store, mark));
}

static int write_mark(struct sqlite_store *store, const struct clocks *now)
{
    const struct row_value values[] = {text(now->boot), integer(now->even_ms),
                                       integer(now->wall_ms)};
    return run(store, "REPLACE INTO clock (id, boot, even, wall) VALUES (1, ?, ?, ?)", values, 3);
}

/* "UPDATE solution SET born = max(born + ?1, 0), … WHERE born BETWEEN 0 AND … AND …": skips rows
 * with an invalid time, which are damaged, never loaded, and must not overflow. False if this kind
 * has no time that moves. */
static bool add_shift(struct buf *text, const struct row_table *table)
{
    struct buf where;
    buf_init(&where, SQL_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->columns[i];
        if (column->type != COLUMN_TIME && column->type != COLUMN_TIME_OR_0)
            continue;
        if (where.len == 0)
            buf_addf(text, "UPDATE %s SET ", table->name);
        buf_addf(text, "%s%s = max(%s + ?1, 0)", where.len == 0 ? "" : ", ", column->name,
                 column->name);
        buf_addf(&where, "%s%s BETWEEN %d AND %lld", where.len == 0 ? " WHERE " : " AND ",
                 column->name, column->type == COLUMN_TIME_OR_0, (long long)ROW_TIME_MAX);
    }
    const bool has_times = where.len > 0;
    buf_add(text, buf_slice(&where));
    buf_add_char(text, '\0');
    buf_close(&where);
    return has_times;
}

static int shift_times(struct sqlite_store *store, const struct store_shift *shift)
{
    const struct row_value by = integer(shift->by_ms);
    struct store_mark mark;
    struct buf sql;
    int rc = read_mark(store, &mark);
    if (rc != SQLITE_OK || store_clock_is_at(&mark, &shift->now))
        return rc;
    buf_init(&sql, SQL_MAX);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && rc == SQLITE_OK; kind++) {
        buf_reset(&sql);
        if (shift->by_ms != 0 && add_shift(&sql, &row_tables[kind]))
            rc = run(store, sql.data, &by, 1);
    }
    buf_close(&sql);
    return rc == SQLITE_OK ? write_mark(store, &shift->now) : rc;
}

enum store_result meta_shift(struct store_backend *backend, const struct store_shift *shift)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    int rc = sql_begin(store);
    if (rc == SQLITE_OK)
        rc = shift_times(store, shift);
    if (rc == SQLITE_OK)
        rc = sql_commit(store);
    return sql_result(store, rc);
}
