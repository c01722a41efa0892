/* Reads the journal back at the start: a driver's values become records of known clients. */
#ifndef SOLVEGATE_STORE_STORE_LOAD_H
#define SOLVEGATE_STORE_STORE_LOAD_H

#include "store/store_driver.h"

/* As store_load; *skipped counts rows that cannot be understood or whose client is unknown. */
int load_rows(struct store_backend *backend, const struct store_names *names, int64_t wall_ms,
              void (*on_row)(void *context, const struct record *record), void *context,
              uint64_t *skipped) MUST_CHECK;
/* Gives a record the number of the client of this name; false: it is unknown, and the record of no use. */
bool load_set_client(const struct store_names *names, struct record *record, struct slice name);

#endif
