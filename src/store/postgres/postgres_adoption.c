#include "store/postgres/postgres_adoption.h"

#include "store/postgres/postgres_again.h"
#include "store/postgres/postgres_cluster_sql.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_rows.h"
#include "store/postgres/postgres_sql.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#define SQL_MAX 16384
/* Moving and reading the rows of a large journal may take a while. */
#define PATIENCE_MS 120000

/* ---- tables ------------------------------------------------------------------------------ */

void pg_adoption_add_sql(struct buf *sql)
{
    buf_addf(
        sql,
        "CREATE TABLE IF NOT EXISTS adoption (\n"
        "    incarnation bigint PRIMARY KEY, node bigint NOT NULL, adopter bigint NOT NULL,\n"
        "    at bigint NOT NULL);\n"
        "CREATE TABLE IF NOT EXISTS inbox (\n"
        "    told bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n"
        "    number bigint NOT NULL UNIQUE, attempt bigint NOT NULL, teller bigint NOT NULL,\n"
        "    body json NOT NULL, text bytea, extra bytea\n"
        ") WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,\n"
        "    autovacuum_vacuum_cost_delay = 0);\n"
        "ALTER TABLE inbox ALTER text SET STORAGE EXTERNAL, ALTER extra SET STORAGE EXTERNAL;\n"
        "ALTER TABLE idempotency ADD COLUMN IF NOT EXISTS follows bigint NOT NULL DEFAULT 0;\n");
}

/* ---- asking ------------------------------------------------------------------------------ */

static struct row_value integer(uint64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = (int64_t)number};
}

/* The number of rows that a statement gives, and the first column of the first one as text. */
static enum store_result ask(struct postgres_store *store, const char *sql,
                             const struct row_value *values, size_t count, int *rows, char word[16])
{
    struct pg_result *result;
    const enum store_result asked = pg_link_ask(store, sql, values, count, false, &result);
    *rows = 0;
    if (asked != STORE_DONE)
        return asked;
    *rows = PQntuples(result);
    if (*rows > 0 && word != NULL)
        (void)snprintf(word, 16, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return STORE_DONE;
}

static enum store_result run(struct postgres_store *store, const char *sql,
                             const struct row_value *values, size_t count)
{
    int rows;
    return ask(store, sql, values, count, &rows, NULL);
}

static enum store_result ready(struct postgres_store *store)
{
    enum store_result result = STORE_DONE;
    if (store->conn == NULL || PQstatus(store->conn) != CONNECTION_OK)
        result = pg_link_connect(store);
    store->patience_ms = PATIENCE_MS;
    return result == STORE_FAILED ? STORE_RETRY : result;
}

static enum store_result begin(struct postgres_store *store)
{
    const enum store_result result = ready(store);
    return result == STORE_DONE ? pg_link_run(store, "BEGIN; SET LOCAL statement_timeout = '2min';"
                                                     " SET LOCAL enable_seqscan = on;"
                                                     " SET LOCAL work_mem = '64MB'")
                                : result;
}

/* ---- taking ------------------------------------------------------------------------------ */

/* Batches of the dead node hold this row while they are applied: either they are done with it, or they find that its
 * incarnation is another one. Nor may we be adopted ourselves before this is over. */
static enum store_result seize(struct postgres_store *store, const struct store_member *dead,
                               bool *is_as_seen, bool *has_left)
{
    const struct row_value me[] = {integer(store->base.node), integer(store->base.incarnation)};
    const struct row_value it[] = {integer(dead->node), integer(dead->incarnation),
                                   integer(dead->beat)};
    char state[16] = "";
    int rows = 0;
    enum store_result result =
        ask(store, "SELECT 1 FROM node WHERE id = $1 AND incarnation = $2 FOR KEY SHARE", me, 2,
            &rows, NULL);
    if (result == STORE_DONE && rows == 0)
        return pg_again_judge(store);
    if (result == STORE_DONE)
        result = ask(store,
                     "SELECT state FROM node WHERE id = $1 AND incarnation = $2 AND beat = $3"
                     " AND state <> 'gone' FOR UPDATE",
                     it, 3, &rows, state);
    *is_as_seen = result == STORE_DONE && rows == 1;
    *has_left = strcmp(state, "left") == 0;
    return result;
}

/* The incarnation changes, since that is what a batch looks at. */
static enum store_result fence(struct postgres_store *store, const struct store_member *dead)
{
    const struct row_value it[] = {integer(dead->node)};
    const struct row_value adoption[] = {integer(dead->incarnation), integer(dead->node),
                                         integer(store->base.incarnation)};
    const enum store_result result = run(store,
                                         "UPDATE node SET incarnation = -incarnation,"
                                         " state = 'gone', slots = 0, pools = 0 WHERE id = $1",
                                         it, 1);
    return result == STORE_DONE
               ? run(store, "INSERT INTO adoption VALUES ($1, $2, $3, now_ms())", adoption, 3)
               : result;
}

/* As loading does it, but of rows that are moved at the same time, and in no order: the loop gets them sorted. */
static enum store_result move_kind(struct postgres_store *store, enum record_kind kind,
                                   const struct store_member *dead, bool has_left,
                                   const struct store_adopted *to)
{
    const struct row_table *const table = &row_tables[kind];
    const bool is_counted = kind == RECORD_FLIGHT && !has_left;
    struct buf sql;
    buf_init(&sql, SQL_MAX);
    buf_addf(&sql, "WITH %s AS (UPDATE %s SET owner = %u%s WHERE owner = %u RETURNING *) ",
             table->name, table->name, (unsigned)store->base.node,
             is_counted ? ", " PG_ADOPTIONS_COUNTED : "", (unsigned)dead->node);
    pg_sql_add_rows(&sql, table, store->base.node);
    buf_add_char(&sql, '\0');
    const enum store_result result =
        pg_rows_give(store, kind, sql.data, clocks_read().wall_ms, to->on_values, to->context);
    buf_close(&sql);
    return result;
}

static enum store_result move_claims(struct postgres_store *store, const struct store_member *dead,
                                     const struct store_adopted *to)
{
    struct pg_result *result;
    const struct row_value values[] = {integer(store->base.node), integer(dead->node)};
    const enum store_result asked =
        pg_link_ask(store, "UPDATE claim SET owner = $1 WHERE owner = $2 RETURNING name, flight",
                    values, 2, true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++) {
        struct key name;
        if (PQgetlength(result, i, 0) != KEY_BYTES)
            continue;
        memcpy(name.bytes, PQgetvalue(result, i, 0), KEY_BYTES);
        to->on_claim(to->context, &name, (uint64_t)pg_link_integer(result, i, 1));
    }
    PQclear(result);
    return run(store, "UPDATE inbox SET teller = $1 WHERE teller = $2", values, 2);
}

static bool is_book(enum record_kind kind)
{
    return kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT;
}

static enum store_result move_all(struct postgres_store *store, const struct store_member *dead,
                                  bool has_left, const struct store_adopted *to)
{
    enum store_result result = fence(store, dead);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++)
        if (!is_book((enum record_kind)kind))
            result = move_kind(store, (enum record_kind)kind, dead, has_left, to);
    if (result == STORE_DONE)
        result = move_claims(store, dead, to);
    return result == STORE_DONE ? pg_link_run(store, "COMMIT") : result;
}

static enum store_result take(struct postgres_store *store, const struct store_member *dead,
                              bool *is_ours, const struct store_adopted *to)
{
    bool has_left = false;
    enum store_result result = seize(store, dead, is_ours, &has_left);
    if (result == STORE_DONE && *is_ours)
        result = move_all(store, dead, has_left, to);
    return result;
}

/* Waits for the transaction before, if the server still works on it. All rows were given before it could commit. */
static enum store_result look_back(struct postgres_store *store, const struct store_member *dead,
                                   bool *is_ours)
{
    const struct row_value node = integer(dead->node);
    const struct row_value it[] = {integer(dead->incarnation), integer(store->base.incarnation)};
    int rows = 0;
    enum store_result result = run(store, "SELECT 1 FROM node WHERE id = $1 FOR UPDATE", &node, 1);
    if (result == STORE_DONE)
        result = ask(store, "SELECT 1 FROM adoption WHERE incarnation = $1 AND adopter = $2", it, 2,
                     &rows, NULL);
    *is_ours = result == STORE_DONE && rows == 1;
    return result;
}

enum store_result pg_adoption_adopt(struct store_backend *backend, const struct store_member *dead,
                                    bool is_again, bool *is_ours, const struct store_adopted *to)
{
    struct postgres_store *const store = postgres_store_of(backend);
    enum store_result result = begin(store);
    *is_ours = false;
    if (result == STORE_DONE)
        result = is_again ? look_back(store, dead, is_ours) : take(store, dead, is_ours, to);
    pg_link_roll_back(store);
    /* Nothing else is there to be asked for before the next node dies. */
    if (result != STORE_DONE)
        *is_ours = false;
    pg_link_close(store);
    return result == STORE_FAILED ? STORE_RETRY : result;
}
