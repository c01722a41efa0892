#include "seed.h"
#include "upstream/upstream_life.h"
#include "upstream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char ACCEPTED[] = "{\"status\":1,\"request\":\"2122988149\"}";
static const char PENDING[] = "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}";

static void answer(struct fake_conn *conn, struct slice request)
{
    fake_answer(conn, fake_is_submit(request) ? ACCEPTED : PENDING);
}

static void hang(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

/* ---- the queue ---------------------------------------------------------------------------- */

static void assert_all_answered(uint32_t connections, uint32_t polls, uint32_t most_lanes)
{
    struct world *world = world_new(answer);
    world->options.connections = connections;
    world_connect(world);
    for (uint32_t i = 0; i < polls; i++)
        world_poll(world, i + 1);
    world_run_until(world, polls);
    static bool is_seen[WORLD_RESULTS_MAX + 1];
    memset(is_seen, 0, sizeof(is_seen));
    for (uint32_t i = 0; i < polls; i++) {
        const attempt_id attempt = world->results[i].result.attempt;
        assert_int_equal(world->results[i].result.outcome, OUTCOME_PENDING);
        assert_in_range(attempt, 1, polls);
        assert_false(is_seen[attempt]);
        is_seen[attempt] = true;
    }
    assert_in_range(world->vendor.most_open, 1, connections);
    struct upstream_counters counters;
    upstream_counters(world->upstream, &counters);
    assert_int_equal(counters.calls, polls);
    assert_int_equal(counters.active, 0);
    assert_int_equal(counters.waiting, 0);
    assert_in_range(counters.lanes, 1, most_lanes);
    assert_int_equal(counters.connections_opened, world->vendor.accepted);
    world_free(world);
}

static void two_thousand_polls_over_eight_connections_all_end(void **state)
{
    (void)state;
    assert_all_answered(8, 2000, 1);
}

static void two_thousand_polls_over_three_lanes_all_end(void **state)
{
    (void)state;
    assert_all_answered(250, 2000, 3);
}

static void a_single_connection_serves_everybody_in_turn(void **state)
{
    (void)state;
    assert_all_answered(1, 300, 1);
}

static void a_kept_connection_costs_hardly_any_epoll_ctl(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world_connect(world);
    struct upstream_counters before, after;
    for (uint32_t i = 0; i < 100; i++)
        world_poll(world, i + 1);
    world_run_until(world, 100);
    upstream_counters(world->upstream, &before);
    for (uint32_t i = 0; i < 1000; i++)
        world_poll(world, i + 1);
    world_run_until(world, 1100);
    upstream_counters(world->upstream, &after);
    /* At most 0.1 per poll: a kept socket stays registered. */
    assert_in_range(after.epoll_ctl - before.epoll_ctl, 0, 100);
    world_free(world);
}

static void submits_go_before_polls(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world->options.connections = 1;
    world_connect(world);
    for (attempt_id i = 1; i <= 10; i++)
        world_poll(world, i);
    for (attempt_id i = 11; i <= 20; i++)
        world_submit(world, i);
    world_run_until(world, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(world->results[i].is_submit, i < 10);
        assert_int_equal(world->results[i].result.attempt, i < 10 ? i + 11 : i - 9);
    }
    world_free(world);
}

static void a_full_queue_refuses_what_was_never_sent(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world->options.queue = 5;
    world_connect(world);
    for (attempt_id i = 1; i <= 5; i++)
        world_poll(world, i);
    world_submit(world, 6);
    world_poll(world, 7);
    upstream_probe(world->upstream, PROBE_BALANCE);
    assert_int_equal(world->result_count, 0);
    world_run_until(world, 7);
    assert_int_equal(world->results[0].result.attempt, 6);
    assert_int_equal(world->results[0].result.outcome, OUTCOME_NOT_SENT);
    assert_int_equal(world->results[1].result.attempt, 7);
    assert_int_equal(world->results[1].result.outcome, OUTCOME_UNHEARD);
    assert_int_equal(world->probed_count, 1);
    assert_false(world->probed.is_ok);
    assert_int_equal(world->vendor.charges, 0);
    world_free(world);
}

static void ask_again(struct world *world)
{
    if (world->result_count < 500)
        world_poll(world, world->result_count + 1);
    if (world->result_count == 100)
        for (attempt_id i = 0; i < 50; i++)
            world_submit(world, 1000 + i);
}

static void handlers_may_ask_again(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world->on_result = ask_again;
    world_connect(world);
    for (attempt_id i = 0; i < 20; i++)
        world_poll(world, i);
    /* 20 at first, one more with each of the first 499 answers, and 50 submits. */
    world_run_until(world, 20 + 499 + 50);
    assert_int_equal(world->vendor.charges, 50);
    world_free(world);
}

static void the_loop_ends_when_no_call_is_left(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world_connect(world);
    uv_unref((uv_handle_t *)&world->watchdog);
    uv_unref((uv_handle_t *)&world->vendor.listener);
    world_poll(world, 1);
    /* The call keeps the loop alive; the vendor's side of the connection does afterwards. */
    while (world->result_count == 0)
        assert_true(uv_run(&world->loop, UV_RUN_ONCE) != 0);
    fake_vendor_drop_all(&world->vendor);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(world->result_count, 1);
    world_free(world);
}

/* ---- closing ------------------------------------------------------------------------------ */

static void closing_in_mid_flight_tells_nobody_and_leaks_nothing(void **state)
{
    (void)state;
    struct world *world = world_new(hang);
    world->options.connections = 150;
    world_connect(world);
    for (attempt_id i = 1; i <= 400; i++)
        world_poll(world, i);
    for (attempt_id i = 1; i <= 20; i++)
        world_submit(world, i);
    world_run_until_asked(world, 150);
    struct upstream_counters counters;
    upstream_counters(world->upstream, &counters);
    assert_int_equal(counters.active, 150);
    assert_int_equal(counters.waiting, 270);
    assert_int_equal(counters.lanes, 2);
    world_free(world);
}

static void closing_before_the_first_turn_is_fine(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_free(world);
}

static void note_closed(void *context)
{
    struct world *world = context;
    world->is_upstream_closed = true;
}

static void close_at_third(struct world *world)
{
    if (world->result_count == 3) {
        upstream_close(world->upstream, note_closed, world);
        world_poll(world, 99); /* too late: dropped */
    }
}

static void a_handler_may_close(void **state)
{
    (void)state;
    struct world *world = world_new(answer);
    world->on_result = close_at_third;
    world_connect(world);
    for (attempt_id i = 1; i <= 200; i++)
        world_poll(world, i);
    while (!world->is_upstream_closed)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_int_equal(world->result_count, 3);
    upstream_free(world->upstream);
    world->upstream = NULL;
    world_free(world);
}

/* ---- what is refused at start --------------------------------------------------------------- */

static void assert_refused(const char *url, const char *ca_file, const char *reason)
{
    struct world *world = world_new(answer);
    const struct upstream_handlers nobody = {.context = NULL};
    struct buf mistake;
    buf_init(&mistake, 1024);
    world->options.url = url;
    world->options.ca_file = ca_file;
    assert_null(upstream_new(&world->loop, &world->options, &nobody, &mistake));
    buf_add_char(&mistake, '\0');
    assert_non_null(strstr(mistake.data, reason));
    buf_close(&mistake);
    world_free(world);
}

static void addresses_that_would_leak_the_key_are_refused_at_start(void **state)
{
    (void)state;
    assert_refused("http://ocr.captchaai.com", NULL, "plain http");
    assert_refused("http://10.0.0.1:8080", NULL, "plain http");
    assert_refused("http://[2001:db8::1]", NULL, "plain http");
    assert_refused("http://127.0.0.1.example.com", NULL, "plain http");
    assert_refused("http://localhost.example.com", NULL, "plain http");
    assert_refused("http://128.0.0.1", NULL, "plain http");
}

static void addresses_that_are_none_are_refused_at_start(void **state)
{
    (void)state;
    assert_refused("ftp://127.0.0.1", NULL, "must begin with https://");
    assert_refused("file:///etc/passwd", NULL, "upstream.url");
    assert_refused("https://user:word@example.com", NULL, "user name or password");
    assert_refused("https://example.com?x=1", NULL, "before any ? or #");
    assert_refused("https://example.com#x", NULL, "before any ? or #");
    assert_refused("https://exa mple.com", NULL, "no URL");
    assert_refused("ocr.captchaai.com", NULL, "no URL");
    assert_refused("", NULL, "no URL");
    assert_refused("https://example.com", "/no/such/file.pem", "upstream.ca_file");
    assert_refused("https://example.com", "/dev/null", "upstream.ca_file");
}

static void assert_taken(const char *url, bool allow_plain_http)
{
    struct world *world = world_new(answer);
    world->options.url = url;
    world->options.allow_plain_http = allow_plain_http;
    world_connect(world);
    world_free(world);
}

static void loopback_needs_no_tls(void **state)
{
    (void)state;
    assert_taken("http://localhost:1", false);
    assert_taken("http://127.9.9.9:1/base", false);
    assert_taken("http://[::1]:1", false);
    assert_taken("http://vendor.lan", true);
    assert_taken("https://ocr.captchaai.com", false);
}

static void proxies_of_the_environment_are_ignored(void **state)
{
    (void)state;
    static const char *const names[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(setenv(names[i], "http://127.0.0.1:9", 1), 0);
    struct world *world = world_new(answer);
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    assert_int_equal(world->results[0].result.outcome, OUTCOME_ACCEPTED);
    world_free(world);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(unsetenv(names[i]), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_thousand_polls_over_eight_connections_all_end),
        cmocka_unit_test(two_thousand_polls_over_three_lanes_all_end),
        cmocka_unit_test(a_single_connection_serves_everybody_in_turn),
        cmocka_unit_test(a_kept_connection_costs_hardly_any_epoll_ctl),
        cmocka_unit_test(submits_go_before_polls),
        cmocka_unit_test(a_full_queue_refuses_what_was_never_sent),
        cmocka_unit_test(handlers_may_ask_again),
        cmocka_unit_test(the_loop_ends_when_no_call_is_left),
        cmocka_unit_test(closing_in_mid_flight_tells_nobody_and_leaks_nothing),
        cmocka_unit_test(closing_before_the_first_turn_is_fine),
        cmocka_unit_test(a_handler_may_close),
        cmocka_unit_test(addresses_that_would_leak_the_key_are_refused_at_start),
        cmocka_unit_test(addresses_that_are_none_are_refused_at_start),
        cmocka_unit_test(loopback_needs_no_tls),
        cmocka_unit_test(proxies_of_the_environment_are_ignored),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
