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

static const char ACCEPTED[] = "{\"status\":1,\"request\":\"2122988149\"}";
static const char PENDING[] = "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}";

static void assert_result(const struct world_result *kept, enum outcome outcome, enum class class,
                          const char *code)
{
    assert_int_equal(kept->result.outcome, outcome);
    assert_int_equal(kept->result.class, class);
    assert_string_equal(kept->result.code, code);
}

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
    world_run_for(world, 50);
    assert_int_equal(world->vendor.requests, 3);
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

/* ---- what is proven and what is not -------------------------------------------------------- */

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
    world->options.connect_timeout_ms = 200;
    world->options.poll_timeout_ms = 100; /* ends before the connection's own timeout */
    world_connect(world);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_result(&world->results[0], OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UPSTREAM_UNREACHABLE");
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
    world->options.submit_timeout_ms = 200;
    world->options.poll_timeout_ms = 100;
    world_connect(world);
    const uint64_t start_ms = uv_now(&world->loop);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    const uint64_t took_ms = uv_now(&world->loop) - start_ms;
    assert_in_range(took_ms, 190, 10000);
    assert_result(&world->results[0], OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UPSTREAM_NO_REPLY");
    assert_true(world->results[1].is_submit);
    assert_result(&world->results[1], OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UPSTREAM_NO_REPLY");
    assert_int_equal(world->vendor.charges, 1);
    world_free(world);
}

static void a_reply_that_waits_in_the_socket_beats_its_timeout(void **state)
{
    (void)state;
    struct world *world = world_new(answer_properly);
    world->options.poll_timeout_ms = 100;
    world_connect(world);
    world_poll(world, 1);
    while (world->vendor.requests == 0)
        (void)uv_run(&world->loop, UV_RUN_NOWAIT);
    /* The vendor has answered, and now the machine stands still for longer than the timeout. */
    assert_int_equal(world->result_count, 0);
    uv_sleep(300);
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
    world->options.submit_timeout_ms = 150;
    world->options.poll_timeout_ms = 100;
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
        cmocka_unit_test(a_refused_connection_is_proof_that_nothing_was_sent),
        cmocka_unit_test(a_connection_that_never_opens_is_proof_too),
        cmocka_unit_test(localhost_is_found_whatever_its_address),
        cmocka_unit_test(a_name_that_does_not_resolve_is_proof_too),
        cmocka_unit_test(a_vendor_that_hangs_leaves_the_submit_ambiguous_after_its_timeout),
        cmocka_unit_test(a_reply_that_waits_in_the_socket_beats_its_timeout),
        cmocka_unit_test(a_reply_cut_by_the_timeout_still_yields_a_whole_task_id),
        cmocka_unit_test(a_429_brings_its_retry_after),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
