#include "cli/bench_talk.h"
#include "cli/bench_tally.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef"

static void expect_ask(struct bench_plan plan, uint64_t target, const char *path, const char *body)
{
    const struct bench_talk talk = {.plan = &plan, .key = KEY};
    struct bench_message message;
    plan.method = plan.method == NULL ? "turnstile" : plan.method;
    plan.seed = 0xab;
    bench_message_init(&message);
    bench_talk_ask(&talk, target, &message);
    assert_string_equal(message.path.data, path);
    assert_string_equal(message.body.data, body);
    bench_message_close(&message);
}

static void each_dialect_asks_in_its_own_words(void **state)
{
    (void)state;
    expect_ask((struct bench_plan){.dialect = BENCH_V1, .wait_ms = 180000}, 7, "/v1/solves",
               "{\"method\":\"turnstile\",\"pageurl\":\"https://example.com/bench?bench=ab-7\","
               "\"sitekey\":\"0x4AAABENCH\",\"wait\":50}");
    expect_ask((struct bench_plan){.dialect = BENCH_V1, .wait_ms = 2500}, 7, "/v1/solves",
               "{\"method\":\"turnstile\",\"pageurl\":\"https://example.com/bench?bench=ab-7\","
               "\"sitekey\":\"0x4AAABENCH\",\"wait\":3}");
    expect_ask((struct bench_plan){.dialect = BENCH_VENDOR, .method = "userrecaptcha"}, 8,
               "/in.php",
               "key=" KEY "&json=1&method=userrecaptcha&pageurl=https%3A%2F%2Fexample.com%2Fbench"
               "%3Fbench%3Dab-8&googlekey=0x4AAABENCH");
    expect_ask((struct bench_plan){.dialect = BENCH_CREATETASK, .poll_ms = 1}, 9, "/createTask",
               "{\"clientKey\":\"" KEY "\",\"task\":{\"type\":\"TurnstileTaskProxyless\","
               "\"websiteURL\":\"https://example.com/bench?bench=ab-9\","
               "\"websiteKey\":\"0x4AAABENCH\"}}");
}

static void what_the_caller_gives_is_passed_on(void **state)
{
    (void)state;
    expect_ask((struct bench_plan){.pageurl = "https://shop.example/?a=1",
                                   .sitekey = "k\"",
                                   .reuse = "single",
                                   .poll_ms = 5000,
                                   .params = {{.name = SLICE_INIT("action"), .value = "log in"}},
                                   .param_count = 1},
               0, "/v1/solves",
               "{\"method\":\"turnstile\",\"pageurl\":\"https://shop.example/?a=1&bench=ab-0\","
               "\"sitekey\":\"k\\\"\",\"action\":\"log in\",\"reuse\":\"single\"}");
}

static void a_proxy_is_made_up_where_one_is_demanded(void **state)
{
    (void)state;
    expect_ask((struct bench_plan){.method = "cloudflare_challenge", .poll_ms = 1}, 1, "/v1/solves",
               "{\"method\":\"cloudflare_challenge\","
               "\"pageurl\":\"https://example.com/bench?bench=ab-1\","
               "\"proxy\":\"192.0.2.1:3128\",\"proxytype\":\"HTTP\"}");
    expect_ask((struct bench_plan){.method = "cloudflare_challenge",
                                   .poll_ms = 1,
                                   .params = {{.name = SLICE_INIT("proxy"), .value = "own:1"}},
                                   .param_count = 1},
               1, "/v1/solves",
               "{\"method\":\"cloudflare_challenge\","
               "\"pageurl\":\"https://example.com/bench?bench=ab-1\","
               "\"proxytype\":\"HTTP\",\"proxy\":\"own:1\"}");
}

static void images_differ_by_target_only(void **state)
{
    const struct bench_plan plan = {.method = "base64", .seed = 5};
    const struct bench_talk talk = {.plan = &plan, .key = ""};
    struct bench_message first;
    struct bench_message other;
    (void)state;
    bench_message_init(&first);
    bench_message_init(&other);
    bench_talk_ask(&talk, 1, &first);
    bench_talk_ask(&talk, 1, &other);
    assert_string_equal(first.body.data, other.body.data);
    bench_talk_ask(&talk, 2, &other);
    assert_string_not_equal(first.body.data, other.body.data);
    assert_non_null(strstr(first.body.data, "\"body\":\"Qk0"));
    bench_message_close(&first);
    bench_message_close(&other);
}

static void a_look_names_the_request(void **state)
{
    static const char *const paths[] = {
        [BENCH_V1] = "/v1/solves/12?wait=9",
        [BENCH_VENDOR] = "/res.php?action=get&json=1&id=12&key=" KEY "&wait=9",
        [BENCH_CREATETASK] = "/getTaskResult",
    };
    (void)state;
    for (int i = 0; i < BENCH_DIALECT_COUNT; i++) {
        const struct bench_plan plan = {.dialect = (enum bench_dialect)i, .method = "turnstile"};
        const struct bench_talk talk = {.plan = &plan, .key = KEY};
        struct bench_message message;
        bench_message_init(&message);
        bench_talk_look(&talk, "12", 9, &message);
        assert_string_equal(message.path.data, paths[i]);
        if (i == BENCH_CREATETASK)
            assert_string_equal(message.body.data, "{\"clientKey\":\"" KEY "\",\"taskId\":12}");
        else
            assert_int_equal(message.body.len, 0);
        bench_message_close(&message);
    }
}

/* ---- hearing ----------------------------------------------------------------------------- */

static const struct {
    enum bench_dialect dialect;
    bool is_look;
    long status;
    const char *body;
    enum bench_news news;
    const char *text; /* the id or the code */
} replies[] = {
    {BENCH_V1, false, 200, "{\"id\":\"5\",\"status\":\"solved\",\"source\":\"dedup_wait\"}",
     BENCH_SOLVED, ""},
    {BENCH_V1, false, 202, "{\"id\":\"5\",\"status\":\"solving\"}", BENCH_PENDING, "5"},
    {BENCH_V1, true, 502, "{\"status\":502,\"code\":\"unsolvable\"}", BENCH_FAILED, "unsolvable"},
    {BENCH_V1, false, 404, "<html>", BENCH_FAILED, "http_404"},
    {BENCH_V1, false, 200, "{}", BENCH_FAILED, "bench_bad_reply"},
    {BENCH_VENDOR, false, 200, "{\"status\":1,\"request\":\"77\"}", BENCH_PENDING, "77"},
    {BENCH_VENDOR, true, 200, "{\"status\":1,\"request\":\"TOKEN\"}", BENCH_SOLVED, ""},
    {BENCH_VENDOR, true, 200, "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}", BENCH_PENDING, ""},
    {BENCH_VENDOR, true, 200, "{\"status\":0,\"request\":\"ERROR_X\"}", BENCH_FAILED, "ERROR_X"},
    {BENCH_VENDOR, false, 200, "{\"status\":0,\"request\":7}", BENCH_FAILED, "bench_bad_reply"},
    {BENCH_CREATETASK, false, 200, "{\"errorId\":0,\"taskId\":9}", BENCH_PENDING, "9"},
    {BENCH_CREATETASK, false, 200, "{\"errorId\":0,\"taskId\":9,\"status\":\"ready\"}",
     BENCH_SOLVED, ""},
    {BENCH_CREATETASK, true, 200, "{\"errorId\":0,\"status\":\"processing\"}", BENCH_PENDING, ""},
    {BENCH_CREATETASK, true, 200, "{\"errorId\":0,\"status\":\"ready\"}", BENCH_SOLVED, ""},
    {BENCH_CREATETASK, true, 200, "{\"errorId\":12,\"errorCode\":\"ERROR_Y\"}", BENCH_FAILED,
     "ERROR_Y"},
};

static void replies_are_understood_in_every_dialect(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        const struct bench_plan plan = {.dialect = replies[i].dialect, .method = "turnstile"};
        const struct bench_talk talk = {.plan = &plan, .key = KEY};
        struct bench_heard heard = {.code = ""};
        bench_talk_hear(&talk, replies[i].is_look, replies[i].status, slice_from(replies[i].body),
                        &heard);
        assert_int_equal(heard.news, replies[i].news);
        assert_string_equal(heard.news == BENCH_FAILED ? heard.code : heard.id, replies[i].text);
        assert_int_equal(heard.source, i == 0 ? SOURCE_DEDUP_WAIT : -1);
    }
}

/* ---- counting ---------------------------------------------------------------------------- */

static void codes_beyond_the_limit_are_counted_together(void **state)
{
    struct bench_tally *tally = bench_tally_new();
    uint64_t sum = 0;
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        const char code[] = {'E', (char)('A' + i / 10), (char)('0' + i % 10), '\0'};
        bench_tally_failed(tally, 0, code);
    }
    bench_tally_sort(tally);
    assert_int_equal(tally->code_count, BENCH_CODES_MAX);
    assert_string_equal(tally->codes[0].code, "other");
    for (size_t i = 0; i < tally->code_count; i++)
        sum += tally->codes[i].count;
    assert_int_equal(sum, 100);
    assert_int_equal(tally->failed, 100);
    bench_tally_free(tally);
}

static void a_long_run_keeps_its_curve_in_coarser_intervals(void **state)
{
    struct bench_tally *tally = bench_tally_new();
    uint64_t solved = 0;
    (void)state;
    for (unsigned second = 0; second < 4000; second++) {
        bench_tally_sent(tally, 0, 0);
        bench_tally_solved(tally, 0, 1000, SOURCE_API);
        bench_tally_second(tally, 3);
    }
    assert_int_equal(tally->interval_s, 8);
    assert_int_equal(tally->interval_count, 500);
    for (size_t i = 0; i < tally->interval_count; i++)
        solved += tally->intervals[i].solved;
    assert_int_equal(solved, 4000);
    assert_int_equal(tally->solved, 4000);
    bench_tally_free(tally);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dialect_asks_in_its_own_words),
        cmocka_unit_test(what_the_caller_gives_is_passed_on),
        cmocka_unit_test(a_proxy_is_made_up_where_one_is_demanded),
        cmocka_unit_test(images_differ_by_target_only),
        cmocka_unit_test(a_look_names_the_request),
        cmocka_unit_test(replies_are_understood_in_every_dialect),
        cmocka_unit_test(codes_beyond_the_limit_are_counted_together),
        cmocka_unit_test(a_long_run_keeps_its_curve_in_coarser_intervals),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
