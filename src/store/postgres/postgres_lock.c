#include "store/postgres/postgres_lock.h"

#include "store/postgres/postgres_error.h"
#include "store/postgres/postgres_link.h"

#include <libpq-fe.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The server may need a moment to notice that the gateway before us is gone. */
#define TRIES 40
#define TRY_EVERY_US 50000
#define RUN_BYTES 16

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    return hash;
}

/* FNV-1a of the names, the last bit being the creation's. All clients of the database share the space of such keys. */
static int64_t key_named(const char *schema, const char *node)
{
    uint64_t hash = hash_more(UINT64_C(0xcbf29ce484222325), "solvegate:");
    hash = hash_more(hash, schema);
    if (node[0] != '\0')
        hash = hash_more(hash_more(hash, "/"), node);
    return (int64_t)(hash & ~UINT64_C(1));
}

int64_t pg_lock_key(const char *schema)
{
    return key_named(schema, "");
}

/* A gateway that has the schema for itself locks the schema, one of several its own name. */
static struct row_value key_of(const struct postgres_store *store)
{
    return (struct row_value){.type = VALUE_INTEGER,
                              .integer = key_named(store->address.schema, store->node)};
}

void pg_lock_choose_run(struct postgres_store *store, const char *run)
{
    char digits[2 * RUN_BYTES + 1];
    uint8_t random[RUN_BYTES];
    randombytes_buf(random, sizeof random);
    (void)sodium_bin2hex(digits, sizeof digits, random, sizeof random);
    store->run = key_named("run", run == NULL ? digits : run);
}

/* The run's lock comes first: whoever is seen with the other one has it, too. */
static enum store_result try_lock(struct postgres_store *store, bool *is_ours)
{
    struct pg_result *result;
    const struct row_value values[] = {
        key_of(store),
        {.type = VALUE_INTEGER, .integer = store->run},
    };
    const enum store_result asked =
        pg_link_ask(store,
                    "WITH run AS MATERIALIZED (SELECT pg_try_advisory_lock_shared($2) AS is_ours)"
                    " SELECT is_ours AND pg_try_advisory_lock($1), pg_backend_pid() FROM run",
                    values, 2, false, &result);
    if (asked != STORE_DONE)
        return asked;
    *is_ours = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
    store->pid = strtol(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    return STORE_DONE;
}

#define ADVISORY                                                        \
    "locktype = 'advisory' AND granted AND objsubid = 1 AND database =" \
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
#define KEY(number)                                          \
    " AND classid::bigint = (" number " >> 32 & 4294967295)" \
    " AND objid::bigint = (" number " & 4294967295)"
#define HOLDER " FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE " ADVISORY KEY("$1")

/* Ends a former session of this run that still has the lock; false if another gateway has it. */
static bool end_ghost(struct postgres_store *store)
{
    struct pg_result *result;
    const struct row_value values[] = {
        key_of(store),
        {.type = VALUE_INTEGER, .integer = store->run},
    };
    if (pg_link_ask(store,
                    "SELECT pg_terminate_backend(pid)" HOLDER
                    " AND pid IN (SELECT pid FROM pg_locks WHERE " ADVISORY KEY("$2") ")",
                    values, 2, false, &result) != STORE_DONE)
        return false;
    const bool is_ghost = PQntuples(result) == 1;
    PQclear(result);
    return is_ghost;
}

static void tell_holder(struct postgres_store *store, int64_t lock)
{
    struct pg_result *result;
    const struct row_value key = {.type = VALUE_INTEGER, .integer = lock};
    char who[128] = "";
    if (pg_link_ask(store,
                    "SELECT pid || coalesce(' from ' || host(client_addr), '') ||"
                    " coalesce(' since ' || date_trunc('second', backend_start), '')" HOLDER,
                    &key, 1, false, &result) == STORE_DONE) {
        if (PQntuples(result) == 1)
            (void)snprintf(who, sizeof who, " (session %s)", PQgetvalue(result, 0, 0));
        PQclear(result);
    }
    if (store->node[0] != '\0' && lock != pg_lock_key(store->address.schema))
        pg_error_say(store,
                     "another gateway runs under the name \"%s\" in the schema \"%s\"%s; stop that "
                     "one, or give each its own cluster.node",
                     store->node, store->address.schema, who);
    else
        pg_error_say(store,
                     "another instance uses the schema \"%s\" of this database%s%s; stop that one, "
                     "or choose another store_prefix",
                     store->address.schema, who,
                     store->node[0] == '\0' ? "" : ", and has cluster.enabled off");
}

/* All gateways that share a schema have its lock together, one that has it for itself alone. */
static enum store_result share_schema(struct postgres_store *store)
{
    const int64_t lock = pg_lock_key(store->address.schema);
    const struct row_value key = {.type = VALUE_INTEGER, .integer = lock};
    for (unsigned i = 0; i < TRIES; i++) {
        struct pg_result *result;
        if (i > 0)
            (void)usleep(TRY_EVERY_US);
        const enum store_result asked =
            pg_link_ask(store, "SELECT pg_try_advisory_lock_shared($1)", &key, 1, false, &result);
        if (asked != STORE_DONE)
            return asked;
        const bool is_ours = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
        PQclear(result);
        if (is_ours)
            return STORE_DONE;
    }
    tell_holder(store, lock);
    return STORE_FAILED;
}

static enum store_result run_on_schema(struct postgres_store *store, const char *sql, bool *is_true)
{
    struct pg_result *result;
    const struct row_value key = {.type = VALUE_INTEGER,
                                  .integer = pg_lock_key(store->address.schema)};
    const enum store_result asked = pg_link_ask(store, sql, &key, 1, false, &result);
    if (asked != STORE_DONE)
        return asked;
    *is_true = PQntuples(result) == 1 && PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    return STORE_DONE;
}

/* Two that keep their share while they wait for the whole would wait for each other. */
enum store_result pg_lock_try_alone(struct postgres_store *store, bool *is_alone)
{
    return run_on_schema(store,
                         "WITH mine AS MATERIALIZED (SELECT count(pg_advisory_unlock_shared($1))"
                         " FROM pg_locks WHERE " ADVISORY KEY(
                             "$1") " AND mode = 'ShareLock' AND pid = pg_backend_pid())"
                                   " SELECT pg_try_advisory_lock($1) FROM mine",
                         is_alone);
}

enum store_result pg_lock_share_again(struct postgres_store *store)
{
    bool is_shared = false;
    const enum store_result result = share_schema(store);
    return result == STORE_DONE
               ? run_on_schema(store,
                               "SELECT pg_advisory_unlock($1) FROM pg_locks WHERE " ADVISORY KEY(
                                   "$1") " AND mode = 'ExclusiveLock' AND pid = pg_backend_pid()",
                               &is_shared)
               : result;
}

enum store_result pg_lock_take(struct postgres_store *store)
{
    bool is_ours = false;
    enum store_result result = store->node[0] == '\0' ? STORE_DONE : share_schema(store);
    if (result != STORE_DONE)
        return result;
    for (unsigned i = 0; i < TRIES && !is_ours; i++) {
        if (i > 0)
            (void)usleep(TRY_EVERY_US);
        result = try_lock(store, &is_ours);
        if (result != STORE_DONE)
            return result;
        if (!is_ours)
            (void)end_ghost(store);
    }
    if (is_ours)
        return STORE_DONE;
    if (end_ghost(store)) {
        pg_error_say(store, "our former connection to PostgreSQL still has the lock; waiting");
        return STORE_RETRY;
    }
    tell_holder(store, key_of(store).integer);
    /* Whoever shares the store and was away has lost its place to the one of its name. */
    return store->is_open && store->node[0] != '\0' ? STORE_REFUSED : STORE_FAILED;
}

/* A pooler that changes the session between two transactions would let a second gateway in. */
enum store_result pg_lock_prove(struct postgres_store *store)
{
    struct pg_result *result;
    const struct row_value values[] = {
        key_of(store),
        {.type = VALUE_INTEGER, .integer = store->pid},
    };
    const enum store_result asked =
        pg_link_ask(store, "SELECT pid" HOLDER " AND pid = $2 AND pid = pg_backend_pid()", values,
                    2, false, &result);
    if (asked != STORE_DONE)
        return asked;
    const bool is_ours = PQntuples(result) == 1;
    PQclear(result);
    if (is_ours)
        return STORE_DONE;
    pg_error_say(store,
                 "the lock on the schema \"%s\" is gone although the connection is not: is "
                 "there a pooler? connect directly, or through one in session mode",
                 store->address.schema);
    return STORE_FAILED;
}
