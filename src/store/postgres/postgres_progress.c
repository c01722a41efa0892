#include "store/postgres/postgres_progress.h"

#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_meta.h"

#include <libpq-fe.h>
#include <stdio.h>

/* A row that is not as this run left it stays as it is. */
#define ADVANCE \
    "UPDATE progress SET batch = $1::bigint WHERE node = 0 AND batch IN ($1::bigint, $2::bigint)"

static enum store_result write_number(struct postgres_store *store)
{
    struct pg_result *result;
    const struct row_value number = {.type = VALUE_INTEGER, .integer = store->kept.written};
    const enum store_result asked =
        pg_link_ask(store,
                    "INSERT INTO progress (node, batch) VALUES (0, $1)"
                    " ON CONFLICT (node) DO UPDATE SET batch = EXCLUDED.batch",
                    &number, 1, true, &result);
    PQclear(result);
    return asked;
}

enum store_result pg_progress_begin(struct postgres_store *store)
{
    store_kept_begin(&store->kept);
    return write_number(store);
}

/* ---- a store that lost rows -------------------------------------------------------------- */

static enum store_result give_back(struct postgres_store *store)
{
    char where[96 + PG_SCHEMA_MAX];
    enum store_result result = pg_link_run(store, "BEGIN");
    if (result == STORE_DONE)
        result = pg_meta_write_kept(store);
    if (result == STORE_DONE)
        result = write_number(store);
    if (result == STORE_DONE)
        result = pg_link_run(store, "COMMIT");
    pg_link_roll_back(store);
    if (result != STORE_DONE)
        return result;
    store->is_lost = false;
    (void)snprintf(where, sizeof where, "the schema \"%s\" of the PostgreSQL server",
                   store->address.schema);
    store_kept_lost(&store->base, where);
    return STORE_DONE;
}

enum store_result pg_progress_prove(struct postgres_store *store)
{
    struct pg_result *result;
    const enum store_result asked =
        pg_link_ask(store, "SELECT batch FROM progress WHERE node = 0", NULL, 0, true, &result);
    if (asked != STORE_DONE)
        return asked;
    store->is_lost |=
        PQntuples(result) != 1 || !store_kept_is_known(&store->kept, pg_link_integer(result, 0, 0));
    PQclear(result);
    return store->is_lost ? give_back(store) : STORE_DONE;
}

/* ---- batches ----------------------------------------------------------------------------- */

bool pg_progress_prepare(struct postgres_store *store)
{
    return PQsendPrepare(store->conn, "advance", ADVANCE, 0, NULL) == 1;
}

bool pg_progress_send(struct postgres_store *store, const struct store_batch *batch)
{
    char next[24], written[24];
    const char *const values[] = {next, written};
    (void)snprintf(next, sizeof next, "%lld", (long long)store_kept_send(&store->kept, batch));
    (void)snprintf(written, sizeof written, "%lld", (long long)store->kept.written);
    return PQsendQueryPrepared(store->conn, "advance", 2, values, NULL, NULL, 0) == 1;
}

/* No other statement of a batch is an update. */
void pg_progress_take(struct postgres_store *store, struct pg_result *result)
{
    if (PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "UPDATE 0") == 0)
        store->is_lost = true;
}

/* If it cannot be given back at once, the next session or beat does it. */
void pg_progress_written(struct postgres_store *store)
{
    store_kept_written(&store->kept);
    if (store->is_lost && store->conn != NULL)
        (void)give_back(store);
}
