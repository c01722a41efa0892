#include "store/sqlite/sqlite_gather.h"

#include "base/assert.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* SQLite writes the head and the page of each frame of its log by themselves. The frames of a commit lie one behind
 * the other, but begin in the middle of a page of the kernel's, so each of these calls takes it about as long as
 * writing all of them at once. */

/* SQLite's VFS for Unix writes only what is below 128 KiB at once, and takes more for a full disk. Larger commits take
 * several calls. */
#define GATHER_BYTES ((size_t)120 * 1024)

struct log_file {
    sqlite3_file base;  /* must be first */
    sqlite3_file *real; /* directly behind */
    char *bytes;        /* owned: gathered, but not written yet */
    size_t count;
    sqlite3_int64 at; /* where they belong */
};

static sqlite3_vfs vfs; /* the default one, but for how a file is opened */
static sqlite3_vfs *real_vfs;

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)(void *)file;
}

/* What cannot be written is forgotten: SQLite hears of it, and gives up the commit. */
static int write_gathered(struct log_file *log)
{
    const size_t count = log->count;
    log->count = 0;
    return count == 0 ? SQLITE_OK
                      : log->real->pMethods->xWrite(log->real, log->bytes, (int)count, log->at);
}

static int log_close(sqlite3_file *file)
{
    struct log_file *const log = log_of(file);
    const int written = write_gathered(log);
    const int closed = log->real->pMethods->xClose(log->real);
    free(log->bytes);
    return written == SQLITE_OK ? closed : written;
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    struct log_file *const log = log_of(file);
    const int written = write_gathered(log);
    return written == SQLITE_OK ? log->real->pMethods->xRead(log->real, bytes, count, at) : written;
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    struct log_file *const log = log_of(file);
    const size_t more = (size_t)count;
    ASSERT(more <= GATHER_BYTES);
    const bool fits =
        at == log->at + (sqlite3_int64)log->count && log->count + more <= GATHER_BYTES;
    const int written = fits ? SQLITE_OK : write_gathered(log);
    if (written != SQLITE_OK)
        return written;
    if (log->count == 0)
        log->at = at;
    memcpy(log->bytes + log->count, bytes, more);
    log->count += more;
    return SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *const log = log_of(file);
    const int written = write_gathered(log);
    return written == SQLITE_OK ? log->real->pMethods->xTruncate(log->real, size) : written;
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *const log = log_of(file);
    const int written = write_gathered(log);
    return written == SQLITE_OK ? log->real->pMethods->xSync(log->real, flags) : written;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct log_file *const log = log_of(file);
    const int written = write_gathered(log);
    return written == SQLITE_OK ? log->real->pMethods->xFileSize(log->real, size) : written;
}

static int log_lock(sqlite3_file *file, int level)
{
    return log_of(file)->real->pMethods->xLock(log_of(file)->real, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return log_of(file)->real->pMethods->xUnlock(log_of(file)->real, level);
}

static int log_check_lock(sqlite3_file *file, int *is_locked)
{
    return log_of(file)->real->pMethods->xCheckReservedLock(log_of(file)->real, is_locked);
}

static int log_control(sqlite3_file *file, int verb, void *argument)
{
    return log_of(file)->real->pMethods->xFileControl(log_of(file)->real, verb, argument);
}

static int log_sector(sqlite3_file *file)
{
    return log_of(file)->real->pMethods->xSectorSize(log_of(file)->real);
}

static int log_traits(sqlite3_file *file)
{
    return log_of(file)->real->pMethods->xDeviceCharacteristics(log_of(file)->real);
}

/* Shared memory and mappings belong to the database's file and not to its log, so the first version has all. */
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

static int open_file(sqlite3_vfs *used, const char *name, sqlite3_file *file, int flags,
                     int *opened_flags)
{
    (void)used;
    if ((flags & SQLITE_OPEN_WAL) == 0)
        return real_vfs->xOpen(real_vfs, name, file, flags, opened_flags);
    struct log_file *const log = log_of(file);
    *log = (struct log_file){.real = (sqlite3_file *)(void *)(log + 1)};
    const int rc = real_vfs->xOpen(real_vfs, name, log->real, flags, opened_flags);
    /* Without methods SQLite does not close it. */
    if (log->real->pMethods == NULL)
        return rc;
    log->base.pMethods = &log_methods;
    log->bytes = malloc(GATHER_BYTES);
    ASSERT(log->bytes != NULL);
    return rc;
}

const char *gather_vfs(void)
{
    sqlite3_vfs *const now = sqlite3_vfs_find(NULL);
    ASSERT(now != NULL);
    if (now == real_vfs)
        return vfs.zName;
    (void)sqlite3_vfs_unregister(&vfs);
    real_vfs = now;
    vfs = *now;
    vfs.pNext = NULL;
    vfs.zName = "solvegate";
    vfs.szOsFile = (int)sizeof(struct log_file) + now->szOsFile;
    vfs.xOpen = open_file;
    (void)sqlite3_vfs_register(&vfs, 0);
    return vfs.zName;
}
