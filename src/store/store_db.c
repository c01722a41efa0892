#include "store/store_db.h"

#include "base/assert.h"
#include "store/store_schema.h"
#include "store/store_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "solvegate.db"
/* A path in a directory, with the endings SQLite adds. */
#define PATH_ROOM (PATH_MAX + 16)
#define SQL_ROOM 1024
/* SQLite's page, as it is unless somebody asks for another, behind the log's header of it. */
#define WAL_FRAME_BYTES (4096 + 24)

/* How long somebody with the sqlite3 tool may hold us up before it counts as a full disk. */
#define BUSY_MS 2000

#define WHAT_TO_DO "move it and the files beside it away, or restore a backup"

static enum store_opening refuse(struct buf *mistake, const char *path, const char *what)
{
    buf_addf(mistake, "%s %s: %s", path, what, strerror(errno));
    return STORE_UNUSABLE;
}

/* Before the database is so much as looked at, since a second instance must not touch it. */
static enum store_opening lock_directory(struct store_db *db, const char *directory,
                                         struct buf *mistake)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return refuse(mistake, directory, "cannot be made");
    db->lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db->lock < 0)
        return refuse(mistake, directory, "cannot be opened");
    if (flock(db->lock, LOCK_EX | LOCK_NB) == 0)
        return STORE_OPENED;
    if (errno != EWOULDBLOCK)
        return refuse(mistake, directory, "cannot be locked");
    buf_addf(mistake, "%s is in use by another instance; stop that one or choose another data_dir",
             directory);
    return STORE_LOCKED;
}

/* SQLite would make the file readable for everybody; its log then takes the file's mode. */
static enum store_opening make_file(const char *path, struct buf *mistake)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return refuse(mistake, path, "cannot be opened");
    struct stat facts;
    const bool is_private =
        fstat(file, &facts) == 0 && ((facts.st_mode & 077) == 0 || fchmod(file, 0600) == 0);
    const enum store_opening opening =
        is_private ? STORE_OPENED : refuse(mistake, path, "cannot be made private");
    (void)close(file);
    return opening;
}

/* SQLite passes over a failed sync of the directory, so the names are made safe here, once and
 * before anything is paid for. */
static enum store_opening sync_directory(const struct store_db *db, struct buf *mistake)
{
    return fsync(db->lock) == 0
               ? STORE_OPENED
               : refuse(mistake, db->path, "has a directory that cannot be synced");
}

static int count_pages(void *context, sqlite3 *sqlite, const char *name, int pages)
{
    struct store_db *const db = context;
    (void)sqlite;
    (void)name;
    /* The log starts again from its beginning once all of it is in the file. */
    const int added = pages > db->wal_pages ? pages - db->wal_pages : pages;
    db->wal_bytes += (uint64_t)added * WAL_FRAME_BYTES;
    db->wal_pages = pages;
    return SQLITE_OK;
}

/* Only the writer moves the log into the file, when it has time: neither a commit nor closing does. */
static int configure(struct store_db *db)
{
    int keep = 1;
    int rc = sql_run(db->sqlite, "PRAGMA journal_size_limit = 16777216;"
                                 "PRAGMA synchronous = FULL;"
                                 "PRAGMA cache_size = -16384;"
                                 "PRAGMA temp_store = MEMORY;"
                                 "PRAGMA cell_size_check = ON;"
                                 "PRAGMA trusted_schema = OFF;");
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_file_control(db->sqlite, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
    (void)sqlite3_wal_hook(db->sqlite, count_pages, db);
    return rc;
}

/* "ok", or what is wrong first. */
bool db_is_sound(struct sqlite3 *sqlite, const char *path, struct buf *mistake)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(sqlite, "PRAGMA quick_check(1)", -1, &statement, NULL);
    const bool has_answer = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    const char *answer =
        has_answer ? (const char *)sqlite3_column_text(statement, 0) : sqlite3_errmsg(sqlite);
    const bool is_good = has_answer && strcmp(answer, "ok") == 0;
    /* A line "*** in database main ***" comes first. */
    const char *const line = strchr(answer, '\n');
    if (line != NULL)
        answer = line + 1;
    if (!is_good)
        buf_addf(mistake, "%s is damaged (%s); " WHAT_TO_DO, path, answer);
    (void)sqlite3_finalize(statement);
    return is_good;
}

void db_explain(const struct store_db *db, struct buf *mistake)
{
    const int rc = sqlite3_errcode(db->sqlite) & 0xff;
    const bool is_damaged = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB;
    buf_addf(mistake, "%s %s (%s); " WHAT_TO_DO, db->path,
             is_damaged ? "is damaged" : "cannot be read", sqlite3_errmsg(db->sqlite));
}

static bool start_log(struct store_db *db, struct buf *mistake)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(db->sqlite, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    const bool is_wal = statement != NULL && sqlite3_step(statement) == SQLITE_ROW &&
                        strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    (void)sqlite3_finalize(statement);
    if (!is_wal)
        buf_addf(mistake, "cannot have a write-ahead log (%s)", sqlite3_errmsg(db->sqlite));
    return is_wal;
}

/* A place for each column: "?, ?, ?". */
static void add_places(struct buf *text, const char *columns)
{
    buf_add_char(text, '?');
    for (const char *c = columns; *c != '\0'; c++)
        if (*c == ',')
            buf_add(text, SLICE_OF(", ?"));
}

static struct sqlite3_stmt *prepare_put(struct store_db *db, const struct schema_table *table)
{
    struct buf text;
    buf_init(&text, SQL_ROOM);
    buf_addf(&text, "REPLACE INTO %s (%s) VALUES (", table->name, table->columns);
    add_places(&text, table->columns);
    buf_add_char(&text, ')');
    buf_add_char(&text, '\0');
    struct sqlite3_stmt *const statement = sql_prepare(db->sqlite, text.data);
    buf_close(&text);
    return statement;
}

static struct sqlite3_stmt *prepare_drop(struct store_db *db, const struct schema_table *table)
{
    struct buf text;
    buf_init(&text, SQL_ROOM);
    buf_addf(&text, "DELETE FROM %s WHERE (%s) = (", table->name, table->key);
    add_places(&text, table->key);
    buf_add_char(&text, ')');
    buf_add_char(&text, '\0');
    struct sqlite3_stmt *const statement = sql_prepare(db->sqlite, text.data);
    buf_close(&text);
    return statement;
}

static bool prepare_kind(struct store_db *db, enum record_kind kind)
{
    const struct schema_table *const table = &schema_tables[kind];
    char text[SQL_ROOM];
    db->put[kind] = prepare_put(db, table);
    db->drop[kind] = prepare_drop(db, table);
    if (table->dead == NULL)
        return db->put[kind] != NULL && db->drop[kind] != NULL;
    (void)snprintf(text, sizeof(text),
                   "DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s LIMIT ?2)",
                   table->name, table->key, table->key, table->name, table->dead);
    db->tidy[kind] = sql_prepare(db->sqlite, text);
    return db->put[kind] != NULL && db->drop[kind] != NULL && db->tidy[kind] != NULL;
}

static bool prepare(struct store_db *db)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (!prepare_kind(db, (enum record_kind)kind))
            return false;
    db->begin = sql_prepare(db->sqlite, "BEGIN IMMEDIATE");
    db->commit = sql_prepare(db->sqlite, "COMMIT");
    return db->begin != NULL && db->commit != NULL;
}

/* Others may read while we run; our lock on the directory keeps out a second instance. */
static int open_readable(struct store_db *db, const char *path)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int64_t tables = 0;
    int rc = sqlite3_open_v2(path, &db->sqlite, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(db->sqlite, BUSY_MS);
    return rc == SQLITE_OK ? sql_number(db->sqlite, "SELECT count(*) FROM sqlite_schema", &tables)
                           : rc;
}

static bool make_ready(struct store_db *db, struct buf *mistake)
{
    if (!schema_is_ours(db->sqlite, mistake) || !start_log(db, mistake))
        return false;
    if (configure(db) == SQLITE_OK && schema_migrate(db->sqlite, &db->loss, mistake) && prepare(db))
        return true;
    if (mistake->len == 0)
        buf_addf(mistake, "cannot be used (%s); " WHAT_TO_DO, sqlite3_errmsg(db->sqlite));
    return false;
}

/* To change what is damaged could destroy what a backup's owner would still read. It takes long, and is
 * done once for each version. */
static bool may_be_migrated(struct store_db *db, struct buf *mistake)
{
    int64_t version = 0;
    const bool is_old = sql_number(db->sqlite, "PRAGMA user_version", &version) == SQLITE_OK &&
                        version > 0 && version < SCHEMA_VERSION;
    return !is_old || db_is_sound(db->sqlite, db->path, mistake);
}

static enum store_opening open_file(struct store_db *db, struct buf *mistake)
{
    const int rc = open_readable(db, db->path);
    if ((rc & 0xff) == SQLITE_BUSY) {
        buf_addf(mistake, "%s is open in another program; close that one", db->path);
        return STORE_LOCKED;
    }
    if (rc != SQLITE_OK) {
        db_explain(db, mistake);
        return STORE_UNUSABLE;
    }
    if (!may_be_migrated(db, mistake))
        return STORE_UNUSABLE;
    struct buf why;
    buf_init(&why, 1024);
    const bool is_ready = make_ready(db, &why);
    if (!is_ready)
        buf_addf(mistake, "%s %.*s", db->path, (int)why.len, buf_slice(&why).data);
    buf_close(&why);
    return is_ready ? STORE_OPENED : STORE_UNUSABLE;
}

enum store_opening db_lock(struct store_db *db, const char *directory, struct buf *mistake)
{
    ASSERT(directory != NULL);
    *db = (struct store_db){.lock = -1};
    char path[PATH_ROOM];
    if (strlen(directory) >= PATH_MAX - sizeof(FILE_NAME)) {
        buf_addf(mistake, "the path of data_dir is too long");
        return STORE_UNUSABLE;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", directory, FILE_NAME);
    db->path = strdup(path);
    ASSERT(db->path != NULL);
    const enum store_opening opening = lock_directory(db, directory, mistake);
    if (opening != STORE_OPENED)
        db_close(db);
    return opening;
}

enum store_opening db_open(struct store_db *db, struct buf *mistake)
{
    enum store_opening opening = make_file(db->path, mistake);
    if (opening == STORE_OPENED)
        opening = open_file(db, mistake);
    if (opening == STORE_OPENED)
        opening = sync_directory(db, mistake);
    if (opening != STORE_OPENED)
        db_close(db);
    return opening;
}

void db_close(struct store_db *db)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        (void)sqlite3_finalize(db->put[kind]);
        (void)sqlite3_finalize(db->drop[kind]);
        (void)sqlite3_finalize(db->tidy[kind]);
    }
    (void)sqlite3_finalize(db->begin);
    (void)sqlite3_finalize(db->commit);
    (void)sqlite3_close(db->sqlite);
    if (db->lock >= 0)
        (void)close(db->lock);
    free(db->path);
    *db = (struct store_db){.lock = -1};
}
