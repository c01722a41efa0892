/* The body of a row: the columns that nobody searches for, as JSON that people can read. A new column needs no
 * migration, since a member that is missing has a default: 0, false or empty, which is not written at all. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_BODY_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_BODY_H

#include "store/postgres/postgres_private.h"

/* Adds the body of a row that has these values. */
void pg_body_add(struct buf *out, const struct row_table *table, const struct row_value *values);

struct pg_body {
    struct yyjson_doc *doc; /* owned; NULL: not an object */
    struct buf bytes;       /* of texts that JSON cannot hold */
};

/* Sets the values of the columns in the body; they borrow from *body, which the caller closes. Without an object all of
 * them are NULL, so that the row is passed over. */
void pg_body_read(struct pg_body *body, struct slice json, const struct row_table *table,
                  struct row_value *values);
void pg_body_close(struct pg_body *body);

#endif
