/* The SQLite driver's own state: one database file in a locked directory. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_PRIVATE_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_PRIVATE_H

#include "store/store_driver.h"
#include "store/store_latest.h"

#include <stdatomic.h>

struct sqlite3;
struct sqlite3_stmt;

/* In the directory that the URL names. */
#define SQLITE_STORE_FILE "solvegate.db"
#define SQLITE_STORE_ADVICE "move it and the files beside it away, or restore a backup"

struct sqlite_store {
    struct store_backend base; /* must be first */
    struct sqlite3 *db;        /* owned */
    struct sqlite3 *checked;   /* owned: the check's own connection, or NULL */
    atomic_bool must_stop_check;
    char *path;    /* owned: of the file */
    int lock;      /* of the directory while it is open, or -1 */
    int wal_pages; /* in the log but not yet in the file */
    bool was_full; /* the latest transaction failed, probably because the disk was full */
    struct buf scratch;
    struct sqlite3_stmt *put[RECORD_KIND_COUNT];    /* owned, as are those below */
    struct sqlite3_stmt *change[RECORD_KIND_COUNT]; /* or NULL */
    struct sqlite3_stmt *drop[RECORD_KIND_COUNT];
    struct sqlite3_stmt *load[RECORD_KIND_COUNT];
    struct sqlite3_stmt *tidy[RECORD_KIND_COUNT];
    struct sqlite3_stmt *begin;
    struct sqlite3_stmt *commit;
    uint64_t highest[RECORD_KIND_COUNT]; /* number of a row that was put: a higher one is new */
    struct store_row *rows;              /* owned: room for a batch */
    size_t row_room;
};

static inline struct sqlite_store *sqlite_store_of(struct store_backend *backend)
{
    return (struct sqlite_store *)(void *)backend;
}

#endif
