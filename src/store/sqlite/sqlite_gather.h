/* A VFS as SQLite's default one, but that writes a commit's part of the log with one call of the system. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_GATHER_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_GATHER_H

/* Makes it known to SQLite, and returns its name for sqlite3_open_v2(). A connection that uses it must sync each
 * commit (PRAGMA synchronous = FULL): what is gathered is written before the sync, and other connections see a commit
 * after. */
const char *gather_vfs(void);

#endif
