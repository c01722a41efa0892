/* Converts records to lists of plain values and back: a driver only has to store integers, text and
 * bytes. */
#ifndef SOLVEGATE_STORE_ROW_VALUES_H
#define SOLVEGATE_STORE_ROW_VALUES_H

#include "base/buf.h"
#include "store/row_table.h"

enum value_type {
    VALUE_NULL,
    VALUE_INTEGER,
    VALUE_TEXT,
    VALUE_BYTES,
};

struct row_value {
    enum value_type type;
    int64_t integer;
    struct slice bytes; /* borrowed: for text and bytes */
};

/* Writes the record's columns in the order of its table, only those of its key for a drop, and returns their
 * number. The values borrow from the record, from the client's name and from scratch, which is reset. */
size_t row_to_values(const struct record *record, struct slice client, struct buf *scratch,
                     struct row_value values[ROW_COLUMNS_MAX]);

/* Reads the columns into an empty record of its kind; *client borrows the client's name from the
 * values. False if a value does not fit its column; the caller owns the record's references in both
 * cases. */
bool row_from_values(const struct row_value *values, struct record *record, struct slice *client);

#endif
