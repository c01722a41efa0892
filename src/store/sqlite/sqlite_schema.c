#include "store/sqlite/sqlite_schema.h"

#include "store/sqlite/sqlite_sql.h"

#include <sqlite3.h>

/* Identifies the database as ours to file(1) and to us: "SGat". */
#define APPLICATION_ID 1397186932

/* Times are milliseconds since 1970, digests and bytes are blobs, states are the words of the API,
 * ids are 64 bits wide and therefore negative from 2^63 on. */
static const char *const migrations[SCHEMA_VERSION] = {
    "CREATE TABLE secret (name TEXT PRIMARY KEY, bytes BLOB NOT NULL,"
    "  made INTEGER NOT NULL) STRICT;"
    "CREATE TABLE day (day INTEGER PRIMARY KEY, counters TEXT NOT NULL) STRICT;"
    "CREATE TABLE tally (day INTEGER NOT NULL, client TEXT NOT NULL, type TEXT NOT NULL,"
    "  counters TEXT NOT NULL, PRIMARY KEY (day, client, type)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE spent ("
    "  client TEXT PRIMARY KEY, day INTEGER NOT NULL, spent INTEGER NOT NULL) STRICT;"
    "CREATE TABLE solution ("
    "  id INTEGER PRIMARY KEY, flight INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    "  key BLOB NOT NULL, client TEXT NOT NULL, type TEXT NOT NULL, born INTEGER NOT NULL, expires "
    "INTEGER NOT NULL,"
    "  solve_ms INTEGER NOT NULL, handed INTEGER NOT NULL, attempts INTEGER NOT NULL,"
    "  kept INTEGER NOT NULL, shared INTEGER NOT NULL, task TEXT NOT NULL, text BLOB NOT NULL,"
    "  extra BLOB) STRICT;"
    "CREATE INDEX solution_expires ON solution (expires);"
    "CREATE TABLE flight ("
    "  id INTEGER PRIMARY KEY, key BLOB NOT NULL, client TEXT NOT NULL, type TEXT NOT NULL,"
    "  reuse TEXT NOT NULL, priority INTEGER NOT NULL, one_time INTEGER NOT NULL,"
    "  over INTEGER NOT NULL, class TEXT NOT NULL, code TEXT NOT NULL, created INTEGER NOT NULL,"
    "  params BLOB) STRICT;"
    "CREATE TABLE attempt ("
    "  name INTEGER PRIMARY KEY, flight INTEGER NOT NULL, key BLOB NOT NULL, client TEXT NOT NULL,"
    "  type TEXT NOT NULL, reuse TEXT NOT NULL, one_time INTEGER NOT NULL,"
    "  replied INTEGER NOT NULL, closed INTEGER NOT NULL, solved INTEGER NOT NULL,"
    "  started INTEGER NOT NULL, task TEXT NOT NULL, cause_class TEXT NOT NULL,"
    "  cause TEXT NOT NULL) STRICT;"
    "CREATE INDEX attempt_started ON attempt (started);"
    "CREATE TABLE request ("
    "  id INTEGER PRIMARY KEY, client TEXT NOT NULL, flight INTEGER NOT NULL,"
    "  solution INTEGER NOT NULL, state TEXT NOT NULL, source TEXT NOT NULL, class TEXT NOT NULL,"
    "  code TEXT NOT NULL, attempts INTEGER NOT NULL, expires INTEGER NOT NULL,"
    "  pingback BLOB) STRICT;"
    "CREATE INDEX request_expires ON request (expires) WHERE state IN ('solved', 'failed');"
    "CREATE TABLE idempotency ("
    "  digest BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, flight INTEGER NOT NULL,"
    "  solution INTEGER NOT NULL, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX idempotency_expires ON idempotency (expires);"
    "CREATE TABLE letter ("
    "  number INTEGER PRIMARY KEY, key BLOB NOT NULL, client TEXT NOT NULL, type TEXT NOT NULL,"
    "  class TEXT NOT NULL, reuse TEXT NOT NULL, priority INTEGER NOT NULL,"
    "  one_time INTEGER NOT NULL, created INTEGER NOT NULL, told INTEGER NOT NULL,"
    "  replays INTEGER NOT NULL, error TEXT, notes TEXT NOT NULL, params BLOB,"
    "  kind TEXT NOT NULL, request INTEGER NOT NULL, pingback BLOB, text BLOB,"
    "  task TEXT NOT NULL) STRICT;",
    /* An attempt whose flight is gone was counted when the flight ended. */
    "ALTER TABLE attempt RENAME COLUMN replied TO counted;"
    "UPDATE attempt SET counted = 1"
    "  WHERE NOT EXISTS (SELECT 1 FROM flight WHERE flight.id = attempt.flight);"
    "CREATE TABLE clock (id INTEGER PRIMARY KEY, boot TEXT NOT NULL, even INTEGER NOT NULL,"
    "  wall INTEGER NOT NULL) STRICT;",
    /* Keys were computed from a client's position in the configuration, which the next configuration may give to
     * another client. A key of zeros tells whoever restores the row to compute it again from the parameters.
     * Rows without parameters go, except for solutions, which callers may still fetch by their request's id. */
    "DELETE FROM idempotency;"
    "ALTER TABLE idempotency ADD COLUMN client TEXT NOT NULL DEFAULT '';"
    "UPDATE solution SET kept = 0;"
    "UPDATE flight SET key = zeroblob(32);"
    "UPDATE attempt SET key = zeroblob(32);"
    "UPDATE letter SET key = zeroblob(32);"
    "ALTER TABLE letter ADD COLUMN extra BLOB;"
    "ALTER TABLE letter ADD COLUMN fresh INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE flight ADD COLUMN rest INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN rest INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN partial BLOB;"
    "ALTER TABLE letter ADD COLUMN rest INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE flight ADD COLUMN max_retries INTEGER NOT NULL DEFAULT -1;"
    "ALTER TABLE flight ADD COLUMN retry_delay INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE letter ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE flight ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN number INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN why TEXT NOT NULL DEFAULT 'first';"
    "ALTER TABLE attempt ADD COLUMN resent INTEGER NOT NULL DEFAULT 0;"
    "UPDATE attempt SET why = iif(cause_class = 'ambiguous', 'resend', 'retry') WHERE cause <> '';",
    "ALTER TABLE flight ADD COLUMN idempotency BLOB;",
    "ALTER TABLE flight ADD COLUMN adoptions INTEGER NOT NULL DEFAULT 0;",
    "ALTER TABLE solution ADD COLUMN bad INTEGER NOT NULL DEFAULT 0;",
};

bool schema_is_ours(struct sqlite3 *db, struct buf *mistake)
{
    int64_t version = 0;
    int64_t application = 0;
    int64_t tables = 0;
    if (sql_number(db, "PRAGMA user_version", &version) != SQLITE_OK ||
        sql_number(db, "PRAGMA application_id", &application) != SQLITE_OK ||
        sql_number(db, "SELECT count(*) FROM sqlite_schema", &tables) != SQLITE_OK) {
        buf_addf(mistake, "cannot be read (%s); move it away, or restore a backup",
                 sqlite3_errmsg(db));
        return false;
    }
    if (application != APPLICATION_ID && (application != 0 || version != 0 || tables != 0)) {
        buf_addf(mistake, "is the database of another program; choose another data_dir");
        return false;
    }
    if (version > SCHEMA_VERSION) {
        buf_addf(mistake,
                 "was written by a newer solvegate (its version is %lld, this program knows %d); "
                 "run that one, or restore a backup of the older file",
                 (long long)version, SCHEMA_VERSION);
        return false;
    }
    return true;
}

static int migrate_from(struct sqlite3 *db, int64_t version)
{
    char number[96];
    (void)sqlite3_snprintf(sizeof number, number,
                           "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION_ID,
                           SCHEMA_VERSION);
    int rc = sql_run(db, "BEGIN IMMEDIATE");
    for (int64_t i = version; i < SCHEMA_VERSION && rc == SQLITE_OK; i++)
        rc = sql_run(db, migrations[i]);
    if (rc == SQLITE_OK)
        rc = sql_run(db, number);
    return rc == SQLITE_OK ? sql_run(db, "COMMIT") : rc;
}

/* Since version 3 keys are made of the client's name. */
#define NAMED_KEYS 3

static int count_loss(struct sqlite3 *db, int64_t version, struct schema_loss *loss)
{
    if (version == 0 || version >= NAMED_KEYS)
        return SQLITE_OK;
    const int rc = sql_number(db, "SELECT count(*) FROM solution WHERE kept = 1", &loss->solutions);
    return rc == SQLITE_OK ? sql_number(db, "SELECT count(*) FROM idempotency", &loss->idempotency)
                           : rc;
}

bool schema_migrate(struct sqlite3 *db, struct schema_loss *loss, struct buf *mistake)
{
    int64_t version = 0;
    int rc = sql_number(db, "PRAGMA user_version", &version);
    if (rc == SQLITE_OK)
        rc = count_loss(db, version, loss);
    if (rc == SQLITE_OK && version < SCHEMA_VERSION)
        rc = migrate_from(db, version);
    if (rc == SQLITE_OK)
        return true;
    buf_addf(mistake, "cannot be brought up to date (%s); the file is as it was before",
             sqlite3_errmsg(db));
    if (sqlite3_get_autocommit(db) == 0)
        (void)sql_run(db, "ROLLBACK");
    return false;
}
