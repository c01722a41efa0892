/* Rows as people can read them: a name, a JSON text, and when they expire. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_BODY_H
#define SOLVEGATE_STORE_REDIS_REDIS_BODY_H

#include "base/buf.h"
#include "store/row_values.h"

struct redis_reply;

/* Adds the columns of the row's key, separated by colons: what stands behind the kind in the name of its key. */
void body_add_name(struct buf *out, enum record_kind kind, const struct row_value *values);

/* Adds the row as JSON. Times are stored less moved_ms; see redis_meta.h. */
void body_add(struct buf *out, enum record_kind kind, const struct row_value *values,
              int64_t moved_ms);

/* A row that was read; its values borrow from it. */
struct redis_body {
    struct yyjson_doc *doc; /* owned */
    char *bytes;            /* owned: decoded values */
    struct row_value values[ROW_COLUMNS_MAX];
};
/* A value that is missing or makes no sense is NULL, so that the row is not taken. Close it in any case. */
void body_read(struct redis_body *body, struct slice json, enum record_kind kind, int64_t moved_ms);
void body_close(struct redis_body *body);
/* The score of a flight's name is how often it was adopted since its text was written; that of others is left alone. */
void body_add_score(struct redis_body *body, enum record_kind kind,
                    const struct redis_reply *score);

/* When a row expires. */
struct body_expiry {
    bool has_time; /* rows of its kind expire */
    bool is_open;  /* not while it is like this; or, for an attempt, while its flight exists */
    int64_t time;  /* the column that decides, as it is stored */
};
struct body_expiry body_expiry(enum record_kind kind, const struct row_value *values,
                               int64_t moved_ms);
/* The latest stored time that is expired at this wall-clock time. */
int64_t body_expired_until(enum record_kind kind, int64_t wall_ms, int64_t moved_ms);
/* Milliseconds until the server may delete a row that nobody tidies away; 0: never. */
int64_t body_lifetime(enum record_kind kind, const struct body_expiry *expiry, int64_t wall_ms,
                      int64_t moved_ms);
/* The value of a column of a row. */
const struct row_value *body_value(enum record_kind kind, const struct row_value *values,
                                   const char *name);

#endif
