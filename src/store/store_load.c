#include "store/store_load.h"

#include "store/store_rows.h"
#include "store/store_schema.h"

#include <sqlite3.h>
#include <stdio.h>

#define SQL_ROOM 1024
/* Longer names exist in no configuration. */
#define NAME_ROOM 256

/* The latest client found: neighbours in a table often have the same one. */
struct finder {
    const struct store_names *names; /* borrowed */
    char name[NAME_ROOM];
    size_t len;
    client_id client;
    bool is_known;
};

static bool find_client(struct finder *finder, struct slice name, client_id *client)
{
    const struct slice latest = {.data = finder->name, .len = finder->len};
    if (name.len >= sizeof(finder->name))
        return false;
    if (finder->len == 0 || !slice_equals(name, latest)) {
        if (name.len > 0)
            memcpy(finder->name, name.data, name.len);
        finder->len = name.len;
        finder->is_known = finder->names->find(finder->names->context, name, &finder->client);
    }
    *client = finder->client;
    return finder->is_known;
}

/* Books and budgets of a client that is gone are nobody's, and go by their age. */
static bool find_gone(const struct store_names *names, enum record_kind kind, struct slice name,
                      client_id *client)
{
    const bool is_worth_it = kind != RECORD_TALLY && kind != RECORD_SPENT;
    return is_worth_it && names->find_gone != NULL &&
           names->find_gone(names->context, name, client);
}

static bool take_row(struct sqlite3_stmt *statement, struct finder *finder, struct record *record)
{
    struct sql_in in = {.statement = statement};
    struct slice name = SLICE_NONE;
    row_take(&in, record, &name);
    client_id *const client = row_client(record);
    return !in.is_bad && (client == NULL || find_client(finder, name, client) ||
                          find_gone(finder->names, record->kind, name, client));
}

static struct sqlite3_stmt *prepare(struct store_db *db, enum record_kind kind, int64_t wall_ms)
{
    const struct schema_table *const table = &schema_tables[kind];
    char text[SQL_ROOM];
    (void)snprintf(text, sizeof(text), "SELECT %s FROM %s WHERE NOT (%s) ORDER BY %s",
                   table->columns, table->name, table->dead == NULL ? "0" : table->dead,
                   table->key);
    struct sqlite3_stmt *const statement = sql_prepare(db->sqlite, text);
    if (statement != NULL && table->dead != NULL)
        (void)sqlite3_bind_int64(statement, 1, wall_ms);
    return statement;
}

int load_rows(struct store_db *db, const struct store_names *names, int64_t wall_ms,
              void (*on_row)(void *context, const struct record *record), void *context,
              uint64_t *skipped)
{
    struct finder finder = {.names = names};
    int result = 0;
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == 0; kind++) {
        struct sqlite3_stmt *const statement = prepare(db, (enum record_kind)kind, wall_ms);
        int rc = SQLITE_ERROR;
        while (statement != NULL && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
            struct record record = {.kind = (enum record_kind)kind};
            if (take_row(statement, &finder, &record))
                on_row(context, &record);
            else
                (*skipped)++;
            record_close(&record);
        }
        (void)sqlite3_finalize(statement);
        if (rc != SQLITE_DONE)
            result = ERR_IO;
    }
    return result;
}
