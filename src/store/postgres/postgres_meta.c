#include "store/postgres/postgres_meta.h"

#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_sql.h"
#include "store/store_clock.h"
#include "store/store_secret.h"

#include <libpq-fe.h>
#include <sodium.h>

#define SQL_MAX 16384
/* Moving every row of a large journal may take minutes. */
#define SHIFT_PATIENCE_MS 600000
#define SHIFT_BEGIN                                 \
    "BEGIN; SET LOCAL statement_timeout = '10min';" \
    " SET LOCAL enable_seqscan = on"

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value text(const char *string)
{
    return (struct row_value){.type = VALUE_TEXT, .bytes = slice_from(string)};
}

static struct row_value secret_bytes(const struct store_secret *secret)
{
    return (struct row_value){.type = VALUE_BYTES,
                              .bytes = {.data = (const char *)secret->bytes, .len = secret->count}};
}

static enum store_result run(struct postgres_store *store, const char *sql,
                             const struct row_value *values, size_t count)
{
    struct pg_result *result;
    const enum store_result asked = pg_link_ask(store, sql, values, count, true, &result);
    PQclear(result);
    return asked;
}

/* Ends the transaction as the result demands. */
static enum store_result finish(struct postgres_store *store, enum store_result result)
{
    if (result == STORE_DONE)
        result = pg_link_run(store, "COMMIT");
    pg_link_roll_back(store);
    return result;
}

/* ---- secrets ----------------------------------------------------------------------------- */

static enum store_result read_secret(struct postgres_store *store, const char *name,
                                     struct store_secret *secret)
{
    struct pg_result *result;
    const struct row_value key = text(name);
    *secret = (struct store_secret){.count = 0};
    const enum store_result asked = pg_link_ask(
        store, "SELECT bytes, made FROM secret WHERE name = $1", &key, 1, true, &result);
    if (asked != STORE_DONE)
        return asked;
    if (PQntuples(result) == 1) {
        secret->count = (size_t)PQgetlength(result, 0, 0);
        secret->made_wall_ms = pg_link_integer(result, 0, 1);
        if (secret->count <= sizeof secret->bytes)
            memcpy(secret->bytes, PQgetvalue(result, 0, 0), secret->count);
    }
    PQclear(result);
    return STORE_DONE;
}

enum store_result pg_meta_find_secret(struct store_backend *backend, const char *name,
                                      struct store_secret *secret)
{
    struct postgres_store *const store = postgres_store_of(backend);
    enum store_result result = pg_rows_ready(store);
    if (result == STORE_DONE)
        result = read_secret(store, name, secret);
    if (result == STORE_DONE)
        store_kept_secret(&store->kept, name, secret);
    return result;
}

static enum store_result write_secret(struct postgres_store *store, const char *name,
                                      const struct store_secret *secret)
{
    const struct row_value values[] = {text(name), secret_bytes(secret),
                                       integer(secret->made_wall_ms)};
    return run(store,
               "INSERT INTO secret (name, bytes, made) VALUES ($1, $2, $3) ON CONFLICT (name)"
               " DO UPDATE SET bytes = EXCLUDED.bytes, made = EXCLUDED.made",
               values, 3);
}

/* The lock makes two gateways take turns also when there is no row yet. */
enum store_result pg_meta_replace_secret(struct store_backend *backend, const char *name,
                                         const struct store_secret *secret, const char *old_name,
                                         const struct store_secret *before)
{
    struct postgres_store *const store = postgres_store_of(backend);
    struct store_secret stored = {.count = 0};
    enum store_result result = pg_rows_ready(store);
    if (result == STORE_DONE)
        result = pg_link_run(store, "BEGIN; LOCK TABLE secret IN SHARE ROW EXCLUSIVE MODE");
    if (result == STORE_DONE)
        result = read_secret(store, name, &stored);
    if (result == STORE_DONE && secret_is_same(&stored, before)) {
        if (before != NULL)
            result = write_secret(store, old_name, before);
        if (result == STORE_DONE)
            result = write_secret(store, name, secret);
    }
    const bool is_replaced = secret_is_same(&stored, before);
    sodium_memzero(&stored, sizeof stored);
    result = finish(store, result);
    if (result == STORE_DONE && is_replaced) {
        if (before != NULL)
            store_kept_secret(&store->kept, old_name, before);
        store_kept_secret(&store->kept, name, secret);
    }
    return result;
}

/* ---- the clock --------------------------------------------------------------------------- */

static bool is_time(int64_t time_ms)
{
    return time_ms >= 0 && time_ms <= ROW_TIME_MAX;
}

static void take_mark(const struct pg_result *result, struct store_mark *mark)
{
    const int len = PQgetlength(result, 0, 0);
    const int64_t even_ms = pg_link_integer(result, 0, 1);
    const int64_t wall_ms = pg_link_integer(result, 0, 2);
    if ((size_t)len >= sizeof mark->boot || !is_time(even_ms) || !is_time(wall_ms))
        return;
    *mark = (struct store_mark){.is_set = true, .even_ms = even_ms, .wall_ms = wall_ms};
    memcpy(mark->boot, PQgetvalue(result, 0, 0), (size_t)len);
}

static enum store_result read_mark(struct postgres_store *store, struct store_mark *mark)
{
    struct pg_result *result;
    *mark = (struct store_mark){.is_set = false};
    const enum store_result asked = pg_link_ask(
        store, "SELECT boot, even, wall FROM clock WHERE id = 1", NULL, 0, true, &result);
    if (asked != STORE_DONE)
        return asked;
    if (PQntuples(result) == 1)
        take_mark(result, mark);
    PQclear(result);
    return STORE_DONE;
}

enum store_result pg_meta_read_mark(struct store_backend *backend, struct store_mark *mark)
{
    struct postgres_store *const store = postgres_store_of(backend);
    *mark = (struct store_mark){.is_set = false};
    enum store_result result = pg_rows_ready(store);
    if (result == STORE_DONE)
        result = read_mark(store, mark);
    if (result == STORE_DONE && mark->is_set)
        store->kept.mark = *mark;
    return result;
}

static enum store_result write_mark(struct postgres_store *store, const struct clocks *now)
{
    const struct row_value values[] = {text(now->boot), integer(now->even_ms),
                                       integer(now->wall_ms)};
    return run(store,
               "INSERT INTO clock (id, boot, even, wall) VALUES (1, $1, $2, $3) ON CONFLICT (id)"
               " DO UPDATE SET boot = EXCLUDED.boot, even = EXCLUDED.even, wall = EXCLUDED.wall",
               values, 3);
}

static enum store_result shift_times(struct postgres_store *store, const struct store_shift *shift)
{
    const struct row_value by = integer(shift->by_ms);
    struct store_mark mark;
    struct buf sql;
    enum store_result result = read_mark(store, &mark);
    if (result != STORE_DONE || store_clock_is_at(&mark, &shift->now))
        return result;
    buf_init(&sql, SQL_MAX);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++) {
        buf_reset(&sql);
        if (shift->by_ms != 0 && pg_sql_add_shift(&sql, &row_tables[kind]))
            result = run(store, sql.data, &by, 1);
    }
    buf_close(&sql);
    return result == STORE_DONE ? write_mark(store, &shift->now) : result;
}

enum store_result pg_meta_shift(struct store_backend *backend, const struct store_shift *shift)
{
    struct postgres_store *const store = postgres_store_of(backend);
    enum store_result result = pg_rows_ready(store);
    const int patience_ms = store->patience_ms;
    store->patience_ms = SHIFT_PATIENCE_MS;
    if (result == STORE_DONE)
        result = pg_link_run(store, SHIFT_BEGIN);
    if (result == STORE_DONE)
        result = shift_times(store, shift);
    result = finish(store, result);
    store->patience_ms = patience_ms;
    if (result == STORE_DONE)
        store_kept_mark(&store->kept, &shift->now);
    return result;
}

/* ---- again ------------------------------------------------------------------------------- */

enum store_result pg_meta_write_kept(struct postgres_store *store)
{
    const struct store_mark *const mark = &store->kept.mark;
    const struct clocks now = {
        .wall_ms = mark->wall_ms, .even_ms = mark->even_ms, .boot = mark->boot};
    enum store_result result = mark->is_set ? write_mark(store, &now) : STORE_DONE;
    for (size_t i = 0; i < STORE_KEPT_SECRETS && result == STORE_DONE; i++) {
        const struct store_kept_secret *const kept = &store->kept.secrets[i];
        if (kept->name[0] != '\0')
            result = write_secret(store, kept->name, &kept->secret);
    }
    return result;
}
