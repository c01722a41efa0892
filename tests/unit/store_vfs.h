/* A file layer for SQLite that fails on order and keeps a copy of what a power cut would leave. */
#ifndef SOLVEGATE_TESTS_STORE_VFS_H
#define SOLVEGATE_TESTS_STORE_VFS_H

#include <stdbool.h>

/* From now on databases are opened through it. */
void store_vfs_begin(void);
void store_vfs_end(void);

/* While it is on, writes say that the disk is full. */
void store_vfs_set_full(bool is_full);
/* So many writes of half a page succeed, the next one finds the disk full, and so do all after it until
 * set_full(false). */
void store_vfs_fill_after(int count);
/* So many syncs succeed, the next one fails, those after it succeed again. */
void store_vfs_fail_sync(int after);

/* Every sync copies the file into this directory, until it is called with NULL: the copies then hold
 * exactly what had been synced. */
void store_vfs_shadow(const char *directory);

unsigned store_vfs_syncs(void);
unsigned store_vfs_writes(void);

#endif
