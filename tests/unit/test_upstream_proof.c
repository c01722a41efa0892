#include "seed.h"
#include "upstream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void answer_properly(struct fake_conn *conn, struct slice request)
{
    fake_answer(conn, fake_is_submit(request) ? "{\"status\":1,\"request\":\"2122988149\"}"
                                              : "{\"status\":1,\"request\":\"token\"}");
}

static void a_refused_connection_is_proof_that_nothing_was_sent(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    /* A port nobody listens on: bound and closed again. */
    struct fake_vendor gone;
    fake_vendor_open(&gone, &world->loop, answer_properly);
    fake_vendor_close(&gone);
    while (!gone.is_closed)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    world->options.url = gone.url;
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_true(world->results[0].is_submit);
    assert_result(&world->results[0], OUTCOME_NOT_SENT, CLASS_TRANSIENT,
                  "ERROR_UPSTREAM_UNREACHABLE");
    assert_result(&world->results[1], OUTCOME_UNHEARD, CLASS_TRANSIENT,
                  "ERROR_UPSTREAM_UNREACHABLE");
    world_free(world);
}

/* A listener whose short queue is full answers no further SYN, as a dead host would not. */
static void a_connection_that_never_opens_is_proof_too(void **state)
{
    (void)state;
    struct sockaddr_in address;
    socklen_t len = sizeof(address);
    (void)uv_ip4_addr("127.0.0.1", 0, &address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    int fillers[4];
    for (size_t i = 0; i < 4; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fillers[i], (const struct sockaddr *)&address, len);
    }
    struct world *world = world_new(answer_properly);
    char url[64];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", (int)ntohs(address.sin_port));
    world->options.url = url;
    world->options.connect_timeout_ms = 1000;
    world->options.poll_timeout_ms = 500; /* ends before the connection's own timeout */
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[0], OUTCOME_UNHEARD, CLASS_TRANSIENT,
                  "ERROR_UPSTREAM_UNREACHABLE");
    assert_result(&world->results[1], OUTCOME_NOT_SENT, CLASS_TRANSIENT,
                  "ERROR_UPSTREAM_UNREACHABLE");
    world_free(world);
    for (size_t i = 0; i < 4; i++)
        (void)close(fillers[i]);
    (void)close(listener);
}

static void localhost_is_found_whatever_its_address(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    char url[64];
    (void)snprintf(url, sizeof(url), "http://localhost%s", strrchr(world->vendor.url, ':'));
    world->options.url = url;
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    assert_result(&world->results[0], OUTCOME_ACCEPTED, CLASS_NONE, "");
    world_free(world);
}

static void a_name_that_does_not_resolve_is_proof_too(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world->options.url = "https://no-such-host.invalid";
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    assert_result(&world->results[0], OUTCOME_NOT_SENT, CLASS_TRANSIENT,
                  "ERROR_UPSTREAM_UNREACHABLE");
    world_free(world);
}

static void hang(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

static void a_vendor_that_hangs_leaves_the_submit_ambiguous_after_its_timeout(void **state)
{
    (void)state;
    struct world *world = world_new(hang);
    world->options.submit_timeout_ms = 2000;
    world->options.poll_timeout_ms = 1000;
    world_connect(world);
    const uint64_t start_ms = uv_now(&world->loop);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    const uint64_t took_ms = uv_now(&world->loop) - start_ms;
    assert_in_range(took_ms, 1990, 30000);
    assert_result(&world->results[0], OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UPSTREAM_NO_REPLY");
    assert_true(world->results[1].is_submit);
    assert_result(&world->results[1], OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS,
                  "ERROR_UPSTREAM_NO_REPLY");
    assert_int_equal(world->vendor.charges, 1);
    world_free(world);
}

static void one_more_call(struct world *world, bool is_submit)
{
    if (is_submit)
        world_submit(world, 2);
    else
        world_poll(world, 2);
}

/* The one that is due first may start last. */
static void assert_short_timeout_holds(bool is_submit)
{
    struct world *world = world_new(hang);
    world->options.submit_timeout_ms = is_submit ? 100 : 60000;
    world->options.poll_timeout_ms = is_submit ? 60000 : 100;
    world_connect(world);
    one_more_call(world, !is_submit);
    world_run_until_asked(world, 1);
    one_more_call(world, is_submit);
    world_run_until(world, 1);
    assert_int_equal(world->results[0].is_submit, is_submit);
    world_free(world);
}

static void a_short_timeout_holds_beside_a_long_one_that_started_before(void **state)
{
    (void)state;
    assert_short_timeout_holds(true);
    assert_short_timeout_holds(false);
}

static void a_reply_that_waits_in_the_socket_beats_its_timeout(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world->options.poll_timeout_ms = 2000;
    world_connect(world);
    world_poll(world, 1);
    while (world->vendor.requests == 0)
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    /* The vendor has answered, and now the machine stands still for longer than the timeout. */
    assert_int_equal(world->result_count, 0);
    uv_sleep(3000);
    world_run_until(world, 1);
    assert_result(&world->results[0], OUTCOME_SOLVED, CLASS_NONE, "");
    world_free(world);
}

static void stop_before_the_last_bytes(struct fake_conn *conn, struct slice request)
{
    if (fake_is_submit(request))
        fake_send(conn, SLICE_OF("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
                                 "{\"status\":1,\"request\":\"2122988149\",\"x"));
    else
        fake_send(conn, SLICE_OF("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
                                 "{\"status\":1,\"request\":\"tok"));
}

static void a_reply_cut_by_the_timeout_still_yields_a_whole_task_id(void **state)
{
    (void)state;
    struct world *world = world_new(stop_before_the_last_bytes);
    world->options.submit_timeout_ms = 2000;
    world->options.poll_timeout_ms = 1000;
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[0], OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UNKNOWN_REPLY");
    assert_result(&world->results[1], OUTCOME_ACCEPTED, CLASS_NONE, "");
    assert_string_equal(world->results[1].result.task_id, "2122988149");
    world_free(world);
}

static void say_too_many(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer_with(conn, "429 Too Many Requests", "rEtRy-AfTeR:  7 \r\n", SLICE_OF("<html>"));
}

static void a_429_brings_its_retry_after(void **state)
{
    (void)state;
    struct world *world = world_new(say_too_many);
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[0], OUTCOME_REJECTED, CLASS_BUSY, "ERROR_TOO_MUCH_REQUESTS");
    assert_int_equal(world->results[0].result.retry_after_ms, 7000);
    assert_result(&world->results[1], OUTCOME_UNHEARD, CLASS_BUSY, "ERROR_TOO_MUCH_REQUESTS");
    assert_int_equal(world->results[1].result.retry_after_ms, 7000);
    world_free(world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_connection_is_proof_that_nothing_was_sent),
        cmocka_unit_test(a_connection_that_never_opens_is_proof_too),
        cmocka_unit_test(localhost_is_found_whatever_its_address),
        cmocka_unit_test(a_name_that_does_not_resolve_is_proof_too),
        cmocka_unit_test(a_vendor_that_hangs_leaves_the_submit_ambiguous_after_its_timeout),
        cmocka_unit_test(a_short_timeout_holds_beside_a_long_one_that_started_before),
        cmocka_unit_test(a_reply_that_waits_in_the_socket_beats_its_timeout),
        cmocka_unit_test(a_reply_cut_by_the_timeout_still_yields_a_whole_task_id),
        cmocka_unit_test(a_429_brings_its_retry_after),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
