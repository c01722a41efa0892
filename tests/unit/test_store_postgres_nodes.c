/* Gateways that share a PostgreSQL, and what only its superuser can see or do meanwhile. */
#include "postgres_world.h"
#include "seed.h"
#include "store/postgres/postgres_schema.h"
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

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        CASE(tables_on_which_an_older_gateway_lives_are_not_migrated),
        CASE(newer_gateways_that_start_at_once_migrate_them_and_both_live),
    };
    if (postgres_missing() != NULL) {
        (void)printf("1..0 # SKIP %s\n", postgres_missing());
        return 0;
    }
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
