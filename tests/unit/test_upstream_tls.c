#include "seed.h"
#include "tls_world.h"
#include "upstream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A server that takes connections and never answers is enough: the question is whether a byte of our
 * request was sent. */

static void unused(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

static enum outcome outcome_against(const char *name, const char *extra, const char *ca_file)
{
    struct tls_server server;
    char url[64];
    tls_server_start(&server, name, extra);
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%u", server.port);
    struct world *world = world_new(unused);
    world->options.url = url;
    world->options.ca_file = ca_file;
    world->options.submit_timeout_ms = 5000; /* which ends the only good one */
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    const enum outcome outcome = world->results[0].result.outcome;
    world_free(world);
    tls_server_stop(&server);
    return outcome;
}

static void a_trusted_certificate_lets_the_submit_out(void **state)
{
    (void)state;
    if (tls_world_is_usable())
        assert_int_equal(outcome_against("right", "", tls_world_path("right")), OUTCOME_AMBIGUOUS);
}

static void an_untrusted_certificate_is_proof_that_nothing_was_sent(void **state)
{
    (void)state;
    if (tls_world_is_usable())
        assert_int_equal(outcome_against("right", "", NULL), OUTCOME_NOT_SENT);
}

static void a_certificate_of_another_authority_is_refused(void **state)
{
    (void)state;
    if (tls_world_is_usable())
        assert_int_equal(outcome_against("right", "", tls_world_path("wrong")), OUTCOME_NOT_SENT);
}

static void a_certificate_for_another_name_is_refused(void **state)
{
    (void)state;
    if (tls_world_is_usable())
        assert_int_equal(outcome_against("wrong", "", tls_world_path("wrong")), OUTCOME_NOT_SENT);
}

static void tls_below_1_2_is_refused(void **state)
{
    (void)state;
    if (tls_world_is_usable())
        assert_int_equal(
            outcome_against("right", "-tls1_1 -cipher DEFAULT@SECLEVEL=0", tls_world_path("right")),
            OUTCOME_NOT_SENT);
}

static void speak_plainly(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer(conn, "{\"status\":1,\"request\":\"1\"}");
}

static void a_server_without_tls_learns_nothing(void **state)
{
    (void)state;
    struct world *world = world_new(speak_plainly);
    char url[80];
    (void)snprintf(url, sizeof(url), "https%s", world->vendor.url + strlen("http"));
    world->options.url = url;
    world->options.connect_timeout_ms = 300;
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    assert_int_equal(world->results[0].result.outcome, OUTCOME_NOT_SENT);
    assert_int_equal(world->vendor.requests, 0);
    world_free(world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trusted_certificate_lets_the_submit_out),
        cmocka_unit_test(an_untrusted_certificate_is_proof_that_nothing_was_sent),
        cmocka_unit_test(a_certificate_of_another_authority_is_refused),
        cmocka_unit_test(a_certificate_for_another_name_is_refused),
        cmocka_unit_test(tls_below_1_2_is_refused),
        cmocka_unit_test(a_server_without_tls_learns_nothing),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, tls_world_open, tls_world_close);
}
