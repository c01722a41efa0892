/* A standby of a PostgreSQL that gateways share: as a server of its own, and as the successor of one that was lost with
 * its latest rows. */
#include "postgres_world.h"
#include "seed.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct store_kit kit;

static void hosts(const struct store_world *world, char *url, size_t room)
{
    (void)world;
    postgres_hosts_url(url, room);
}

static void standby_alone(const struct store_world *world, char *url, size_t room)
{
    (void)world;
    postgres_standby_url(url, room);
}

static int set_up(void **state)
{
    kit = store_kit_postgres;
    kit.url = hosts;
    *state = &kit;
    const int result = world_set_up(state);
    postgres_add_standby();
    return result;
}

static int tear_down(void **state)
{
    postgres_drop_standby();
    return world_tear_down(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static struct claim claim_held(uint32_t key, uint64_t flight)
{
    struct claim claim = claim_shared(key, flight);
    claim.reuse = REUSE_NONE;
    claim.is_held = true;
    return claim;
}

static enum claim_result ask_for(struct node *node, uint32_t key, uint64_t flight)
{
    const struct claim claim = claim_shared(key, flight);
    return node_ask(node, &claim).result;
}

/* All rows of the first one are there, so that nothing of its own tells it what the other one has lost. */
static void who_has_lost_nothing_waits_for_those_who_have(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    assert_int_equal(ask_for(&a, 11, 11), CLAIM_WON);
    assert_int_equal(ask_for(&b, 12, 12), CLAIM_WON);
    postgres_cut_standby();
    assert_int_equal(ask_for(&b, 13, 13), CLAIM_WON);
    postgres_promote_standby();
    assert_int_equal(ask_for(&a, 13, 14), CLAIM_UNAVAILABLE);
    assert_int_equal(a.backend->losses, 0);
    const struct claim own = claim_held(13, 13);
    assert_int_equal(node_ask(&b, &own).result, CLAIM_WON);
    assert_int_equal(b.backend->losses, 1);
    /* After the lease. */
    assert_true(a.backend->grace_until_ns > uv_hrtime() + NODE_LEASE_MS * UINT64_C(500000));
    a.backend->grace_until_ns = 1;
    assert_int_equal(ask_for(&a, 13, 15), CLAIM_FOLLOW);
    assert_int_equal(ask_for(&a, 16, 16), CLAIM_WON);
    node_close(&a);
    node_close(&b);
}

static void a_server_that_is_only_restarted_makes_nobody_wait(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    assert_int_equal(ask_for(&a, 11, 11), CLAIM_WON);
    postgres_kill(SIGKILL);
    postgres_start();
    assert_int_equal(ask_for(&a, 12, 12), CLAIM_WON);
    assert_int_equal(a.backend->losses, 0);
    node_close(&a);
}

/* What cannot be known is not waited for. */
static void a_role_that_may_not_know_the_server_is_let_in(void **state)
{
    struct node a;
    postgres_run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    node_open(&a, *state, "a");
    postgres_cut_standby();
    postgres_promote_standby();
    assert_int_equal(ask_for(&a, 12, 12), CLAIM_WON);
    node_close(&a);
    postgres_start();
    postgres_run("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC");
}

static void a_standby_alone_is_refused_at_the_start(void **state)
{
    struct node a;
    kit.url = standby_alone;
    node_open_with(&a, *state, "a", NODE_LEASE_MS);
    assert_int_equal(a.opening, STORE_UNUSABLE);
    assert_non_null(strstr(a.mistake, "is a standby and cannot be written"));
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        CASE(who_has_lost_nothing_waits_for_those_who_have),
        CASE(a_server_that_is_only_restarted_makes_nobody_wait),
        CASE(a_role_that_may_not_know_the_server_is_let_in),
        CASE(a_standby_alone_is_refused_at_the_start),
    };
    if (postgres_missing() != NULL) {
        (void)printf("1..0 # SKIP %s\n", postgres_missing());
        return 0;
    }
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
