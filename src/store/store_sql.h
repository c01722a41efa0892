/* A little help with SQLite: whole statements, and rows written and read column by column. */
#ifndef SOLVEGATE_STORE_STORE_SQL_H
#define SOLVEGATE_STORE_STORE_SQL_H

#include "base/slice.h"

#include <solvegate/types.h>

struct sqlite3;
struct sqlite3_stmt;

/* Each returns a result code of SQLite. */
int sql_run(struct sqlite3 *db, const char *text);
/* The first column of the first row; 0 when there is none. */
int sql_number(struct sqlite3 *db, const char *text, int64_t *number);
/* Made once, used often; NULL when the text does not fit the tables. */
struct sqlite3_stmt *sql_prepare(struct sqlite3 *db, const char *text);

/* Ends a transaction that failed, if one is open. */
void sql_roll_back(struct sqlite3 *db);

/* Fills the parameters of a statement from the first on. Bytes are borrowed until it is reset. */
struct sql_out {
    struct sqlite3_stmt *statement;
    int at;
    int rc; /* of the first that failed */
};

void sql_put_i64(struct sql_out *out, int64_t number);
/* Two's complement, since SQLite's integers have a sign. */
void sql_put_u64(struct sql_out *out, uint64_t number);
void sql_put_text(struct sql_out *out, struct slice text);
void sql_put_word(struct sql_out *out, const char *word);
void sql_put_bytes(struct sql_out *out, struct slice bytes);
void sql_put_key(struct sql_out *out, const struct key *key);

/* Reads the columns of a row from the first on. */
struct sql_in {
    struct sqlite3_stmt *statement;
    int at;
    bool is_bad; /* something did not fit: the row cannot be understood */
};

int64_t sql_take_i64(struct sql_in *in);
uint64_t sql_take_u64(struct sql_in *in);
/* Milliseconds since 1970 that can be reckoned with: neither before it nor in ages to come. */
int64_t sql_take_wall_ms(struct sql_in *in);
/* A small number up to max. */
uint32_t sql_take_up_to(struct sql_in *in, uint32_t max);
bool sql_take_bool(struct sql_in *in);
/* Valid until the next step; not given when it is NULL. */
struct slice sql_take_bytes(struct sql_in *in);
void sql_take_key(struct sql_in *in, struct key *key);
/* Into room bytes with the NUL. */
void sql_take_string(struct sql_in *in, char *string, size_t room);
/* A copy with one reference, or NULL. */
struct blob *sql_take_blob(struct sql_in *in);
/* The place of a word among count, as name_at tells them. */
unsigned sql_take_word(struct sql_in *in, const char *(*name_at)(unsigned place), unsigned count);

#endif
