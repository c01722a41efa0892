#include "seed.h"
#include "upstream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char ACCEPTED[] = "{\"status\":1,\"request\":\"2122988149\"}";
static const char PENDING[] = "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}";

/* ---- ordinary calls ----------------------------------------------------------------------- */

static void answer_properly(struct fake_conn *conn, struct slice request)
{
    const bool is_get = memmem(request.data, request.len, "action=get&", 11) != NULL;
    if (fake_is_submit(request))
        fake_answer(conn, ACCEPTED);
    else if (is_get)
        fake_answer(conn, "{\"status\":1,\"request\":\"token\",\"user_agent\":\"UA\"}");
    else if (memmem(request.data, request.len, "threadsinfo", 11) != NULL)
        fake_answer(conn, "{\"threads\":\"5\",\"working_threads\":2}");
    else if (memmem(request.data, request.len, "getbalance", 10) != NULL)
        fake_answer(conn, "12.5");
    else
        fake_answer(conn, "OK_REPORT_RECORDED");
}

static void a_submit_is_accepted_and_its_poll_brings_the_solution(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world_connect(world);
    world_submit(world, 7);
    assert_int_equal(world->result_count, 0); /* nothing is told from within the call */
    world_run_until(world, 1);
    assert_int_equal(world->results[0].result.attempt, 7);
    assert_result(&world->results[0], OUTCOME_ACCEPTED, CLASS_NONE, "");
    assert_string_equal(world->results[0].result.task_id, "2122988149");
    world_poll(world, 7);
    world_run_until(world, 2);
    assert_result(&world->results[1], OUTCOME_SOLVED, CLASS_NONE, "");
    assert_string_equal(world->results[1].text, "token");
    assert_int_equal(world->vendor.accepted, 1); /* one connection served both */
    world_free(world);
}

static void insist_on_manners(struct fake_conn *conn, struct slice request)
{
    assert_null(memmem(request.data, request.len, "Expect:", 7));
    const char *line_end = memchr(request.data, '\n', request.len);
    const struct slice line = {.data = request.data, .len = (size_t)(line_end - request.data)};
    /* The key is a secret, and request lines end up in logs. */
    assert_null(memmem(line.data, line.len, "0123456789abcdef", 16));
    assert_non_null(memmem(request.data, request.len, "key=0123456789abcdef0123456789abcdef", 36));
    assert_non_null(memmem(request.data, request.len, "json=1", 6));
    assert_non_null(memmem(request.data, request.len, "User-Agent: solvegate-test\r\n", 28));
    assert_null(memmem(request.data, request.len, "Accept-Encoding", 15));
    if (fake_is_submit(request)) {
        static const char pingback[] = "pingback=https%3A%2F%2Fgate%2Fpingback%2Fx";
        assert_non_null(memmem(request.data, request.len, pingback, sizeof(pingback) - 1));
        assert_non_null(memmem(request.data, request.len, "method=userrecaptcha", 20));
    }
    fake_answer(conn, fake_is_submit(request) ? ACCEPTED : PENDING);
}

static void the_key_travels_in_the_body_only(void **state)
{
    (void)state;
    struct world *world = world_new(insist_on_manners);
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 1);
    world_run_until(world, 2);
    world_free(world);
}

static void probes_and_reports_reach_the_vendor(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world_connect(world);
    upstream_probe(world->upstream, PROBE_THREADS);
    world_run_until_probed(world);
    assert_true(world->probed.is_ok && world->probed.has_threads);
    assert_int_equal(world->probed.probe, PROBE_THREADS);
    assert_int_equal(world->probed.threads, 5);
    assert_int_equal(world->probed.working_threads, 2);
    world->probed_count = 0;
    upstream_probe(world->upstream, PROBE_BALANCE);
    upstream_report(world->upstream, SLICE_OF("2122988149"), false);
    world_run_until_probed(world);
    assert_int_equal(world->probed.probe, PROBE_BALANCE);
    assert_string_equal(world->probed.balance, "12.5");
    world_run_until_asked(world, 3);
    assert_int_equal(world->result_count, 0);
    world_free(world);
}

/* ---- libcurl must not pay twice ------------------------------------------------------------ */

/* Reads the whole submit, which is what is paid for, and goes away without a word. */
static void take_submit_and_hang_up(struct fake_conn *conn, struct slice request)
{
    if (fake_is_submit(request))
        fake_hang_up(conn);
    else
        fake_answer(conn, PENDING);
}

static void take_submit_and_reset(struct fake_conn *conn, struct slice request)
{
    if (fake_is_submit(request))
        fake_reset(conn);
    else
        fake_answer(conn, PENDING);
}

static void assert_paid_once(fake_script script, bool is_reused)
{
    struct world *world = world_new(script);
    world_connect(world);
    if (is_reused) {
        world_poll(world, 1);
        world_run_until(world, 1);
    }
    const uint32_t before = world->result_count;
    world_submit(world, 2);
    world_run_until(world, before + 1);
    world_run_for(world, 100); /* a second charge would come about now */
    assert_result(&world->results[before], OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS,
                  "ERROR_UPSTREAM_NO_REPLY");
    assert_int_equal(world->vendor.charges, 1);
    assert_int_equal(world->result_count, before + 1);
    world_free(world);
}

static void a_first_connection_that_ends_after_the_submit_is_charged_once(void **state)
{
    (void)state;
    assert_paid_once(take_submit_and_hang_up, false);
}

static void a_first_connection_that_is_reset_after_the_submit_is_charged_once(void **state)
{
    (void)state;
    assert_paid_once(take_submit_and_reset, false);
}

static void a_reused_connection_that_ends_after_the_submit_is_charged_once(void **state)
{
    (void)state;
    assert_paid_once(take_submit_and_hang_up, true);
}

static void a_reused_connection_that_is_reset_after_the_submit_is_charged_once(void **state)
{
    (void)state;
    assert_paid_once(take_submit_and_reset, true);
}

static void take_reports_and_hang_up(struct fake_conn *conn, struct slice request)
{
    if (memmem(request.data, request.len, "reportbad", 9) != NULL)
        fake_hang_up(conn);
    else
        fake_answer(conn, PENDING);
}

static void a_report_is_never_sent_twice_either(void **state)
{
    (void)state;
    struct world *world = world_new(take_reports_and_hang_up);
    world_connect(world);
    world_poll(world, 1);
    world_run_until(world, 1);
    upstream_report(world->upstream, SLICE_OF("1"), false);
    world_run_until_asked(world, 2);
    world_run_for(world, 100);
    assert_int_equal(world->vendor.requests, 2);
    world_free(world);
}

static void hang_up_on_second_request(struct fake_conn *conn, struct slice request)
{
    (void)request;
    if (conn->requests == 2)
        fake_hang_up(conn);
    else
        fake_answer(conn, PENDING);
}

static void a_poll_may_be_sent_again_since_asking_is_free(void **state)
{
    (void)state;
    struct world *world = world_new(hang_up_on_second_request);
    world_connect(world);
    world_poll(world, 1);
    world_run_until(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[1], OUTCOME_PENDING, CLASS_PENDING, "CAPCHA_NOT_READY");
    assert_int_equal(world->vendor.requests, 3);
    world_free(world);
}

static void an_idle_connection_closed_by_the_vendor_is_noticed_before_the_submit(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world_connect(world);
    world_poll(world, 1);
    world_run_until(world, 1);
    fake_vendor_drop_all(&world->vendor);
    world_run_for(world, 50);
    world_submit(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[1], OUTCOME_ACCEPTED, CLASS_NONE, "");
    assert_int_equal(world->vendor.charges, 1);
    assert_int_equal(world->vendor.accepted, 2);
    world_free(world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submit_is_accepted_and_its_poll_brings_the_solution),
        cmocka_unit_test(the_key_travels_in_the_body_only),
        cmocka_unit_test(probes_and_reports_reach_the_vendor),
        cmocka_unit_test(a_first_connection_that_ends_after_the_submit_is_charged_once),
        cmocka_unit_test(a_first_connection_that_is_reset_after_the_submit_is_charged_once),
        cmocka_unit_test(a_reused_connection_that_ends_after_the_submit_is_charged_once),
        cmocka_unit_test(a_reused_connection_that_is_reset_after_the_submit_is_charged_once),
        cmocka_unit_test(a_report_is_never_sent_twice_either),
        cmocka_unit_test(a_poll_may_be_sent_again_since_asking_is_free),
        cmocka_unit_test(an_idle_connection_closed_by_the_vendor_is_noticed_before_the_submit),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
