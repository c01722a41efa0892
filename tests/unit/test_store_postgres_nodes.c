/* Gateways that share a PostgreSQL, and what only its superuser can see or do meanwhile. */
#include "postgres_world.h"
#include "seed.h"
#include "store/postgres/postgres_schema.h"
#include "store/postgres/postgres_server.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCHEMA "solvegate_test"

static int set_up(void **state)
{
    union {
        const struct store_kit *kit;
        void *state;
    } first = {.kit = &store_kit_postgres};
    *state = first.state;
    return world_set_up(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, world_tear_down)

/* ---- upgrading --------------------------------------------------------------------------- */

#define VERSION "SELECT value FROM " SCHEMA ".meta WHERE name = 'version'"

#define SET_BACK "UPDATE " SCHEMA ".meta SET value = '6' WHERE name = 'version'"

static void tables_on_which_an_older_gateway_lives_are_not_migrated(void **state)
{
    struct node older, newer;
    node_open(&older, *state, "a");
    postgres_run(SET_BACK);
    node_open_with(&newer, *state, "b", NODE_LEASE_MS);
    assert_int_equal(newer.opening, STORE_UNUSABLE);
    assert_non_null(strstr(newer.mistake, "end the older gateways first"));
    assert_int_equal(postgres_number(VERSION), 6);
    /* It is not touched. */
    const struct claim claim = claim_shared(1, 1);
    assert_int_equal(node_ask(&older, &claim).result, CLAIM_WON);
    node_close(&older);
    node_open(&newer, *state, "b");
    assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
    /* And shares them as before. */
    node_open(&older, *state, "a");
    node_close(&older);
    node_close(&newer);
}

struct opener {
    struct store_world *world;
    const char *name;
    struct node node;
    uv_thread_t thread;
};

static void open_one(void *context)
{
    struct opener *const opener = context;
    node_open_with(&opener->node, opener->world, opener->name, NODE_LEASE_MS);
}

static void newer_gateways_that_start_at_once_migrate_them_and_both_live(void **state)
{
    static struct opener openers[2];
    struct node older;
    node_open(&older, *state, "a");
    node_leave(&older);
    for (unsigned round = 0; round < 5; round++) {
        postgres_run(SET_BACK);
        for (unsigned i = 0; i < 2; i++) {
            openers[i] = (struct opener){.world = *state, .name = i == 0 ? "b" : "c"};
            assert_int_equal(uv_thread_create(&openers[i].thread, open_one, &openers[i]), 0);
        }
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(uv_thread_join(&openers[i].thread), 0);
            assert_string_equal(openers[i].node.mistake, "");
            assert_int_equal(openers[i].node.opening, STORE_OPENED);
        }
        assert_int_equal(postgres_number(VERSION), PG_SCHEMA_VERSION);
        for (unsigned i = 0; i < 2; i++)
            node_leave(&openers[i].node);
    }
}

/* ---- the fence --------------------------------------------------------------------------- */

static void on_values(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)context;
    (void)kind;
    (void)values;
}

static void on_claim(void *context, const struct key *name, uint64_t flight)
{
    (void)context;
    (void)name;
    (void)flight;
}

struct adopter {
    struct store_backend *backend;
    struct store_member dead;
    uv_thread_t thread;
    bool is_ours;
    enum store_result result;
};

static void adopt(void *context)
{
    struct adopter *const adopter = context;
    const struct store_adopted to = {.on_values = on_values, .on_claim = on_claim};
    adopter->result = adopter->backend->driver->sharing->adopt(adopter->backend, &adopter->dead,
                                                               false, &adopter->is_ours, &to);
}

/* The lock of the dead one's row: what it has begun must be seen by who takes it over. */
static void who_adopts_waits_for_a_batch_that_has_begun(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    struct adopter adopter = {
        .backend = b.backend->driver->sharing->make_pulse(b.backend),
        .dead = {.node = a.backend->node, .incarnation = a.backend->incarnation}};
    postgres_run("BEGIN; SET LOCAL search_path = " SCHEMA "; SELECT begin_batch(%u, %llu, 1)",
                 (unsigned)a.backend->node, (unsigned long long)a.backend->incarnation);
    assert_int_equal(uv_thread_create(&adopter.thread, adopt, &adopter), 0);
    for (unsigned i = 0; i < 1000 && postgres_number("SELECT count(*) FROM pg_locks"
                                                     " WHERE NOT granted") == 0;
         i++)
        uv_sleep(10);
    assert_int_equal(postgres_number("SELECT count(*) FROM pg_locks WHERE NOT granted"), 1);
    postgres_run("COMMIT");
    assert_int_equal(uv_thread_join(&adopter.thread), 0);
    assert_int_equal(adopter.result, STORE_DONE);
    assert_true(adopter.is_ours);
    const struct claim claim = claim_shared(1, 1);
    (void)node_claim(&a, &claim);
    assert_int_equal(node_try(&a), STORE_REFUSED);
    adopter.backend->driver->close(adopter.backend);
    node_close(&a);
    node_close(&b);
}

/* ---- twins ------------------------------------------------------------------------------- */

/* Of two under one name, the one that was away is fenced: it finds out for itself that it may not come back. */
static void who_lost_its_session_and_its_name_is_fenced(void **state)
{
    struct node a, twin;
    node_open(&a, *state, "a");
    postgres_run("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                 " WHERE usename = '" POSTGRES_ROLE "'");
    node_open(&twin, *state, "a");
    const struct claim claim = claim_shared(1, 1);
    (void)node_claim(&a, &claim);
    assert_int_equal(node_try(&a), STORE_REFUSED);
    assert_non_null(strstr(a.backend->why, "under the name"));
    assert_int_equal(a.backend->driver->beat(a.backend), STORE_REFUSED);
    assert_int_equal(node_ask(&twin, &claim).result, CLAIM_WON);
    node_close(&a);
    node_close(&twin);
}

/* ---- an older dump ----------------------------------------------------------------------- */

/* With the URL of the server and a file as "$1" and "$2". */
static void run_shell(const struct store_world *world, const char *script)
{
    char url[1024];
    char file[PATH_MAX];
    char command[4 * PATH_MAX];
    postgres_url(url, sizeof(url), "");
    (void)snprintf(file, sizeof(file), "%s/dump.sql", world->directory);
    (void)snprintf(command, sizeof(command),
                   "PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH; "
                   "set -- '%s' '%s'; %s",
                   url, file, script);
    assert_int_equal(system(command), 0);
}

#define DUMP "pg_dump --schema=" SCHEMA " \"$1\" >\"$2\""
#define RESTORE                                                                           \
    "{ echo 'DROP SCHEMA " SCHEMA " CASCADE;'; cat \"$2\"; } |"                           \
    " PGOPTIONS='-c client_min_messages=warning' psql -q -X -1 -v ON_ERROR_STOP=1 \"$1\"" \
    " >/dev/null"

static bool lacks_programs(void)
{
    return system("PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH; "
                  "command -v pg_dump psql >/dev/null") != 0;
}

/* All tables and functions are others then, behind a session that goes on. */
static void an_older_dump_that_is_loaded_under_open_sessions_is_noticed(void **state)
{
    struct node a;
    if (lacks_programs())
        skip();
    node_open(&a, *state, "a");
    struct claim claim = claim_shared(1, 1);
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_WON);
    run_shell(*state, DUMP);
    claim = claim_shared(2, 2);
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_WON);
    const uint64_t reconnects = a.backend->reconnects;
    run_shell(*state, RESTORE);
    claim = claim_shared(3, 3);
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_UNAVAILABLE);
    assert_int_equal(a.backend->losses, 1);
    assert_int_equal(a.backend->reconnects, reconnects);
    claim = claim_shared(2, 2);
    claim.is_held = true;
    assert_int_equal(node_ask(&a, &claim).result, CLAIM_WON);
    assert_int_equal(a.backend->losses, 1);
    node_close(&a);
}

/* ---- keys in order ----------------------------------------------------------------------- */

#define ROUNDS 20
#define KEYS 200

/* Asks for the same keys as others, in an order of its own. */
struct racer {
    struct node node;
    uv_thread_t thread;
    bool is_reversed;
    unsigned deadlocks;
};

static void send_one(struct racer *racer)
{
    enum store_result result = node_try(&racer->node);
    for (unsigned i = 0; i < 50 && result == STORE_RETRY; i++) {
        racer->deadlocks += strstr(racer->node.backend->why, "deadlock") != NULL;
        racer->node.number--;
        result = node_try(&racer->node);
    }
    assert_int_equal(result, STORE_DONE);
}

static void race(void *context)
{
    struct racer *const racer = context;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < KEYS; i++) {
            const unsigned key = racer->is_reversed ? KEYS - 1 - i : i;
            const struct claim claim =
                claim_shared(1000 * round + key, (racer->is_reversed ? 2000000U : 1000000U) + key);
            (void)node_claim(&racer->node, &claim);
        }
        send_one(racer);
    }
}

/* Two transactions that insert the same names wait for each other in the order in which they come. */
static void two_who_ask_for_the_same_keys_in_another_order_do_not_block_each_other(void **state)
{
    static const char ask[] = "SELECT deadlocks FROM pg_stat_database"
                              " WHERE datname = current_database()";
    static struct racer racers[2];
    const int64_t before = postgres_number(ask);
    for (unsigned i = 0; i < 2; i++) {
        racers[i] = (struct racer){.is_reversed = i == 1};
        node_open(&racers[i].node, *state, i == 0 ? "a" : "b");
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(uv_thread_create(&racers[i].thread, race, &racers[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(uv_thread_join(&racers[i].thread), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(racers[i].deadlocks, 0);
        /* Its session tells what it counted, at the latest when it ends. */
        node_close(&racers[i].node);
    }
    assert_int_equal(postgres_number(ask), before);
}

/* ---- what is refused at the start -------------------------------------------------------- */

static void a_server_that_only_reads_is_refused_at_the_start(void **state)
{
    struct node a;
    postgres_run("ALTER ROLE " POSTGRES_ROLE " SET default_transaction_read_only = on");
    node_open_with(&a, *state, "a", NODE_LEASE_MS);
    postgres_run("ALTER ROLE " POSTGRES_ROLE " RESET default_transaction_read_only");
    assert_int_equal(a.opening, STORE_UNUSABLE);
    assert_non_null(strstr(a.mistake, "read-only"));
    assert_non_null(strstr(a.mistake, "primary"));
    node_close(&a);
}

static void a_server_that_is_too_old_is_refused(void **state)
{
    struct buf mistake;
    (void)state;
    buf_init(&mistake, 1024);
    assert_true(pg_server_is_new_enough(140000, &mistake));
    assert_true(pg_server_is_new_enough(170004, &mistake));
    assert_int_equal(mistake.len, 0);
    assert_false(pg_server_is_new_enough(139999, &mistake));
    buf_add_char(&mistake, '\0');
    assert_string_equal(mistake.data, "PostgreSQL 13 is too old; solvegate needs 14 or newer");
    buf_close(&mistake);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        CASE(tables_on_which_an_older_gateway_lives_are_not_migrated),
        CASE(who_adopts_waits_for_a_batch_that_has_begun),
        CASE(who_lost_its_session_and_its_name_is_fenced),
        CASE(an_older_dump_that_is_loaded_under_open_sessions_is_noticed),
        CASE(two_who_ask_for_the_same_keys_in_another_order_do_not_block_each_other),
        CASE(a_server_that_only_reads_is_refused_at_the_start),
        cmocka_unit_test(a_server_that_is_too_old_is_refused),
        CASE(newer_gateways_that_start_at_once_migrate_them_and_both_live),
    };
    if (postgres_missing() != NULL) {
        (void)printf("1..0 # SKIP %s\n", postgres_missing());
        return 0;
    }
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
