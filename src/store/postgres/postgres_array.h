/* Arrays in PostgreSQL's binary format, as parameters of statements. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ARRAY_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ARRAY_H

#include "base/buf.h"
#include "store/row_values.h"

/* Of "bigint", "text", "bytea" or "json". */
void pg_array_begin(struct buf *out, const char *type);
void pg_array_add(struct buf *out, const struct row_value *value);
/* Once all items are in it. */
void pg_array_end(struct buf *out, uint32_t items);

#endif
