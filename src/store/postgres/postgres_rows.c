#include "store/postgres/postgres_rows.h"

#include "base/assert.h"
#include "store/postgres/postgres_again.h"
#include "store/postgres/postgres_body.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"
#include "store/postgres/postgres_progress.h"
#include "store/postgres/postgres_schema.h"
#include "store/postgres/postgres_server.h"
#include "store/postgres/postgres_sql.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#define SQL_MAX 16384
#define MISTAKE_MAX 1024

/* ---- the session ------------------------------------------------------------------------- */

/* The server may have changed meanwhile, or be another one after a failover. What a person can repair is a retry. */
static enum store_result check_again(struct postgres_store *store)
{
    struct buf mistake;
    int64_t version = 0;
    enum store_result result = STORE_DONE;
    buf_init(&mistake, MISTAKE_MAX);
    if (!pg_server_check(store, &mistake)) {
        pg_error_say(store, "%.*s", (int)mistake.len, buf_slice(&mistake).data);
        result = STORE_RETRY;
    } else {
        result = pg_schema_read_version(store, &version);
    }
    if (result == STORE_DONE && version > PG_SCHEMA_VERSION) {
        pg_error_say(store,
                     "a newer solvegate has migrated the schema \"%s\" meanwhile; run that one",
                     store->address.schema);
        result = STORE_FAILED;
    } else if (result == STORE_DONE && version != PG_SCHEMA_VERSION) {
        pg_error_say(
            store,
            "the tables of the schema \"%s\" are gone; restore them, or run what `solvegate store "
            "init --print-sql` prints: what the gateway has in memory is written to them",
            store->address.schema);
        result = STORE_RETRY;
    }
    buf_close(&mistake);
    if (result != STORE_DONE)
        return result;
    if (store->base.node == 0)
        return pg_progress_prove(store);
    result = pg_again_follow_history(store);
    return result == STORE_DONE ? pg_again_enter(store) : result;
}

static enum store_result make_session(struct postgres_store *store)
{
    enum store_result result = pg_link_connect(store);
    if (result == STORE_DONE)
        result = pg_lock_take(store);
    if (result == STORE_DONE && store->is_open)
        result = check_again(store);
    if (result == STORE_DONE && store->is_open)
        result = pg_sql_prepare(store);
    if (result != STORE_DONE)
        pg_link_close(store);
    return result;
}

enum store_result pg_rows_ready(struct postgres_store *store)
{
    if (store->conn != NULL && PQstatus(store->conn) == CONNECTION_OK)
        return STORE_DONE;
    const enum store_result result = make_session(store);
    if (result == STORE_DONE) {
        store->base.reconnects += store->was_connected;
        store->was_connected = true;
    }
    return result;
}

/* A session with settings that are refused is given up: the next one is refused until they are as they were. */
enum store_result pg_rows_look(struct store_backend *backend)
{
    struct postgres_store *const store = postgres_store_of(backend);
    struct buf mistake;
    enum store_result result = pg_rows_ready(store);
    if (result != STORE_DONE)
        return result;
    buf_init(&mistake, MISTAKE_MAX);
    if (!pg_server_check(store, &mistake)) {
        pg_error_say(store, "%.*s", (int)mistake.len, buf_slice(&mistake).data);
        pg_link_close(store);
        result = STORE_RETRY;
    }
    buf_close(&mistake);
    return result;
}

/* ---- loading ----------------------------------------------------------------------------- */

static struct row_value value_of(const struct pg_result *result, int row, int place,
                                 enum column_type type)
{
    if (PQgetisnull(result, row, place) == 1)
        return (struct row_value){.type = VALUE_NULL};
    if (column_is_integer(type))
        return (struct row_value){.type = VALUE_INTEGER,
                                  .integer = pg_link_integer(result, row, place)};
    return (struct row_value){
        .type = strcmp(pg_schema_type(type), "bytea") == 0 ? VALUE_BYTES : VALUE_TEXT,
        .bytes = {.data = PQgetvalue(result, row, place),
                  .len = (size_t)PQgetlength(result, row, place)},
    };
}

void pg_rows_read(const struct pg_result *result, int row, int place, enum record_kind kind,
                  struct row_value values[ROW_COLUMNS_MAX], struct pg_body *body)
{
    const struct row_table *const table = &row_tables[kind];
    for (size_t i = 0; i < table->count; i++)
        if (pg_schema_is_own(table, i))
            values[i] = value_of(result, row, place++, table->columns[i].type);
    *body = (struct pg_body){.doc = NULL};
    if (pg_schema_has_body(table))
        pg_body_read(body, value_of(result, row, place, COLUMN_TEXT).bytes, table, values);
}

struct loader {
    enum record_kind kind;
    store_on_values *on_values;
    void *context;
};

static void give_row(const struct loader *loader, const struct pg_result *row)
{
    struct row_value values[ROW_COLUMNS_MAX];
    struct pg_body body;
    pg_rows_read(row, 0, 0, loader->kind, values, &body);
    loader->on_values(loader->context, loader->kind, values);
    pg_body_close(&body);
}

static enum store_result give_rows(struct postgres_store *store, const struct loader *loader)
{
    enum store_result first = STORE_DONE;
    struct pg_result *row = NULL;
    bool is_there;
    while ((is_there = pg_link_next(store, &row)) && row != NULL) {
        const ExecStatusType status = PQresultStatus(row);
        if (status == PGRES_SINGLE_TUPLE)
            give_row(loader, row);
        else if (status != PGRES_TUPLES_OK && first == STORE_DONE)
            first = pg_error_take(store, row);
        PQclear(row);
        if (store->conn == NULL)
            return first;
    }
    return is_there || first != STORE_DONE ? first : pg_error_take(store, NULL);
}

enum store_result pg_rows_give(struct postgres_store *store, enum record_kind kind, const char *sql,
                               int64_t wall_ms, store_on_values *on_values, void *context)
{
    const struct row_table *const table = &row_tables[kind];
    const struct loader loader = {.kind = kind, .on_values = on_values, .context = context};
    char until[32];
    const char *const values[] = {until};
    const Oid types[] = {20};
    const int count = table->expiry.column != NULL;
    if (count == 1)
        (void)snprintf(until, sizeof until, "%lld",
                       (long long)row_expired_until(&table->expiry, wall_ms));
    const bool is_sent =
        PQsendQueryParams(store->conn, sql, count, types, values, NULL, NULL, 1) == 1 &&
        PQsetSingleRowMode(store->conn) == 1;
    return is_sent ? give_rows(store, &loader) : pg_error_take(store, NULL);
}

/* Takes as long as it takes; and reads tables from one end to the other, unlike everything else. */
#define LOAD_BEGIN                                                                               \
    "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;" \
    " SET LOCAL enable_seqscan = on"

static enum store_result load_all(struct postgres_store *store, int64_t wall_ms,
                                  store_on_values *on_values, void *context)
{
    struct buf sql;
    enum store_result result = pg_link_run(store, LOAD_BEGIN);
    buf_init(&sql, SQL_MAX);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++) {
        buf_reset(&sql);
        pg_sql_add_load(&sql, &row_tables[kind], store->base.node);
        result = pg_rows_give(store, (enum record_kind)kind, sql.data, wall_ms, on_values, context);
    }
    buf_close(&sql);
    if (result == STORE_DONE)
        result = pg_link_run(store, "COMMIT");
    pg_link_roll_back(store);
    return result;
}

enum store_result pg_rows_load(struct store_backend *backend, int64_t wall_ms,
                               store_on_values *on_values, void *context)
{
    struct postgres_store *const store = postgres_store_of(backend);
    const enum store_result result = pg_rows_ready(store);
    return result == STORE_DONE ? load_all(store, wall_ms, on_values, context) : result;
}

/* ---- tidying ----------------------------------------------------------------------------- */

static enum store_result tidy_kind(struct postgres_store *store, const struct row_table *table,
                                   int64_t wall_ms, unsigned limit, bool *has_more)
{
    struct buf sql;
    struct pg_result *result;
    const struct row_value values[] = {
        {.type = VALUE_INTEGER, .integer = row_expired_until(&table->expiry, wall_ms)},
        {.type = VALUE_INTEGER, .integer = limit},
    };
    buf_init(&sql, SQL_MAX);
    pg_sql_add_tidy(&sql, table, store->base.node);
    const enum store_result asked = pg_link_ask(store, sql.data, values, 2, false, &result);
    buf_close(&sql);
    if (asked != STORE_DONE)
        return asked;
    *has_more |= strtoull(PQcmdTuples(result), NULL, 10) >= limit;
    PQclear(result);
    return STORE_DONE;
}

/* What no row describes. Ends of claims that nobody needs to know any more, whoever ended them; nodes that were adopted
 * and have no books left, since there is room for so many names only; old adoptions. */
static const char *const others[] = {
    "DELETE FROM ended WHERE ctid = ANY(ARRAY(SELECT ctid FROM ended"
    " WHERE until <= now_ms() AND refused_until <= now_ms() LIMIT $1))",
    "DELETE FROM node AS n WHERE n.id IN (SELECT m.id FROM node AS m WHERE m.state = 'gone'"
    " AND NOT EXISTS (SELECT 1 FROM day WHERE owner = m.id)"
    " AND NOT EXISTS (SELECT 1 FROM tally WHERE owner = m.id)"
    " AND NOT EXISTS (SELECT 1 FROM spent WHERE owner = m.id) LIMIT $1) AND n.state = 'gone'",
    "DELETE FROM adoption WHERE incarnation IN (SELECT incarnation FROM adoption"
    " WHERE at < now_ms() - 2592000000 LIMIT $1)",
};

static enum store_result tidy_others(struct postgres_store *store, unsigned limit, bool *has_more)
{
    const struct row_value value = {.type = VALUE_INTEGER, .integer = limit};
    enum store_result asked = STORE_DONE;
    for (size_t i = 0; i < sizeof others / sizeof others[0] && asked == STORE_DONE; i++) {
        struct pg_result *result;
        asked = pg_link_ask(store, others[i], &value, 1, false, &result);
        if (asked != STORE_DONE)
            break;
        *has_more |= strtoull(PQcmdTuples(result), NULL, 10) >= limit;
        PQclear(result);
    }
    return asked;
}

/* Each kind is a transaction of its own: nothing depends on deleting them together. */
enum store_result pg_rows_tidy(struct store_backend *backend, int64_t wall_ms, unsigned limit,
                               bool *has_more)
{
    struct postgres_store *const store = postgres_store_of(backend);
    *has_more = false;
    enum store_result result = pg_rows_ready(store);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++)
        if (row_tables[kind].expiry.column != NULL)
            result = tidy_kind(store, &row_tables[kind], wall_ms, limit, has_more);
    if (result == STORE_DONE && store->base.node != 0)
        result = tidy_others(store, limit, has_more);
    return result;
}
