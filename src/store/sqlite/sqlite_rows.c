#include "store/sqlite/sqlite_rows.h"

#include "base/assert.h"
#include "store/sqlite/sqlite_sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define SQL_MAX 1024
/* Four megabytes: a checkpoint of some milliseconds, after every few hundred records with tokens. */
#define CHECKPOINT_PAGES 1000

/* ---- statements -------------------------------------------------------------------------- */

/* The building blocks of a table's statements. */
struct parts {
    char columns[SQL_MAX]; /* "id, key, client" */
    char places[SQL_MAX];  /* "?, ?, ?" */
    char keys[SQL_MAX];
    char key_places[SQL_MAX];
    char changes[SQL_MAX]; /* "key = excluded.key, client = excluded.client" */
    char expired[SQL_MAX]; /* a condition, ?1 being row_expired_until() */
};

static void list(char text[SQL_MAX], const struct column *columns, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count && len < SQL_MAX; i++)
        len += (size_t)snprintf(text + len, SQL_MAX - len, "%s%s", i == 0 ? "" : ", ",
                                columns == NULL ? "?" : columns[i].name);
    ASSERT(len < SQL_MAX);
}

static void list_changes(char text[SQL_MAX], const struct row_table *table)
{
    size_t len = 0;
    for (size_t i = table->key_count; i < table->count && len < SQL_MAX; i++) {
        const char *const name = table->columns[i].name;
        len += (size_t)snprintf(text + len, SQL_MAX - len, "%s%s = excluded.%s",
                                len == 0 ? "" : ", ", name, name);
    }
    ASSERT(len < SQL_MAX);
}

static struct parts parts_of(const struct row_table *table)
{
    const struct row_expiry *const expiry = &table->expiry;
    struct parts parts;
    list(parts.columns, table->columns, table->count);
    list(parts.places, NULL, table->count);
    list(parts.keys, table->columns, table->key_count);
    list(parts.key_places, NULL, table->key_count);
    list_changes(parts.changes, table);
    if (expiry->column == NULL)
        (void)snprintf(parts.expired, SQL_MAX, "0");
    else
        (void)snprintf(parts.expired, SQL_MAX, "%s <= ?1 AND (%s)", expiry->column,
                       expiry->condition == NULL ? "1" : expiry->condition);
    return parts;
}

static struct sqlite3_stmt *prepare(struct sqlite_store *store, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    ASSERT(text != NULL);
    struct sqlite3_stmt *const statement = sql_prepare(store->db, text);
    sqlite3_free(text);
    return statement;
}

/* Is the expiry all that an index has? */
static bool has_time_index(unsigned kind)
{
    return kind == RECORD_ATTEMPT || kind == RECORD_SOLUTION;
}

/* The engine counts a time back from the wall clock anew for each record, so that it differs by a millisecond or, while
 * that clock is slewed, some more. */
#define SAME_MS 100

/* Changes a row whose expiry stays. SQLite takes a row out of an index and puts it back, even into the same place,
 * whenever a statement sets a column of that index, so this one leaves it out. */
static struct sqlite3_stmt *prepare_change(struct sqlite_store *store,
                                           const struct row_table *table)
{
    char changes[SQL_MAX] = "";
    size_t len = 0;
    size_t expiry = 0;
    for (size_t i = table->key_count; i < table->count && len < SQL_MAX; i++) {
        const char *const name = table->columns[i].name;
        if (strcmp(name, table->expiry.column) == 0)
            expiry = i;
        else
            len += (size_t)snprintf(changes + len, SQL_MAX - len, "%s%s = ?%zu",
                                    len == 0 ? "" : ", ", name, i + 1);
    }
    ASSERT(len < SQL_MAX && expiry != 0);
    return prepare(store, "UPDATE %s SET %s WHERE %s = ?1 AND %s BETWEEN ?%d - %d AND ?%d + %d",
                   table->name, changes, table->columns[0].name, table->expiry.column,
                   (int)expiry + 1, SAME_MS, (int)expiry + 1, SAME_MS);
}

static bool prepare_kind(struct sqlite_store *store, unsigned kind)
{
    const struct parts parts = parts_of(&row_tables[kind]);
    const char *const name = row_tables[kind].name;
    /* REPLACE would copy every page that it changes first, so that it could be undone alone. */
    store->put[kind] =
        prepare(store, "INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s", name,
                parts.columns, parts.places, parts.keys, parts.changes);
    if (has_time_index(kind))
        store->change[kind] = prepare_change(store, &row_tables[kind]);
    store->drop[kind] =
        prepare(store, "DELETE FROM %s WHERE (%s) = (%s)", name, parts.keys, parts.key_places);
    store->load[kind] = prepare(store, "SELECT %s FROM %s WHERE NOT (%s) ORDER BY %s",
                                parts.columns, name, parts.expired, parts.keys);
    store->tidy[kind] =
        prepare(store, "DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s LIMIT ?2)", name,
                parts.keys, parts.keys, name, parts.expired);
    return store->put[kind] != NULL && (store->change[kind] != NULL || !has_time_index(kind)) &&
           store->drop[kind] != NULL && store->load[kind] != NULL && store->tidy[kind] != NULL;
}

bool rows_prepare(struct sqlite_store *store)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (!prepare_kind(store, kind))
            return false;
    store->begin = sql_prepare(store->db, "BEGIN IMMEDIATE");
    store->commit = sql_prepare(store->db, "COMMIT");
    return store->begin != NULL && store->commit != NULL;
}

void rows_finalize(struct sqlite_store *store)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        (void)sqlite3_finalize(store->put[kind]);
        (void)sqlite3_finalize(store->change[kind]);
        (void)sqlite3_finalize(store->drop[kind]);
        (void)sqlite3_finalize(store->load[kind]);
        (void)sqlite3_finalize(store->tidy[kind]);
    }
    (void)sqlite3_finalize(store->begin);
    (void)sqlite3_finalize(store->commit);
    free(store->rows);
}

/* ---- loading ----------------------------------------------------------------------------- */

static int load_kind(struct sqlite_store *store, enum record_kind kind, int64_t wall_ms,
                     store_on_values *on_values, void *context)
{
    const struct row_table *const table = &row_tables[kind];
    struct row_value values[ROW_COLUMNS_MAX];
    struct sqlite3_stmt *const statement = store->load[kind];
    if (table->expiry.column != NULL)
        (void)sqlite3_bind_int64(statement, 1, row_expired_until(&table->expiry, wall_ms));
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        sql_columns(statement, table->columns, table->count, values);
        on_values(context, kind, values);
    }
    (void)sqlite3_reset(statement);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum store_result rows_load(struct store_backend *backend, int64_t wall_ms,
                            store_on_values *on_values, void *context)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    int rc = SQLITE_OK;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && rc == SQLITE_OK; kind++)
        rc = load_kind(store, (enum record_kind)kind, wall_ms, on_values, context);
    const enum store_result result = sql_result(store, rc);
    if (result != STORE_DONE && !sql_is_damage(rc))
        (void)snprintf(backend->why, sizeof backend->why,
                       "%s cannot be read (%s); " SQLITE_STORE_ADVICE, store->path,
                       sqlite3_errmsg(store->db));
    return result;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Is there a row of this number probably, to be changed? Numbers grow, so only one that is not the highest yet can
 * have been put before. */
static bool is_known(struct sqlite_store *store, const struct record *record)
{
    if (store->change[record->kind] == NULL)
        return false;
    const uint64_t number =
        record->kind == RECORD_ATTEMPT ? record->attempt.name : record->solution.id;
    uint64_t *const highest = &store->highest[record->kind];
    if (number <= *highest)
        return true;
    *highest = number;
    return false;
}

static int run_statement(struct sqlite3_stmt *statement, const struct row_value *values,
                         size_t count)
{
    const int rc = sql_bind(statement, values, count);
    return rc == SQLITE_OK ? sql_step(statement) : rc;
}

static int write_entry(struct sqlite_store *store, const struct store_entry *entry)
{
    const struct record *const record = &entry->record;
    const struct slice client = {.data = entry->client, .len = entry->client_len};
    struct row_value values[ROW_COLUMNS_MAX];
    const size_t count = row_to_values(record, client, &store->scratch, values);
    if (record->is_drop)
        return run_statement(store->drop[record->kind], values, count);
    if (is_known(store, record)) {
        const int rc = run_statement(store->change[record->kind], values, count);
        if (rc != SQLITE_OK || sqlite3_changes(store->db) > 0)
            return rc;
    }
    return run_statement(store->put[record->kind], values, count);
}

/* Only the last record of each row: nobody ever sees those before it. */
static size_t choose_rows(struct sqlite_store *store, const struct store_batch *batch)
{
    if (store->row_room < batch->count) {
        free(store->rows);
        store->rows = malloc(batch->count * sizeof *store->rows);
        ASSERT(store->rows != NULL);
        store->row_room = batch->count;
    }
    return store_latest(batch, store->rows);
}

enum store_result rows_write(struct store_backend *backend, const struct store_batch *batch)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    const size_t count = choose_rows(store, batch);
    int rc = sql_begin(store);
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++)
        rc = write_entry(store, store->rows[i].entry);
    if (rc == SQLITE_OK)
        rc = sql_commit(store);
    return sql_result(store, rc);
}

enum store_result rows_settle(struct store_backend *backend, bool is_last)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    const bool is_due = is_last || store->wal_pages >= CHECKPOINT_PAGES;
    return is_due ? sql_result(store, sql_checkpoint(store, is_last)) : STORE_DONE;
}

/* ---- tidying ----------------------------------------------------------------------------- */

static int tidy_kind(struct sqlite_store *store, unsigned kind, int64_t wall_ms, unsigned limit,
                     bool *has_more)
{
    struct sqlite3_stmt *const statement = store->tidy[kind];
    if (row_tables[kind].expiry.column == NULL)
        return SQLITE_OK;
    const struct row_value values[] = {
        {.type = VALUE_INTEGER, .integer = row_expired_until(&row_tables[kind].expiry, wall_ms)},
        {.type = VALUE_INTEGER, .integer = limit},
    };
    int rc = sql_bind(statement, values, 2);
    if (rc == SQLITE_OK)
        rc = sql_step(statement);
    if (rc == SQLITE_OK && (unsigned)sqlite3_changes(store->db) >= limit)
        *has_more = true;
    return rc;
}

enum store_result rows_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                            bool *has_more)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    *has_more = false;
    int rc = sql_begin(store);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && rc == SQLITE_OK; kind++)
        rc = tidy_kind(store, kind, wall_ms, limit, has_more);
    if (rc == SQLITE_OK)
        rc = sql_commit(store);
    return sql_result(store, rc);
}
