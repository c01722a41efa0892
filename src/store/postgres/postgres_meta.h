/* The driver's tables besides the journal: secrets, and the clock that the stored times follow. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_META_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_META_H

#include "store/postgres/postgres_private.h"

/* As in struct store_driver. */
enum store_result pg_meta_find_secret(struct store_backend *backend, const char *name,
                                      struct store_secret *secret);
enum store_result pg_meta_replace_secret(struct store_backend *backend, const char *name,
                                         const struct store_secret *secret, const char *old_name,
                                         const struct store_secret *before);
enum store_result pg_meta_read_mark(struct store_backend *backend, struct store_mark *mark);
enum store_result pg_meta_shift(struct store_backend *backend, const struct store_shift *shift);

/* Writes all that is kept of these tables, inside of a transaction. */
enum store_result pg_meta_write_kept(struct postgres_store *store);

#endif
