/* The database file of the journal: found or made, locked, migrated, its statements prepared. */
#ifndef SOLVEGATE_STORE_STORE_DB_H
#define SOLVEGATE_STORE_STORE_DB_H

#include "store/store.h"
#include "store/store_schema.h"

struct sqlite3;
struct sqlite3_stmt;

/* One thread at a time: first the one that opens it, then the writer, then the first again. */
struct store_db {
    struct sqlite3 *sqlite; /* owned */
    char *path;             /* owned: of the file */
    int lock;               /* of the directory, for as long as it is open; or -1 */
    int wal_pages;          /* in the log and not yet in the file itself */
    uint64_t wal_bytes;     /* written to the log since it was opened */
    struct sqlite3_stmt *put[RECORD_KIND_COUNT]; /* owned, as are those below */
    struct sqlite3_stmt *drop[RECORD_KIND_COUNT];
    struct sqlite3_stmt *tidy[RECORD_KIND_COUNT]; /* NULL for kinds that do not expire */
    struct sqlite3_stmt *begin;
    struct sqlite3_stmt *commit;
    struct schema_loss loss; /* of an older version's rows, when it was opened */
};

/* The directory first, then its file. Anything but STORE_OPENED leaves nothing open and a sentence in mistake. */
enum store_opening db_lock(struct store_db *db, const char *directory, struct buf *mistake);
enum store_opening db_open(struct store_db *db, struct buf *mistake);

/* Is the database sound? Else mistake gets a sentence. For any connection to the file. */
bool db_is_sound(struct sqlite3 *sqlite, const char *path, struct buf *mistake);
/* What is wrong, by SQLite's latest word. */
void db_explain(const struct store_db *db, struct buf *mistake);
/* Writes nothing: what the log holds is read from it next time. */
void db_close(struct store_db *db);

#endif
