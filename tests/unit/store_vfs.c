#include "store_vfs.h"

#include "base/assert.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shim_file {
    sqlite3_file base;
    const char *path;   /* borrowed: SQLite keeps it while the file is open */
    sqlite3_file *real; /* directly behind */
};

/* Half a page: large writes count as several. */
#define STEP_BYTES 2048

static sqlite3_vfs shim;
static sqlite3_vfs *real_vfs;
static atomic_bool is_full;
static atomic_int writes_before_full = -1;
static atomic_int syncs_before_failure = -1;
static atomic_uint syncs, writes_made;
static pthread_mutex_t shadow_mutex = PTHREAD_MUTEX_INITIALIZER;
static char shadow[PATH_MAX / 4]; /* empty: none */

static struct shim_file *shim_of(sqlite3_file *file)
{
    return (struct shim_file *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return shim_of(file)->real;
}

static int shim_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int shim_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), bytes, count, at);
}

/* As a disk does that becomes full: what still fits is written. */
static void become_full(sqlite3_file *file, const void *bytes, int fitting, sqlite3_int64 at)
{
    atomic_store(&writes_before_full, -1);
    atomic_store(&is_full, true);
    if (fitting > 0)
        (void)real_of(file)->pMethods->xWrite(real_of(file), bytes, fitting, at);
}

static int shim_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    const int steps = 1 + count / STEP_BYTES;
    const int left = atomic_load(&writes_before_full);
    atomic_fetch_add(&writes_made, 1);
    if (left >= steps)
        atomic_store(&writes_before_full, left - steps);
    else if (left >= 0)
        become_full(file, bytes, left * STEP_BYTES, at);
    if (atomic_load(&is_full))
        return SQLITE_FULL;
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, count, at);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static void shadow_path(const char *original, char *path, size_t room)
{
    (void)snprintf(path, room, "%s%s", shadow, strrchr(original, '/'));
}

static void copy_to_shadow(struct shim_file *file)
{
    char path[PATH_MAX];
    char page[4096];
    shadow_path(file->path, path, sizeof(path));
    FILE *const copy = fopen(path, "wb");
    ASSERT(copy != NULL);
    sqlite3_int64 size = 0;
    ASSERT(file->real->pMethods->xFileSize(file->real, &size) == SQLITE_OK);
    for (sqlite3_int64 at = 0; at < size; at += (sqlite3_int64)sizeof(page)) {
        const sqlite3_int64 left = size - at;
        const int count = left < (sqlite3_int64)sizeof(page) ? (int)left : (int)sizeof(page);
        ASSERT(file->real->pMethods->xRead(file->real, page, count, at) == SQLITE_OK);
        ASSERT(fwrite(page, 1, (size_t)count, copy) == (size_t)count);
    }
    (void)fclose(copy);
}

static int shim_sync(sqlite3_file *file, int flags)
{
    atomic_fetch_add(&syncs, 1);
    if (atomic_load(&syncs_before_failure) >= 0 && atomic_fetch_sub(&syncs_before_failure, 1) == 0)
        return SQLITE_IOERR_FSYNC;
    (void)pthread_mutex_lock(&shadow_mutex);
    if (shadow[0] != '\0')
        copy_to_shadow(shim_of(file));
    (void)pthread_mutex_unlock(&shadow_mutex);
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int shim_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int shim_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int shim_check_lock(sqlite3_file *file, int *is_locked)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_locked);
}

static int shim_control(sqlite3_file *file, int verb, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), verb, argument);
}

static int shim_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int shim_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shim_map(sqlite3_file *file, int page, int size, int is_new, void volatile **map)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, is_new, map);
}

static int shim_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), first, count, flags);
}

static void shim_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_unmap(sqlite3_file *file, int must_delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), must_delete);
}

/* Version 2: with the shared memory that readers of a running store need. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xShmMap = shim_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_barrier,
    .xShmUnmap = shim_unmap,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check_lock,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_traits,
};

static int shim_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    struct shim_file *const opened = shim_of(file);
    opened->path = path;
    opened->real = (sqlite3_file *)(void *)(opened + 1);
    const int rc = real_vfs->xOpen(real_vfs, path, opened->real, flags, out);
    opened->base.pMethods = rc == SQLITE_OK ? &methods : NULL;
    return rc;
}

/* SQLite syncs the directory after it deletes a journal, so that is gone after a power cut, too. */
static int shim_delete(sqlite3_vfs *vfs, const char *path, int must_sync)
{
    (void)vfs;
    char copy[PATH_MAX];
    (void)pthread_mutex_lock(&shadow_mutex);
    shadow_path(path, copy, sizeof(copy));
    if (shadow[0] != '\0')
        (void)remove(copy);
    (void)pthread_mutex_unlock(&shadow_mutex);
    return real_vfs->xDelete(real_vfs, path, must_sync);
}

void store_vfs_begin(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    ASSERT(real_vfs != NULL && real_vfs != &shim);
    shim = *real_vfs;
    shim.pNext = NULL;
    shim.zName = "shim";
    shim.szOsFile = (int)sizeof(struct shim_file) + real_vfs->szOsFile;
    shim.xOpen = shim_open;
    shim.xDelete = shim_delete;
    ASSERT(sqlite3_vfs_register(&shim, 1) == SQLITE_OK);
    store_vfs_set_full(false);
    store_vfs_fail_sync(-1);
    store_vfs_shadow(NULL);
}

void store_vfs_end(void)
{
    ASSERT(sqlite3_vfs_unregister(&shim) == SQLITE_OK);
    ASSERT(sqlite3_vfs_register(real_vfs, 1) == SQLITE_OK);
}

void store_vfs_set_full(bool now_full)
{
    atomic_store(&writes_before_full, -1);
    atomic_store(&is_full, now_full);
}

void store_vfs_fill_after(int count)
{
    atomic_store(&writes_before_full, count);
}

void store_vfs_fail_sync(int after)
{
    atomic_store(&syncs_before_failure, after);
}

void store_vfs_shadow(const char *directory)
{
    (void)pthread_mutex_lock(&shadow_mutex);
    (void)snprintf(shadow, sizeof(shadow), "%s", directory == NULL ? "" : directory);
    (void)pthread_mutex_unlock(&shadow_mutex);
}

unsigned store_vfs_syncs(void)
{
    return atomic_load(&syncs);
}

unsigned store_vfs_writes(void)
{
    return atomic_load(&writes_made);
}
