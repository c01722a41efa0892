#include "store/postgres/postgres_again.h"

#include "store/postgres/postgres_cluster.h"
#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"
#include "store/postgres/postgres_lock.h"
#include "store/postgres/postgres_meta.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

enum standing {
    STANDING_KNOWN,
    STANDING_LOST,      /* it is known, but not what it wrote last */
    STANDING_FORGOTTEN, /* there is no row of it, or one of an earlier run in a backup */
    STANDING_FENCED,
};

static struct row_value integer(int64_t number)
{
    return (struct row_value){.type = VALUE_INTEGER, .integer = number};
}

/* Incarnations follow the server's clock, and that of one that was adopted is negative: an older one under our name and
 * number is a backup's. */
#define STANDING                                                                                 \
    "SELECT CASE"                                                                                \
    " WHEN EXISTS (SELECT 1 FROM node WHERE id = $1 AND incarnation = $2) THEN"                  \
    "  CASE WHEN coalesce((SELECT batch FROM progress WHERE node = $1), -1) < $3 THEN 1 ELSE 0 " \
    "END"                                                                                        \
    " WHEN EXISTS (SELECT 1 FROM node WHERE (id = $1 OR name = $4)"                              \
    "  AND (id <> $1 OR name <> $4 OR abs(incarnation) >= $2))"                                  \
    "  OR EXISTS (SELECT 1 FROM adoption WHERE incarnation = $2) THEN 3 ELSE 2 END"

static enum store_result read_standing(struct postgres_store *store, enum standing *standing)
{
    struct pg_result *result;
    const struct row_value values[] = {
        integer(store->base.node),
        integer((int64_t)store->base.incarnation),
        integer((int64_t)store->written),
        {.type = VALUE_TEXT, .bytes = slice_from(store->node)},
    };
    const enum store_result asked = pg_link_ask(store, STANDING, values, 4, false, &result);
    *standing = STANDING_FENCED;
    if (asked != STORE_DONE)
        return asked;
    if (PQntuples(result) == 1)
        *standing = (enum standing)strtol(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return STORE_DONE;
}

static enum store_result refuse(struct postgres_store *store)
{
    pg_error_say(store, "another gateway has adopted this one in the schema \"%s\"",
                 store->address.schema);
    return STORE_REFUSED;
}

static enum store_result run(struct postgres_store *store, const char *sql,
                             const struct row_value *values, size_t count)
{
    struct pg_result *result;
    const enum store_result asked = pg_link_ask(store, sql, values, count, false, &result);
    PQclear(result);
    return asked;
}

static enum store_result write_node(struct postgres_store *store)
{
    const struct row_value values[] = {
        integer(store->base.node),
        integer((int64_t)store->base.incarnation),
        {.type = VALUE_TEXT, .bytes = slice_from(store->node)},
    };
    enum store_result result =
        run(store,
            "INSERT INTO node (id, incarnation, beat, name, state, slots, pools, since)"
            " VALUES ($1, $2, 0, $3, 'up', 0, 0, now_ms()) ON CONFLICT (id) DO UPDATE SET"
            " incarnation = EXCLUDED.incarnation, beat = 0, state = 'up'",
            values, 3);
    if (result == STORE_DONE)
        result = run(store,
                     "INSERT INTO progress (node, batch) VALUES ($1, 0)"
                     " ON CONFLICT (node) DO UPDATE SET batch = 0",
                     values, 1);
    if (result == STORE_DONE)
        result = run(store,
                     "INSERT INTO meta (name, value) VALUES ('incarnation', $1::bigint::text)"
                     " ON CONFLICT (name) DO UPDATE SET"
                     " value = greatest(meta.value::bigint, EXCLUDED.value::bigint)::text",
                     &values[1], 1);
    const struct row_value lease = integer(store->lease_ms);
    if (result == STORE_DONE)
        result = run(store,
                     "INSERT INTO meta (name, value) VALUES ('lease', $1::bigint::text),"
                     " ('owners', 'nodes') ON CONFLICT (name) DO NOTHING",
                     &lease, 1);
    return result == STORE_DONE ? pg_meta_write_kept(store) : result;
}

/* Alone among those who join. The first look was without a lock. */
static enum store_result enter(struct postgres_store *store)
{
    enum standing standing = STANDING_FENCED;
    enum store_result result = pg_cluster_begin(store);
    if (result == STORE_DONE)
        result = read_standing(store, &standing);
    if (result == STORE_DONE && standing == STANDING_FENCED)
        result = refuse(store);
    if (result == STORE_DONE && standing != STANDING_KNOWN)
        result = write_node(store);
    if (result == STORE_DONE)
        result = pg_link_run(store, "COMMIT");
    pg_link_roll_back(store);
    return result;
}

enum store_result pg_again_enter(struct postgres_store *store)
{
    char where[96 + PG_SCHEMA_MAX];
    enum standing standing;
    enum store_result result = read_standing(store, &standing);
    if (result != STORE_DONE || standing == STANDING_KNOWN)
        return result;
    if (standing == STANDING_FENCED)
        return refuse(store);
    result = enter(store);
    if (result != STORE_DONE)
        return result;
    (void)snprintf(where, sizeof where, "the schema \"%s\" of the PostgreSQL server",
                   store->address.schema);
    store->written = 0;
    store_kept_lost(&store->base, where);
    store_begin_grace(&store->base, store->lease_ms);
    return STORE_DONE;
}

/* A standby that was promoted goes on with a timeline of its own, a server that was restarted with the one it had. */
static enum store_result read_history(struct postgres_store *store, char history[PG_HISTORY_MAX])
{
    struct pg_result *result;
    const enum store_result asked =
        pg_link_ask(store,
                    "SELECT system_identifier || '/' ||"
                    " left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()",
                    NULL, 0, false, &result);
    history[0] = '\0';
    if (asked != STORE_DONE)
        return pg_error_is(store, "42501") ? STORE_DONE : asked;
    if (PQntuples(result) == 1)
        (void)snprintf(history, PG_HISTORY_MAX, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return STORE_DONE;
}

enum store_result pg_again_follow_history(struct postgres_store *store)
{
    char history[PG_HISTORY_MAX];
    const enum store_result result = read_history(store, history);
    if (result != STORE_DONE || history[0] == '\0')
        return result;
    if (store->history[0] != '\0' && strcmp(store->history, history) != 0)
        store_begin_grace(&store->base, store->lease_ms);
    memcpy(store->history, history, sizeof store->history);
    return STORE_DONE;
}

/* A pulse does not know its name. The writer may have entered it again since the row was missed. */
enum store_result pg_again_judge(struct postgres_store *store)
{
    struct pg_result *result;
    const struct row_value values[] = {integer(store->base.node),
                                       integer((int64_t)store->base.incarnation)};
    const enum store_result asked =
        pg_link_ask(store,
                    "SELECT 1 FROM node WHERE id = $1 AND abs(incarnation) >= $2"
                    " AND incarnation <> $2",
                    values, 2, false, &result);
    if (asked != STORE_DONE)
        return asked == STORE_FAILED ? STORE_RETRY : asked;
    const bool is_lost = PQntuples(result) == 0;
    PQclear(result);
    if (!is_lost)
        return refuse(store);
    pg_error_say(store, "the schema \"%s\" has lost this gateway, which enters it again",
                 store->address.schema);
    return STORE_RETRY;
}
