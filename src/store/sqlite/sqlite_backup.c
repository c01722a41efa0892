#include "store/sqlite/sqlite_backup.h"

#include "store/sqlite/sqlite_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

/* A path in a directory, with ".version-", a number and ".new". */
#define COPY_ROOM (PATH_MAX + 48)

static bool refuse_copy(const char *why, struct buf *mistake)
{
    buf_addf(mistake,
             "is of an older version and cannot be copied before it is brought up to date (%s); "
             "it is as it was before",
             why);
    return false;
}

/* SQLite fills an empty file, and would make one that everybody can read. */
static bool make_empty(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return false;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return file >= 0 && close(file) == 0;
}

static bool sync_file(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool is_synced = fsync(file) == 0;
    (void)close(file);
    return is_synced;
}

/* With what is in the log, and without free pages. */
static int copy_into(struct sqlite3 *db, const char *path)
{
    struct sqlite3_stmt *const statement = sql_prepare(db, "VACUUM INTO ?1");
    if (statement != NULL)
        (void)sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    return sql_step_once(statement);
}

bool backup_keep(struct sqlite_store *store, int64_t version, struct buf *mistake)
{
    char kept[COPY_ROOM];
    char fresh[COPY_ROOM];
    (void)snprintf(kept, sizeof kept, "%s.version-%lld", store->path, (long long)version);
    (void)snprintf(fresh, sizeof fresh, "%s.version-%lld.new", store->path, (long long)version);
    if (!make_empty(fresh))
        return refuse_copy(strerror(errno), mistake);
    if (copy_into(store->db, fresh) != SQLITE_OK) {
        const bool is_refused = refuse_copy(sqlite3_errmsg(store->db), mistake);
        (void)unlink(fresh);
        return is_refused;
    }
    /* The name comes last: a copy that has it is whole. */
    if (!sync_file(fresh) || rename(fresh, kept) != 0 || fsync(store->lock) != 0)
        return refuse_copy(strerror(errno), mistake);
    return true;
}
