#include "store/store_sql.h"

#include "store/store_words.h"

#include <sqlite3.h>

/* Some thousand years: sums of two of them do not overflow. */
#define WALL_MS_MAX (INT64_C(1) << 47)

int sql_run(struct sqlite3 *db, const char *text)
{
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int sql_number(struct sqlite3 *db, const char *text, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    *number = 0;
    int rc = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

struct sqlite3_stmt *sql_prepare(struct sqlite3 *db, const char *text)
{
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    return statement;
}

void sql_roll_back(struct sqlite3 *db)
{
    if (sqlite3_get_autocommit(db) == 0)
        (void)sql_run(db, "ROLLBACK");
}

static void note(struct sql_out *out, int rc)
{
    if (out->rc == SQLITE_OK)
        out->rc = rc;
}

void sql_put_i64(struct sql_out *out, int64_t number)
{
    note(out, sqlite3_bind_int64(out->statement, ++out->at, number));
}

void sql_put_u64(struct sql_out *out, uint64_t number)
{
    int64_t same;
    memcpy(&same, &number, sizeof(same));
    sql_put_i64(out, same);
}

void sql_put_text(struct sql_out *out, struct slice text)
{
    note(out, sqlite3_bind_text64(out->statement, ++out->at, text.data, text.len, SQLITE_STATIC,
                                  SQLITE_UTF8));
}

void sql_put_word(struct sql_out *out, const char *word)
{
    sql_put_text(out, slice_from(word));
}

void sql_put_bytes(struct sql_out *out, struct slice bytes)
{
    note(out, sqlite3_bind_blob64(out->statement, ++out->at, bytes.data, bytes.len, SQLITE_STATIC));
}

void sql_put_key(struct sql_out *out, const struct key *key)
{
    sql_put_bytes(out, (struct slice){.data = (const char *)key->bytes, .len = KEY_BYTES});
}

int64_t sql_take_i64(struct sql_in *in)
{
    return sqlite3_column_int64(in->statement, in->at++);
}

uint64_t sql_take_u64(struct sql_in *in)
{
    return (uint64_t)sql_take_i64(in);
}

int64_t sql_take_wall_ms(struct sql_in *in)
{
    const int64_t wall_ms = sql_take_i64(in);
    if (wall_ms >= 0 && wall_ms <= WALL_MS_MAX)
        return wall_ms;
    in->is_bad = true;
    return 0;
}

uint32_t sql_take_up_to(struct sql_in *in, uint32_t max)
{
    const int64_t number = sql_take_i64(in);
    if (number >= 0 && number <= max)
        return (uint32_t)number;
    in->is_bad = true;
    return 0;
}

bool sql_take_bool(struct sql_in *in)
{
    return sql_take_up_to(in, 1) == 1;
}

struct slice sql_take_bytes(struct sql_in *in)
{
    const int at = in->at++;
    if (sqlite3_column_type(in->statement, at) == SQLITE_NULL)
        return SLICE_NONE;
    /* An empty blob comes as NULL, which would mean that it is not given. */
    const char *const data = sqlite3_column_blob(in->statement, at);
    const int len = sqlite3_column_bytes(in->statement, at);
    return (struct slice){.data = data == NULL ? "" : data, .len = (size_t)len};
}

void sql_take_key(struct sql_in *in, struct key *key)
{
    const struct slice bytes = sql_take_bytes(in);
    if (bytes.len == KEY_BYTES)
        memcpy(key->bytes, bytes.data, KEY_BYTES);
    else
        in->is_bad = true;
}

void sql_take_string(struct sql_in *in, char *string, size_t room)
{
    const struct slice text = sql_take_bytes(in);
    const bool fits = text.len < room && (text.len == 0 || memchr(text.data, 0, text.len) == NULL);
    if (fits && text.len > 0)
        memcpy(string, text.data, text.len);
    string[fits ? text.len : 0] = '\0';
    if (!fits)
        in->is_bad = true;
}

struct blob *sql_take_blob(struct sql_in *in)
{
    const struct slice bytes = sql_take_bytes(in);
    return slice_is_given(bytes) ? blob_new(bytes) : NULL;
}

unsigned sql_take_word(struct sql_in *in, const char *(*name_at)(unsigned place), unsigned count)
{
    unsigned place = 0;
    if (!word_find(sql_take_bytes(in), name_at, count, &place))
        in->is_bad = true;
    return place;
}
