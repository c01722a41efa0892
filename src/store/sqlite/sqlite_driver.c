#include "store/sqlite/sqlite_driver.h"

#include "base/assert.h"
#include "store/sqlite/sqlite_backup.h"
#include "store/sqlite/sqlite_check.h"
#include "store/sqlite/sqlite_gather.h"
#include "store/sqlite/sqlite_inspect.h"
#include "store/sqlite/sqlite_meta.h"
#include "store/sqlite/sqlite_rows.h"
#include "store/sqlite/sqlite_schema.h"
#include "store/sqlite/sqlite_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path in a directory, with the suffixes that SQLite adds. */
#define PATH_ROOM (PATH_MAX + 16)
/* A letter's notes or a day's counters as JSON, with room to spare. */
#define SCRATCH_MAX (16 << 20)
/* A page of SQLite's default size plus its header in the log. */
#define WAL_FRAME_BYTES (4096 + 24)

/* How long another process, such as the sqlite3 tool, may hold a lock before the batch counts as
 * not written. */
#define BUSY_MS 2000

static enum store_opening refuse(struct buf *mistake, const char *path, const char *what)
{
    buf_addf(mistake, "%s %s: %s", path, what, strerror(errno));
    return STORE_UNUSABLE;
}

/* Runs before anything else, since a second instance must not touch the database. */
static enum store_opening lock_directory(struct sqlite_store *store, const char *directory,
                                         struct buf *mistake)
{
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return refuse(mistake, directory, "cannot be made");
    store->lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->lock < 0)
        return refuse(mistake, directory, "cannot be opened");
    if (flock(store->lock, LOCK_EX | LOCK_NB) == 0)
        return STORE_OPENED;
    if (errno != EWOULDBLOCK)
        return refuse(mistake, directory, "cannot be locked");
    buf_addf(mistake, "%s is in use by another instance; stop that one or choose another data_dir",
             directory);
    return STORE_LOCKED;
}

/* SQLite would make the file readable for everybody; its log gets the file's mode. */
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

/* SQLite ignores a failed sync of the directory, so the files' names are made durable here, once and before
 * anything is paid for. */
static enum store_opening sync_directory(const struct sqlite_store *store, struct buf *mistake)
{
    return fsync(store->lock) == 0
               ? STORE_OPENED
               : refuse(mistake, store->path, "has a directory that cannot be synced");
}

static int count_pages(void *context, sqlite3 *sqlite, const char *name, int pages)
{
    struct sqlite_store *const store = context;
    (void)sqlite;
    (void)name;
    /* The log starts again from its beginning once all of it is in the file. */
    const int added = pages > store->wal_pages ? pages - store->wal_pages : pages;
    store->base.bytes += (uint64_t)added * WAL_FRAME_BYTES;
    store->wal_pages = pages;
    return SQLITE_OK;
}

/* Only the writer checkpoints, when it has time: neither a commit nor closing does. */
static int configure(struct sqlite_store *store)
{
    int keep = 1;
    int rc = sql_run(store->db, "PRAGMA journal_size_limit = 16777216;"
                                "PRAGMA synchronous = FULL;"
                                "PRAGMA cache_size = -16384;"
                                "PRAGMA temp_store = MEMORY;"
                                "PRAGMA cell_size_check = ON;"
                                "PRAGMA trusted_schema = OFF;");
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_file_control(store->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep);
    (void)sqlite3_wal_hook(store->db, count_pages, store);
    return rc;
}

static bool start_log(struct sqlite_store *store, struct buf *mistake)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(store->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    const bool is_wal = statement != NULL && sqlite3_step(statement) == SQLITE_ROW &&
                        strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    (void)sqlite3_finalize(statement);
    if (!is_wal)
        buf_addf(mistake, "cannot have a write-ahead log (%s)", sqlite3_errmsg(store->db));
    return is_wal;
}

/* Other processes may read while we run; our lock on the directory keeps out a second instance. */
static int open_readable(struct sqlite_store *store)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int64_t tables = 0;
    int rc = sqlite3_open_v2(store->path, &store->db, flags, gather_vfs());
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(store->db, BUSY_MS);
    return rc == SQLITE_OK ? sql_number(store->db, "SELECT count(*) FROM sqlite_schema", &tables)
                           : rc;
}

/* The version of a file that an older program wrote, or 0. */
static int64_t older_version(const struct sqlite_store *store)
{
    int64_t version = 0;
    const int rc = sql_number(store->db, "PRAGMA user_version", &version);
    return rc == SQLITE_OK && version < SCHEMA_VERSION ? version : 0;
}

static bool migrate(struct sqlite_store *store, struct buf *mistake)
{
    struct schema_loss loss = {0};
    const int64_t before = older_version(store);
    const bool is_migrated = (before == 0 || backup_keep(store, before, mistake)) &&
                             schema_migrate(store->db, &loss, mistake);
    store->base.migrated_from = is_migrated ? (uint64_t)before : 0;
    store->base.lost_solutions = (uint64_t)loss.solutions;
    store->base.lost_idempotency = (uint64_t)loss.idempotency;
    return is_migrated;
}

static bool make_ready(struct sqlite_store *store, struct buf *mistake)
{
    if (!schema_is_ours(store->db, mistake) || !start_log(store, mistake))
        return false;
    if (configure(store) == SQLITE_OK && migrate(store, mistake) && rows_prepare(store))
        return true;
    if (mistake->len == 0)
        buf_addf(mistake, "cannot be used (%s); " SQLITE_STORE_ADVICE, sqlite3_errmsg(store->db));
    return false;
}

/* Changing a damaged file could destroy rows that a person could still rescue. The check takes long, but a file is
 * migrated only once for each version. */
static bool may_be_migrated(struct sqlite_store *store, struct buf *mistake)
{
    return older_version(store) == 0 || check_is_sound(store->db, store->path, mistake);
}

static enum store_opening open_database(struct sqlite_store *store, struct buf *mistake)
{
    const int rc = open_readable(store);
    if ((rc & 0xff) == SQLITE_BUSY) {
        buf_addf(mistake, "%s is open in another program; close that one", store->path);
        return STORE_LOCKED;
    }
    if (rc != SQLITE_OK) {
        buf_addf(mistake, "%s %s (%s); " SQLITE_STORE_ADVICE, store->path,
                 sql_is_damage(rc) ? "is damaged" : "cannot be read", sqlite3_errmsg(store->db));
        return STORE_UNUSABLE;
    }
    if (!may_be_migrated(store, mistake))
        return STORE_UNUSABLE;
    struct buf why;
    buf_init(&why, 1024);
    const bool is_ready = make_ready(store, &why);
    if (!is_ready)
        buf_addf(mistake, "%s %.*s", store->path, (int)why.len, buf_slice(&why).data);
    buf_close(&why);
    return is_ready ? STORE_OPENED : STORE_UNUSABLE;
}

static void sqlite_close(struct store_backend *backend)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    rows_finalize(store);
    (void)sqlite3_close(store->checked);
    (void)sqlite3_close(store->db);
    if (store->lock >= 0)
        (void)close(store->lock);
    buf_close(&store->scratch);
    free(store->path);
    free(store);
}

static void describe(struct store_backend *backend)
{
    (void)snprintf(backend->server, sizeof backend->server, "SQLite %s", sqlite3_libversion());
    (void)snprintf(backend->durability, sizeof backend->durability,
                   "a record is safe on this machine's disk before it is acknowledged");
}

static enum store_opening sqlite_lock(const struct store_place *place, const char *address,
                                      struct store_backend **backend, struct buf *mistake)
{
    (void)place;
    char path[PATH_ROOM];
    /* Nobody asks SQLite how much memory it uses, and counting that takes a lock for every allocation. Has no effect,
     * and need not have any, once SQLite is in use. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (strlen(address) >= PATH_MAX - sizeof(SQLITE_STORE_FILE)) {
        buf_addf(mistake, "the path of data_dir is too long");
        return STORE_UNUSABLE;
    }
    (void)snprintf(path, sizeof path, "%s/%s", address, SQLITE_STORE_FILE);
    struct sqlite_store *const store = calloc(1, sizeof *store);
    ASSERT(store != NULL);
    describe(&store->base);
    store->lock = -1;
    buf_init(&store->scratch, SCRATCH_MAX);
    store->path = strdup(path);
    ASSERT(store->path != NULL);
    const enum store_opening opening = lock_directory(store, address, mistake);
    if (opening == STORE_OPENED)
        *backend = &store->base;
    else
        sqlite_close(&store->base);
    return opening;
}

static enum store_opening sqlite_open(struct store_backend *backend, struct buf *mistake)
{
    struct sqlite_store *const store = sqlite_store_of(backend);
    enum store_opening opening = make_file(store->path, mistake);
    if (opening == STORE_OPENED)
        opening = open_database(store, mistake);
    if (opening == STORE_OPENED)
        opening = sync_directory(store, mistake);
    if (opening == STORE_OPENED)
        check_open(store);
    return opening;
}

static const char *const schemes[] = {"sqlite", NULL};

const struct store_driver sqlite_driver = {
    .name = "SQLite",
    .schemes = schemes,
    .lock = sqlite_lock,
    .open = sqlite_open,
    .find_secret = meta_find_secret,
    .replace_secret = meta_replace_secret,
    .read_mark = meta_read_mark,
    .shift = meta_shift,
    .load = rows_load,
    .write = rows_write,
    .settle = rows_settle,
    .tidy = rows_tidy,
    .check = check_run,
    .stop_check = check_stop,
    .close = sqlite_close,
    .inspect = sqlite_inspect,
};
