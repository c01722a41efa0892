#include "store/postgres/postgres_cluster.h"

#include "store/postgres/postgres_adoption.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"
#include "store/postgres/postgres_rows.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* Giving every row of a large journal another owner may take minutes. */
#define MOVE_PATIENCE_MS 600000
#define NODES_MAX (STORE_MEMBERS_MAX - 1)

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

static struct row_value text(const char *string)
{
    return (struct row_value){.type = VALUE_TEXT, .bytes = slice_from(string)};
}

/* The first column of the first row as a number; 0 if there is none. */
static enum store_result ask_number(struct postgres_store *store, const char *sql,
                                    const struct row_value *values, size_t count, int64_t *number)
{
    struct pg_result *result;
    const enum store_result asked = pg_link_ask(store, sql, values, count, false, &result);
    *number = 0;
    if (asked != STORE_DONE)
        return asked;
    if (PQntuples(result) > 0)
        *number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return STORE_DONE;
}

static enum store_result run(struct postgres_store *store, const char *sql,
                             const struct row_value *values, size_t count)
{
    int64_t unused;
    return ask_number(store, sql, values, count, &unused);
}

/* Whoever adopts this very node is waited for. */
enum store_result pg_cluster_begin(struct postgres_store *store)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "BEGIN; SET LOCAL statement_timeout = '10min'; SET LOCAL lock_timeout = '3min';"
                   " SET LOCAL enable_seqscan = on;"
                   " SELECT pg_advisory_xact_lock(%lld)",
                   (long long)pg_lock_key(store->address.schema) + 1);
    return pg_link_run(store, sql);
}

/* ---- whose rows -------------------------------------------------------------------------- */

static enum store_result read_is_shared(struct postgres_store *store, bool *is_shared)
{
    int64_t count = 0;
    const enum store_result result =
        ask_number(store, "SELECT count(*) FROM meta WHERE name = 'owners' AND value = 'nodes'",
                   NULL, 0, &count);
    *is_shared = count > 0;
    return result;
}

static enum store_result move_rows(struct postgres_store *store, int64_t from, int64_t to)
{
    enum store_result result = STORE_DONE;
    const struct row_value values[] = {integer(to), integer(from)};
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT && result == STORE_DONE; kind++) {
        char sql[128];
        (void)snprintf(sql, sizeof sql, "UPDATE %s SET owner = $1 WHERE owner = $2",
                       row_tables[kind].name);
        result = run(store, sql, values, 2);
    }
    return result;
}

static enum store_result set_meta(struct postgres_store *store, const char *name, const char *value)
{
    const struct row_value values[] = {text(name), text(value)};
    return run(store,
               "INSERT INTO meta (name, value) VALUES ($1, $2)"
               " ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
               values, 2);
}

/* ---- joining ----------------------------------------------------------------------------- */

/* All must have the same lease, since each judges the others by its own. It can change while nobody else is there. */
static enum store_result agree_on_lease(struct postgres_store *store)
{
    const struct row_value name = text(store->node);
    char lease[32];
    int64_t others = 0;
    int64_t agreed = 0;
    enum store_result result =
        ask_number(store, "SELECT value FROM meta WHERE name = 'lease'", NULL, 0, &agreed);
    if (result == STORE_DONE)
        result = ask_number(store,
                            "SELECT count(*) FROM node WHERE name <> $1"
                            " AND state NOT IN ('left', 'gone')",
                            &name, 1, &others);
    if (result != STORE_DONE)
        return result;
    if (agreed != 0 && agreed != (int64_t)store->lease_ms && others > 0) {
        pg_error_say(store,
                     "the gateways that share this schema have cluster.lease %lld ms, this one "
                     "%u ms; set the same for all, or stop the others first",
                     (long long)agreed, (unsigned)store->lease_ms);
        return STORE_FAILED;
    }
    (void)snprintf(lease, sizeof lease, "%u", (unsigned)store->lease_ms);
    return set_meta(store, "lease", lease);
}

/* A name keeps its number, and with it its rows. The node's row is locked before any other, as by those who adopt:
 * a gateway that comes back may meet one of them, and in another order both would wait for each other. */
static enum store_result find_number(struct postgres_store *store, int64_t *number)
{
    const struct row_value name = text(store->node);
    const struct row_value most = integer(NODES_MAX);
    enum store_result result =
        ask_number(store, "SELECT id FROM node WHERE name = $1 FOR UPDATE", &name, 1, number);
    if (result == STORE_DONE && *number == 0)
        result = ask_number(store,
                            "SELECT min(n) FROM generate_series(1, $1) AS n"
                            " WHERE NOT EXISTS (SELECT 1 FROM node WHERE id = n)",
                            &most, 1, number);
    if (result == STORE_DONE && *number == 0) {
        pg_error_say(store,
                     "the store knows %d names of gateways already and has room for no more; "
                     "delete rows of the table node whose gateways are gone for good",
                     NODES_MAX);
        return STORE_FAILED;
    }
    return result;
}

/* A run that ended otherwise than in order may have been killed by one of its flights. */
static enum store_result count_crash(struct postgres_store *store, int64_t number)
{
    const struct row_value me = integer(number);
    return run(store,
               "UPDATE flight SET " PG_ADOPTIONS_COUNTED " WHERE owner = $1 AND EXISTS"
               " (SELECT 1 FROM node WHERE id = $1 AND state = 'up')",
               &me, 1);
}

/* From here on the store refuses batches of the node's earlier runs. By the clock no incarnation comes twice, even if
 * the last one is forgotten. The slots of the run before are held until the first beat: its tasks are this one's. */
static enum store_result enter(struct postgres_store *store, int64_t number)
{
    int64_t incarnation = 0;
    enum store_result result =
        ask_number(store,
                   "INSERT INTO meta (name, value) VALUES ('incarnation', now_ms()::text)"
                   " ON CONFLICT (name) DO UPDATE SET"
                   " value = greatest(meta.value::bigint + 1, now_ms())::text RETURNING value",
                   NULL, 0, &incarnation);
    const struct row_value values[] = {integer(number), integer(incarnation), text(store->node)};
    if (result == STORE_DONE)
        result = run(store,
                     "INSERT INTO node (id, incarnation, beat, name, state, slots, pools, since)"
                     " VALUES ($1, $2, 0, $3, 'up', 0, 0, now_ms()) ON CONFLICT (id) DO UPDATE SET"
                     " incarnation = EXCLUDED.incarnation, beat = 0, state = 'up', pools = 0,"
                     " since = EXCLUDED.since",
                     values, 3);
    if (result == STORE_DONE)
        result =
            run(store, "DELETE FROM meta WHERE name = " PG_PARTS_NAME " || $1::bigint", values, 1);
    if (result == STORE_DONE)
        result = run(store,
                     "INSERT INTO progress (node, batch) VALUES ($1, 0)"
                     " ON CONFLICT (node) DO UPDATE SET batch = 0",
                     values, 1);
    if (result != STORE_DONE)
        return result;
    store->base.node = (uint16_t)number;
    store->base.incarnation = (uint64_t)incarnation;
    return STORE_DONE;
}

static enum store_result join(struct postgres_store *store)
{
    int64_t number = 0;
    bool is_shared = false;
    enum store_result result = agree_on_lease(store);
    if (result == STORE_DONE)
        result = find_number(store, &number);
    if (result == STORE_DONE)
        result = count_crash(store, number);
    if (result == STORE_DONE)
        result = enter(store, number);
    if (result == STORE_DONE)
        result = read_is_shared(store, &is_shared);
    if (result == STORE_DONE && !is_shared)
        result = move_rows(store, 0, number);
    return result == STORE_DONE ? set_meta(store, "owners", "nodes") : result;
}

/* ---- alone again ------------------------------------------------------------------------- */

static enum store_result take_back(struct postgres_store *store)
{
    bool is_shared = false;
    int64_t nodes = 0;
    int64_t last = 0;
    enum store_result result = read_is_shared(store, &is_shared);
    if (result != STORE_DONE || !is_shared)
        return result;
    result = ask_number(store, "SELECT count(*) FROM node", NULL, 0, &nodes);
    if (result == STORE_DONE && nodes > 1) {
        pg_error_say(store,
                     "%lld gateways have shared the schema \"%s\", and each has rows of its own "
                     "there; set cluster.enabled, or choose another store_prefix",
                     (long long)nodes, store->address.schema);
        return STORE_FAILED;
    }
    if (result == STORE_DONE)
        result = ask_number(store, "SELECT id FROM node", NULL, 0, &last);
    if (result == STORE_DONE)
        result = move_rows(store, last, 0);
    if (result == STORE_DONE)
        result = run(store, "DELETE FROM node", NULL, 0);
    if (result == STORE_DONE)
        result = run(store, "DELETE FROM claim", NULL, 0);
    if (result == STORE_DONE)
        result = run(store, "DELETE FROM meta WHERE name LIKE " PG_PARTS_NAME " || '%'", NULL, 0);
    return result == STORE_DONE ? set_meta(store, "owners", "one") : result;
}

bool pg_cluster_join(struct postgres_store *store, struct buf *mistake)
{
    const int patience_ms = store->patience_ms;
    store->patience_ms = MOVE_PATIENCE_MS;
    enum store_result result = pg_cluster_begin(store);
    if (result == STORE_DONE)
        result = store->node[0] == '\0' ? take_back(store) : join(store);
    if (result == STORE_DONE)
        result = pg_link_run(store, "COMMIT");
    pg_link_roll_back(store);
    store->patience_ms = patience_ms;
    if (result != STORE_DONE)
        buf_addf(mistake, "%s", store->base.why);
    return result == STORE_DONE;
}

enum store_result pg_cluster_read_time(struct store_backend *backend, int64_t *wall_ms)
{
    return ask_number(postgres_store_of(backend), "SELECT now_ms()", NULL, 0, wall_ms);
}

/* ---- a node's claims --------------------------------------------------------------------- */

enum store_result pg_cluster_load_claims(struct store_backend *backend,
                                         void (*on_claim)(void *context, const struct key *name,
                                                          uint64_t flight),
                                         void *context)
{
    struct postgres_store *const store = postgres_store_of(backend);
    struct pg_result *result;
    const struct row_value me = integer(backend->node);
    const enum store_result ready = pg_rows_ready(store);
    if (ready != STORE_DONE)
        return ready;
    const enum store_result asked =
        pg_link_ask(store, "SELECT name, flight FROM claim WHERE owner = $1 ORDER BY name", &me, 1,
                    true, &result);
    if (asked != STORE_DONE)
        return asked;
    for (int i = 0; i < PQntuples(result); i++) {
        struct key name;
        if (PQgetlength(result, i, 0) != KEY_BYTES)
            continue;
        memcpy(name.bytes, PQgetvalue(result, i, 0), KEY_BYTES);
        on_claim(context, &name, (uint64_t)pg_link_integer(result, i, 1));
    }
    PQclear(result);
    return STORE_DONE;
}

enum store_result pg_cluster_leave(struct store_backend *backend)
{
    struct postgres_store *const store = postgres_store_of(backend);
    const struct row_value values[] = {integer(backend->node),
                                       integer((int64_t)backend->incarnation)};
    const enum store_result ready = pg_rows_ready(store);
    if (ready != STORE_DONE)
        return ready;
    return run(store, "UPDATE node SET state = 'left' WHERE id = $1 AND incarnation = $2", values,
               2);
}
