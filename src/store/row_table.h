/* The journal's rows, described once: every driver makes its statements and encodings from these tables. */
#ifndef SOLVEGATE_STORE_ROW_TABLE_H
#define SOLVEGATE_STORE_ROW_TABLE_H

#include "store/row_words.h"

#include <solvegate/record.h>

enum column_type {
    COLUMN_BOOL,
    COLUMN_U8,
    COLUMN_U16,
    COLUMN_U16_OR_NONE, /* stored as -1 when it is not given */
    COLUMN_U32,
    COLUMN_U64,       /* stored as two's complement: negative from 2^63 on */
    COLUMN_DAY,       /* days since 1970 */
    COLUMN_DATE,      /* milliseconds since 1970, for people only: never moved */
    COLUMN_TIME,      /* as COLUMN_DATE, but used by the engine: moves when the wall clock is set */
    COLUMN_TIME_OR_0, /* as COLUMN_TIME, where 0 means none and stays 0 */
    COLUMN_KEY,       /* KEY_BYTES bytes */
    COLUMN_KEY_OR_NONE, /* the same, or NULL when it is not given */
    COLUMN_CLIENT,      /* stored by name */
    COLUMN_WORD,        /* an enum, stored as one of words */
    COLUMN_STRING,      /* a char array of size bytes */
    COLUMN_TEXT,        /* a blob of UTF-8, or NULL */
    COLUMN_BYTES,       /* a blob, or NULL */
    COLUMN_STATS,       /* JSON, as are the next two */
    COLUMN_TALLY,
    COLUMN_NOTES,
};

/* True if its values are stored as integers; all others are text or bytes. */
static inline bool column_is_integer(enum column_type type)
{
    return type < COLUMN_KEY;
}

struct column {
    const char *name;
    enum column_type type;
    size_t offset;       /* of the field in struct record; of the whole row for notes */
    size_t size;         /* of a COLUMN_STRING's array */
    size_t given_offset; /* of the bool that says whether a column that may be none is given */
    const struct row_words *words; /* of a COLUMN_WORD */
};

/* A row is expired once column <= now / unit_ms - keep and, if given, the condition holds. */
struct row_expiry {
    const char *column; /* NULL: rows of this kind do not expire */
    int64_t unit_ms;
    int64_t keep;
    const char *condition; /* SQL that SQLite and PostgreSQL both understand, or NULL */
};

struct row_table {
    const char *name;
    const struct column *columns;
    size_t count;
    size_t key_count; /* number of columns, from the first on, that identify a row */
    struct row_expiry expiry;
};

/* The most columns of any kind. */
#define ROW_COLUMNS_MAX 32

/* A later time, some thousand years from now, is damage; the sum of two such times does not
 * overflow. */
#define ROW_TIME_MAX (INT64_C(1) << 47)

extern const struct row_table row_tables[RECORD_KIND_COUNT];

/* The latest value of the expiry's column that is expired at this wall-clock time. */
int64_t row_expired_until(const struct row_expiry *expiry, int64_t wall_ms);

/* At most ROW_TIME_MAX forwards or back: a clock that was set by more makes no sense, and must not overflow. */
int64_t row_time_bounded(int64_t by_ms);

/* The record's client; NULL for kinds without one. */
client_id *row_client(struct record *record);

#endif
