/* Reading the journal back at the start. */
#ifndef SOLVEGATE_STORE_STORE_LOAD_H
#define SOLVEGATE_STORE_STORE_LOAD_H

#include "store/store_db.h"

/* As store_load; *skipped counts rows whose client or words are unknown. */
int load_rows(struct store_db *db, const struct store_names *names, int64_t wall_ms,
              void (*on_row)(void *context, const struct record *record), void *context,
              uint64_t *skipped) MUST_CHECK;

#endif
