/* Records as rows: which column holds which field. */
#ifndef SOLVEGATE_STORE_STORE_ROWS_H
#define SOLVEGATE_STORE_STORE_ROWS_H

#include "base/buf.h"
#include "store/store_sql.h"

#include <solvegate/record.h>

/* Where the record says whose it is; NULL for kinds that belong to nobody. */
client_id *row_client(struct record *record);

/* Fills the statement that replaces the row. Bytes of the record, of the client's name and of
 * scratch are borrowed until it is reset. */
void row_put(struct sql_out *out, const struct record *record, struct slice client,
             struct buf *scratch);

/* Fills the statement that drops it. */
void row_put_name(struct sql_out *out, const struct record *record, struct slice client);

/* Reads a row into an empty record of its kind; *client is the name of its client, if it has one,
 * valid until the next step. The record's references are the caller's also when in says bad. */
void row_take(struct sql_in *in, struct record *record, struct slice *client);

#endif
