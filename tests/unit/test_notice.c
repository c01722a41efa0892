#include "base/assert.h"
#include "notice_world.h"
#include "seed.h"

#include <dlfcn.h>
#include <netdb.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* libcurl's resolver threads land here, because a program's own function goes before the library's:
 * names under .example are what the test wants them to be. */
static const char *const names[][2] = {
    {"private.example", "10.1.2.3"},        {"metadata.example", "169.254.169.254"},
    {"mapped.example", "::ffff:127.0.0.1"}, {"local6.example", "fd00::1"},
    {"near.example", "127.0.0.1"},
};

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict result)
{
    typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    lookup real;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof(real)); /* ISO C has no cast between the two kinds of pointers */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (node != NULL && strcmp(node, names[i][0]) == 0)
            return real(names[i][1], service, NULL, result);
    if (node != NULL && strstr(node, ".example") != NULL)
        return EAI_NONAME;
    return real(node, service, hints, result);
}

static char last_request[4096];

static void keep(struct slice request)
{
    (void)snprintf(last_request, sizeof(last_request), "%.*s", (int)request.len, request.data);
}

static void answer_200(struct fake_conn *conn, struct slice request)
{
    keep(request);
    fake_answer(conn, "OK");
}

static void hang(struct fake_conn *conn, struct slice request)
{
    (void)conn;
    (void)request;
}

/* The script answers one notice; how does it end? */
static void expect_end(fake_script script, bool is_delivered, const char *why)
{
    struct notice_world *world = notice_world_new(script);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 7, "127.0.0.1", "/hook", "token"));
    assert_int_equal(world->end_count, 0); /* nothing is told from within the call */
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 7, is_delivered, why);
    notice_world_free(world);
}

/* ---- what is sent ------------------------------------------------------------------------ */

static void expect_line(const char *path, const char *code, const char *line)
{
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    assert_true(notice_world_send(world, UINT64_C(9007199254740991), "127.0.0.1", path, code));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, UINT64_C(9007199254740991), true, "http_200");
    assert_memory_equal(last_request, line, strlen(line));
    notice_world_free(world);
}

static void a_notice_is_a_get_with_id_and_code(void **state)
{
    (void)state;
    expect_line("/hook", "03AGdBq24", "GET /hook?id=9007199254740991&code=03AGdBq24 HTTP/1.1\r\n");
    expect_line("", "a", "GET /?id=9007199254740991&code=a HTTP/1.1\r\n");
    expect_line("/hook", "ERROR_CAPTCHA_UNSOLVABLE",
                "GET /hook?id=9007199254740991&code=ERROR_CAPTCHA_UNSOLVABLE HTTP/1.1\r\n");
    expect_line("/hook", "", "GET /hook?id=9007199254740991&code= HTTP/1.1\r\n");
}

static void a_query_that_is_there_stays_in_front(void **state)
{
    (void)state;
    expect_line("/h?job=5", "a", "GET /h?job=5&id=9007199254740991&code=a HTTP/1.1\r\n");
    expect_line("/h?", "a", "GET /h?id=9007199254740991&code=a HTTP/1.1\r\n");
    expect_line("/h?a=%20b&", "a", "GET /h?a=%20b&id=9007199254740991&code=a HTTP/1.1\r\n");
    expect_line("/a/../b//c/./d", "a",
                "GET /a/../b//c/./d?id=9007199254740991&code=a HTTP/1.1\r\n");
}

static void every_byte_of_a_code_arrives_escaped_or_as_it_is(void **state)
{
    (void)state;
    char code[256], expected[1024];
    int len = snprintf(expected, sizeof(expected), "GET /?id=1&code=");
    for (int c = 0; c < 256; c++) {
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                              (c >= 'a' && c <= 'z') || (c != 0 && strchr("-._~", c) != NULL);
        code[c] = (char)c;
        len += snprintf(expected + len, sizeof(expected) - (size_t)len, is_plain ? "%c" : "%%%02X",
                        (unsigned)c);
    }
    (void)snprintf(expected + len, sizeof(expected) - (size_t)len, " HTTP/1.1\r\n");
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    char url[64];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", world->port);
    assert_true(notices_send(world->notices, 1, slice_from(url),
                             (struct slice){.data = code, .len = sizeof(code)}));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 1, true, "http_200");
    assert_memory_equal(last_request, expected, strlen(expected));
    notice_world_free(world);
}

static void nothing_else_is_in_the_request(void **state)
{
    (void)state;
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("all_proxy", "http://127.0.0.1:1", 1);
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 1, "near.example", "/", "a"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 1, true, "http_200");
    char expected[512];
    (void)snprintf(expected, sizeof(expected),
                   "GET /?id=1&code=a HTTP/1.1\r\nHost: near.example:%u\r\n"
                   "User-Agent: solvegate/",
                   world->port);
    assert_memory_equal(last_request, expected, strlen(expected));
    const char *rest = strstr(last_request + strlen(expected), "\r\n");
    assert_string_equal(rest, "\r\nAccept: */*\r\n\r\n");
    notice_world_free(world);
    (void)unsetenv("http_proxy");
    (void)unsetenv("all_proxy");
}

static void a_code_of_the_longest_kind_is_sent(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    struct buf code;
    buf_init(&code, 1 << 20);
    for (int i = 0; i < 16 * 1024; i++)
        buf_add_char(&code, '+');
    char url[64];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", world->port);
    assert_true(notices_send(world->notices, 1, slice_from(url), buf_slice(&code)));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 1, true, "http_200");
    /* What no solution can be is not cut, but refused. */
    for (int i = 0; i < 80 * 1024; i++)
        buf_add_char(&code, '+');
    assert_true(notices_send(world->notices, 2, slice_from(url), buf_slice(&code)));
    assert_int_equal(world->end_count, 1);
    notice_world_run_until(world, 2);
    notice_world_expect(world, 1, 2, false, "too_long");
    assert_int_equal(world->receiver.requests, 1);
    buf_close(&code);
    notice_world_free(world);
}

/* ---- how it ends ------------------------------------------------------------------------- */

static void answer_204(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("HTTP/1.1 204 No Content\r\n\r\n"));
}

static void answer_in_chunks(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                             "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n"
                             "Trailer: X\r\n\r\n2\r\nOK\r\n0\r\nX: y\r\n\r\n"));
}

static void answer_500(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer_with(conn, "500 Oops", "", SLICE_OF("secret"));
}

static void answer_404(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_answer_with(conn, "404 Not Found", "", SLICE_OF(""));
}

static void only_2xx_is_delivered(void **state)
{
    (void)state;
    expect_end(answer_200, true, "http_200");
    expect_end(answer_204, true, "http_204");
    expect_end(answer_in_chunks, true, "http_201");
    expect_end(answer_404, false, "http_404");
    expect_end(answer_500, false, "http_500");
}

static void redirect(struct fake_conn *conn, struct slice request)
{
    char header[128];
    assert_true(slice_starts_with(request, SLICE_OF("GET /hook?")));
    (void)snprintf(header, sizeof(header), "Location: %s/elsewhere\r\n", conn->vendor->url);
    fake_answer_with(conn, "302 Found", header, SLICE_OF(""));
}

static void a_redirect_is_not_followed(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(redirect);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 7, "127.0.0.1", "/hook", "token"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 7, false, "http_302");
    assert_int_equal(world->receiver.requests, 1);
    notice_world_free(world);
}

static void hang_up(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_hang_up(conn);
}

static void reset(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_reset(conn);
}

static void cut_head(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("HTTP/1.1 200 OK\r\nContent-Le"));
    fake_hang_up(conn);
}

static void cut_body(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"));
    fake_hang_up(conn);
}

static void only_hints(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("HTTP/1.1 103 Early Hints\r\n\r\n"));
    fake_hang_up(conn);
}

static void speak_garbage(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_send(conn, SLICE_OF("220 mail.example ESMTP\r\n"));
    fake_hang_up(conn);
}

static void a_receiver_that_closes_early_or_talks_garbage_took_nothing(void **state)
{
    (void)state;
    expect_end(hang_up, false, "reply_broken");
    expect_end(reset, false, "reply_broken");
    expect_end(cut_head, false, "reply_broken");
    expect_end(cut_body, false, "reply_broken");
    expect_end(only_hints, false, "reply_broken");
    expect_end(speak_garbage, false, "reply_broken");
}

static char zeros[65537];

static void flood(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", zeros,
               UINT64_C(1) << 30);
}

static void flood_with_500(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 500 Oops\r\nContent-Length: 1000000000000\r\n\r\n", zeros,
               UINT64_C(1) << 30);
}

static void flood_head(struct fake_conn *conn, struct slice request)
{
    (void)request;
    fake_flood(conn, "HTTP/1.1 200 OK\r\nX: ", "\r\nX: 0123456789", UINT64_C(1) << 30);
}

/* What left the receiver is mostly in the system's buffers. */
static void assert_little_was_sent(struct notice_world *world)
{
    assert_false(list_is_empty(&world->receiver.conns));
    LIST_FOR_EACH(link, &world->receiver.conns)
        assert_in_range(CONTAINER_OF(link, struct fake_conn, link)->bytes_flooded, 0, 32 << 20);
}

static void expect_end_of_flood(fake_script script, bool is_delivered, const char *why)
{
    struct notice_world *world = notice_world_new(script);
    world->on_end = assert_little_was_sent;
    notice_world_connect(world);
    assert_true(notice_world_send(world, 7, "127.0.0.1", "/hook", "token"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 7, is_delivered, why);
    notice_world_free(world);
}

static void a_huge_reply_is_not_read(void **state)
{
    (void)state;
    memset(zeros, '0', sizeof(zeros) - 1);
    /* The status was heard, and a repeat would be no better. */
    expect_end_of_flood(flood, true, "http_200");
    expect_end_of_flood(flood_with_500, false, "reply_too_big");
    expect_end_of_flood(flood_head, false, "reply_broken");
}

static void a_port_where_nobody_listens_is_unreachable(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    /* "[::1]" is not where the receiver is. */
    assert_true(notice_world_send(world, 1, "[::1]", "/", "a"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 1, false, "unreachable");
    assert_true(notice_world_send(world, 2, "nowhere.example", "/", "a"));
    notice_world_run_until(world, 2);
    notice_world_expect(world, 1, 2, false, "name_unknown");
    notice_world_free(world);
}

static void connections_are_used_again(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    for (size_t i = 0; i < 5; i++) {
        assert_true(notice_world_send(world, i, "127.0.0.1", "/", "a"));
        notice_world_run_until(world, i + 1);
        notice_world_expect(world, i, i, true, "http_200");
    }
    assert_int_equal(world->receiver.accepted, 1);
    notice_world_free(world);
}

/* ---- addresses --------------------------------------------------------------------------- */

static void private_addresses_are_not_dialled_however_they_are_written(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1",       "localhost",    "[::1]",
                                        "private.example", "near.example", "metadata.example",
                                        "mapped.example",  "2130706433",   "0x7f.1",
                                        "local6.example",  "127.1",        "[0:0:0:0:0:0:0:1]"};
    struct notice_world *world = notice_world_new(answer_200);
    world->options.allow_private = false;
    notice_world_connect(world);
    const size_t count = sizeof(hosts) / sizeof(hosts[0]);
    for (size_t i = 0; i < count; i++) {
        assert_true(notice_world_send(world, i, hosts[i], "/", "a"));
        notice_world_run_until(world, i + 1);
        notice_world_expect(world, i, i, false, "address_refused");
    }
    assert_int_equal(world->receiver.accepted, 0);
    notice_world_free(world);
}

static void private_addresses_are_dialled_when_the_operator_says_so(void **state)
{
    (void)state;
    static const char *const hosts[] = {"127.0.0.1", "localhost", "near.example", "mapped.example"};
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        assert_true(notice_world_send(world, i, hosts[i], "/", "a"));
        notice_world_run_until(world, i + 1);
        notice_world_expect(world, i, i, true, "http_200");
    }
    notice_world_free(world);
}

static void a_url_that_is_no_longer_allowed_is_not_sent(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    world->allow[0].port = 1;
    assert_true(notice_world_send(world, 3, "127.0.0.1", "/", "a"));
    assert_true(notices_send(world->notices, 4, SLICE_OF("file:///etc/passwd"), SLICE_OF("a")));
    assert_true(notices_send(world->notices, 5, SLICE_OF(""), SLICE_OF("a")));
    assert_int_equal(world->end_count, 0);
    notice_world_run_until(world, 3);
    for (size_t i = 0; i < 3; i++)
        notice_world_expect(world, i, i + 3, false, "not_allowed");
    assert_int_equal(world->receiver.accepted, 0);
    notice_world_free(world);
}

/* ---- bounds and life --------------------------------------------------------------------- */

static void only_so_many_are_under_way(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(hang);
    notice_world_connect(world);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(notice_world_send(world, i, "127.0.0.1", "/", "a"));
    assert_false(notice_world_send(world, 4, "127.0.0.1", "/", "a"));
    notice_world_run_until_asked(world, 4);
    assert_false(notice_world_send(world, 4, "127.0.0.1", "/", "a"));
    /* Refused ones count too, so that nobody can pile them up. */
    assert_false(notice_world_send(world, 4, "elsewhere.net", "/", "a"));
    world->receiver.script = answer_200;
    fake_vendor_drop_all(&world->receiver);
    notice_world_run_until(world, 4);
    assert_true(notice_world_send(world, 5, "127.0.0.1", "/", "a"));
    notice_world_run_until(world, 5);
    notice_world_expect(world, 4, 5, true, "http_200");
    assert_int_equal(world->receiver.most_open, 4);
    notice_world_free(world);
}

static void send_next(struct notice_world *world)
{
    if (world->end_count < 20)
        assert_true(notice_world_send(world, world->end_count,
                                      world->end_count % 2 == 0 ? "127.0.0.1" : "elsewhere.net",
                                      "/", "a"));
}

static void an_end_may_send_the_next(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    world->options.connections = 1;
    world->on_end = send_next;
    notice_world_connect(world);
    assert_true(notice_world_send(world, 0, "127.0.0.1", "/", "a"));
    notice_world_run_until(world, 20);
    for (size_t i = 0; i < 20; i++)
        notice_world_expect(world, i, i, i % 2 == 0, i % 2 == 0 ? "http_200" : "not_allowed");
    notice_world_free(world);
}

static void an_end_may_close(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    world->on_end = notice_world_close_notices;
    notice_world_connect(world);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(notice_world_send(world, i, "127.0.0.1", "/", "a"));
    notice_world_run_until(world, 1);
    notice_world_free(world);

    world = notice_world_new(answer_200);
    world->on_end = notice_world_close_notices;
    notice_world_connect(world);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(notice_world_send(world, i, i == 1 ? "elsewhere.net" : "127.0.0.1", "/", "a"));
    notice_world_run_until(world, 1);
    notice_world_expect(world, 0, 1, false, "not_allowed");
    notice_world_free(world);
}

static void closing_ends_what_is_under_way_without_a_word(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(hang);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 1, "127.0.0.1", "/", "a"));
    notice_world_run_until_asked(world, 1);
    assert_true(notice_world_send(world, 2, "127.0.0.1", "/", "a"));
    notice_world_close_notices(world);
    while (!world->is_closed && !world->is_stuck)
        (void)uv_run(&world->loop, UV_RUN_ONCE);
    assert_int_equal(world->end_count, 0);
    notice_world_free(world);
}

static void idle_notices_do_not_keep_the_loop_alive(void **state)
{
    (void)state;
    struct notice_world *world = notice_world_new(answer_200);
    notice_world_connect(world);
    assert_true(notice_world_send(world, 1, "127.0.0.1", "/", "a"));
    notice_world_run_until(world, 1);
    fake_vendor_close(&world->receiver);
    uv_unref((uv_handle_t *)&world->watchdog);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_false(world->is_stuck);
    assert_true(world->receiver.is_closed);
    notice_world_close_notices(world);
    uv_close((uv_handle_t *)&world->watchdog, NULL);
    assert_int_equal(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    free(world);
}

static void a_ca_file_without_certificates_is_told_at_start(void **state)
{
    (void)state;
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    const char *const bad[] = {"/dev/null", "/nowhere/ca.pem"};
    for (size_t i = 0; i < 2; i++) {
        const struct notices_options options = {
            .timeout_ms = 100, .connections = 1, .ca_file = bad[i]};
        struct buf mistake;
        buf_init(&mistake, 1024);
        assert_null(notices_new(&loop, &options, NULL, NULL, &mistake));
        buf_add_char(&mistake, '\0');
        assert_string_equal(mistake.data,
                            "callbacks: ca_file: it holds no certificate that can be read");
        buf_close(&mistake);
    }
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_notice_is_a_get_with_id_and_code),
        cmocka_unit_test(a_query_that_is_there_stays_in_front),
        cmocka_unit_test(every_byte_of_a_code_arrives_escaped_or_as_it_is),
        cmocka_unit_test(nothing_else_is_in_the_request),
        cmocka_unit_test(a_code_of_the_longest_kind_is_sent),
        cmocka_unit_test(only_2xx_is_delivered),
        cmocka_unit_test(a_redirect_is_not_followed),
        cmocka_unit_test(a_receiver_that_closes_early_or_talks_garbage_took_nothing),
        cmocka_unit_test(a_huge_reply_is_not_read),
        cmocka_unit_test(a_port_where_nobody_listens_is_unreachable),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(private_addresses_are_not_dialled_however_they_are_written),
        cmocka_unit_test(private_addresses_are_dialled_when_the_operator_says_so),
        cmocka_unit_test(a_url_that_is_no_longer_allowed_is_not_sent),
        cmocka_unit_test(only_so_many_are_under_way),
        cmocka_unit_test(an_end_may_send_the_next),
        cmocka_unit_test(an_end_may_close),
        cmocka_unit_test(closing_ends_what_is_under_way_without_a_word),
        cmocka_unit_test(idle_notices_do_not_keep_the_loop_alive),
        cmocka_unit_test(a_ca_file_without_certificates_is_told_at_start),
    };
    /* The receiver writes on after we hung up. */
    (void)signal(SIGPIPE, SIG_IGN);
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
