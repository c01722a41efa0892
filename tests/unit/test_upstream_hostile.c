#include "seed.h"
#include "upstream_world.h"

#include "base/assert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Of both replies we take 32 KiB of headers, and what one read brought beyond; of the submit's 64 KiB of
 * body, of the poll's 512. */
#define TAKEN_MAX_BYTES ((uint64_t)(2 * (32 + 16) + 64 + 512) * 1024)
#define FLOOD_LIMIT ((uint64_t)64 * 1024 * 1024)

static const char ACCEPTED[] = "{\"status\":1,\"request\":\"2122988149\"}";
static const char PENDING[] = "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}";

static char *chunk; /* 64 KiB of one letter, or of one header many times */

static void fill_chunk(const char *piece)
{
    struct buf text;
    buf_init(&text, 65536);
    while (!text.is_full)
        buf_add(&text, slice_from(piece));
    free(chunk);
    chunk = calloc(1, text.len + 1);
    assert_non_null(chunk);
    memcpy(chunk, text.data, text.len);
    buf_close(&text);
}

/* One submit and one poll against the script; how long they took, and what the vendor got rid
 * of. */
static uint64_t run_both(struct world *world, enum outcome submit, enum outcome poll)
{
    world->options.submit_timeout_ms = 2000;
    world->options.poll_timeout_ms = 2000;
    world_connect(world);
    const uint64_t start_ms = uv_now(&world->loop);
    world_submit(world, 1);
    world_poll(world, 2);
    world_run_until(world, 2);
    for (int i = 0; i < 2; i++) {
        const struct world_result *kept = &world->results[i];
        assert_int_equal(kept->result.outcome, kept->is_submit ? submit : poll);
    }
    assert_int_equal(world->vendor.charges, 1);
    return uv_now(&world->loop) - start_ms;
}

static void assert_bounded(fake_script script, enum outcome submit, enum outcome poll)
{
    struct world *world = world_new(script);
    const uint64_t took_ms = run_both(world, submit, poll);
    assert_in_range(took_ms, 0, 30000);
    struct upstream_counters counters;
    upstream_counters(world->upstream, &counters);
    assert_in_range(counters.bytes_in, 0, TAKEN_MAX_BYTES);
    world_free(world);
}

/* ---- replies that do not end -------------------------------------------------------------- */

static uint64_t flooded;

static void flood_body(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n", chunk, FLOOD_LIMIT);
}

static void a_reply_of_64_mib_is_cut_off_early(void **state)
{
    (void)state;
    fill_chunk("x");
    struct world *world = world_new(flood_body);
    const uint64_t took_ms = run_both(world, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
    assert_in_range(took_ms, 0, 30000);
    struct upstream_counters counters;
    upstream_counters(world->upstream, &counters);
    assert_in_range(counters.bytes_in, 1, TAKEN_MAX_BYTES);
    flooded = 0;
    LIST_FOR_EACH(link, &world->vendor.conns) {
        const struct fake_conn *conn = CONTAINER_OF(link, struct fake_conn, link);
        flooded += conn->bytes_flooded;
    }
    assert_in_range(flooded, 0, FLOOD_LIMIT / 2);
    world_free(world);
}

static void flood_body_after_id(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn,
               "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n"
               "{\"status\":1,\"request\":\"2122988149\",\"pad\":\"",
               chunk, FLOOD_LIMIT);
}

static void an_endless_reply_that_began_with_a_task_id_still_names_it(void **state)
{
    (void)state;
    fill_chunk("x");
    assert_bounded(flood_body_after_id, OUTCOME_ACCEPTED, OUTCOME_UNDELIVERABLE);
}

static void flood_chunked(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk, FLOOD_LIMIT);
}

static void an_endless_chunked_reply_is_cut_off(void **state)
{
    (void)state;
    fill_chunk("4\r\nabcd\r\n");
    assert_bounded(flood_chunked, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void flood_headers(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 200 OK\r\n", chunk, FLOOD_LIMIT);
}

static void endless_headers_are_cut_off(void **state)
{
    (void)state;
    fill_chunk("X-Header: value\r\n");
    assert_bounded(flood_headers, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void flood_interim(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 100 Continue\r\n\r\n", chunk, FLOOD_LIMIT);
}

static void endless_interim_replies_are_cut_off(void **state)
{
    (void)state;
    fill_chunk("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
    assert_bounded(flood_interim, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void drip_body(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_drip(conn, "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n");
}

static void a_reply_that_drips_ends_with_the_timeout(void **state)
{
    (void)state;
    assert_bounded(drip_body, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void drip_headers(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_drip(conn, "HTTP/1.1 200 OK\r\nX-Slow: ");
}

static void headers_that_drip_end_with_the_timeout(void **state)
{
    (void)state;
    assert_bounded(drip_headers, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

/* ---- replies that make no sense ----------------------------------------------------------- */

static void say_garbage(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("\x16\x03\x01 this is not HTTP\r\n\r\n\0\0\0"));
    fake_hang_up(conn);
}

static void garbage_instead_of_http_says_nothing(void **state)
{
    (void)state;
    assert_bounded(say_garbage, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void say_gzip(struct fake_conn *conn, struct slice request)
{
    (void)request;
    /* {"status":1,"request":"2122988149"} compressed: taking it would mean that we decompress. */
    fake_answer_with(conn, "200 OK", "Content-Encoding: gzip\r\n",
                     SLICE_OF("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x2a\x2e\x49\x2c\x29"
                              "\x2d\x56\xb2\x32\xd4\x51\x2a\x4a\x2d\x2c\x4d\x2d\x2e\x51\xb2\x52\x32"
                              "\x32\x34\x32\xb2\xb4\xb0\x30\xb1\x54\xaa\x05\x00\x05\xd4\x6d\x59\x23"
                              "\x00\x00\x00"));
}

static void a_compressed_reply_is_not_decompressed(void **state)
{
    (void)state;
    assert_bounded(say_gzip, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void redirect(struct fake_conn *conn, struct slice request)
{
    (void)request;
    char headers[128];
    (void)snprintf(headers, sizeof(headers), "Location: %s/elsewhere\r\n", conn->vendor->url);
    fake_answer_with(conn, "302 Found", headers, slice_from(ACCEPTED));
}

static void a_redirect_is_not_followed(void **state)
{
    (void)state;
    struct world *world = world_new(redirect);
    (void)run_both(world, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
    world_run_for(world, 50);
    assert_int_equal(world->vendor.requests, 2);
    world_free(world);
}

static void fail_with_html(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer_with(conn, "502 Bad Gateway", "Content-Type: text/html\r\n",
                     SLICE_OF("<html><h1>502 Bad Gateway</h1></html>"));
}

static void an_error_page_says_nothing(void **state)
{
    (void)state;
    assert_bounded(fail_with_html, OUTCOME_AMBIGUOUS, OUTCOME_UNHEARD);
}

static void promise_more_than_comes(struct fake_conn *conn, struct slice request)
{
    struct buf reply;
    buf_init(&reply, 1024);
    buf_addf(&reply, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n%s",
             fake_is_submit(request) ? ACCEPTED : PENDING);
    fake_send(conn, buf_slice(&reply));
    buf_close(&reply);
    fake_hang_up(conn);
}

static void a_wrong_content_length_does_not_hide_a_whole_reply(void **state)
{
    (void)state;
    assert_bounded(promise_more_than_comes, OUTCOME_ACCEPTED, OUTCOME_PENDING);
}

static void answer_twice(struct fake_conn *conn, struct slice request)
{
    const char *body = fake_is_submit(request) ? ACCEPTED : PENDING;
    fake_answer(conn, body);
    fake_answer(conn, "{\"status\":1,\"request\":\"999\"}");
}

static void a_second_reply_nobody_asked_for_answers_no_later_call(void **state)
{
    (void)state;
    struct world *world = world_new(answer_twice);
    world->options.connections = 1;
    world_connect(world);
    world_submit(world, 1);
    world_run_until(world, 1);
    world_run_for(world, 20);
    world_poll(world, 2);
    world_run_until(world, 2);
    assert_int_equal(world->results[0].result.outcome, OUTCOME_ACCEPTED);
    assert_string_equal(world->results[0].result.task_id, "2122988149");
    assert_int_equal(world->results[1].result.outcome, OUTCOME_PENDING);
    world_free(world);
}

static int free_chunk(void **state)
{
    (void)state;
    free(chunk);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_of_64_mib_is_cut_off_early),
        cmocka_unit_test(an_endless_reply_that_began_with_a_task_id_still_names_it),
        cmocka_unit_test(an_endless_chunked_reply_is_cut_off),
        cmocka_unit_test(endless_headers_are_cut_off),
        cmocka_unit_test(endless_interim_replies_are_cut_off),
        cmocka_unit_test(a_reply_that_drips_ends_with_the_timeout),
        cmocka_unit_test(headers_that_drip_end_with_the_timeout),
        cmocka_unit_test(garbage_instead_of_http_says_nothing),
        cmocka_unit_test(a_compressed_reply_is_not_decompressed),
        cmocka_unit_test(a_redirect_is_not_followed),
        cmocka_unit_test(an_error_page_says_nothing),
        cmocka_unit_test(a_wrong_content_length_does_not_hide_a_whole_reply),
        cmocka_unit_test(a_second_reply_nobody_asked_for_answers_no_later_call),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, free_chunk);
}
