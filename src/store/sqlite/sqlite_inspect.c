#include "store/sqlite/sqlite_inspect.h"

#include "store/sqlite/sqlite_schema.h"
#include "store/sqlite/sqlite_sql.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

/* Another program may hold a lock for a moment. */
#define BUSY_MS 2000
#define STATEMENT_MAX 128

static bool report_rows(struct sqlite3 *db, struct buf *report)
{
    for (size_t kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        char text[STATEMENT_MAX];
        int64_t rows = 0;
        (void)snprintf(text, sizeof text, "SELECT count(*) FROM %s", row_tables[kind].name);
        if (sql_number(db, text, &rows) != SQLITE_OK)
            return false;
        buf_addf(report, "%s: %lld rows\n", row_tables[kind].name, (long long)rows);
    }
    return true;
}

/* An older file has other tables, which the gateway changes when it opens them. */
static bool report_database(struct sqlite3 *db, struct buf *report, struct buf *mistake)
{
    int64_t version = 0;
    if (!schema_is_ours(db, mistake) ||
        sql_number(db, "PRAGMA user_version", &version) != SQLITE_OK)
        return false;
    if (version == SCHEMA_VERSION)
        buf_addf(report, "schema: version %d, as this program's\n", SCHEMA_VERSION);
    else
        buf_addf(report, "schema: version %lld; the gateway brings it to %d\n", (long long)version,
                 SCHEMA_VERSION);
    return version != SCHEMA_VERSION || report_rows(db, report);
}

enum store_opening sqlite_inspect(const struct store_place *place, const char *address,
                                  struct buf *report, struct buf *mistake)
{
    (void)place;
    char path[PATH_MAX];
    struct sqlite3 *db = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", address, SQLITE_STORE_FILE);
    if (access(path, F_OK) != 0) {
        buf_addf(mistake, "%s is not there; the gateway makes it at its first start", path);
        return STORE_UNUSABLE;
    }
    buf_addf(report, "SQLite %s, %s\n", sqlite3_libversion(), path);
    struct buf why;
    buf_init(&why, 1024);
    const int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    const bool is_good = rc == SQLITE_OK && sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK &&
                         report_database(db, report, &why);
    if (!is_good && why.len == 0)
        buf_addf(&why, "cannot be read (%s)", sqlite3_errmsg(db));
    if (!is_good)
        buf_addf(mistake, "%s %.*s", path, (int)why.len, why.data);
    buf_close(&why);
    (void)sqlite3_close(db);
    return is_good ? STORE_OPENED : STORE_UNUSABLE;
}
