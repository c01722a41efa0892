/* Answers of any bytes, length and depth: delivered, kept for a person to look at, or asked for again. */
#include "vendor_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_solution_may_have_any_bytes(void **state)
{
    (void)state;
    assert_solved("OK|a\x01z", "a\x01z", NULL);
    assert_solved("OK|a\x7fz", "a\x7fz", NULL);
    assert_solved("OK|\xff\xfe", "\xff\xfe", NULL);
    assert_solved("{\"status\":1,\"request\":\"a\\nb\"}", "a\nb", NULL);
    assert_solved("{\"status\":1,\"request\":\"a\x01\nb\"}", "a\x01\nb", NULL);
    assert_solved("{\"status\":1,\"request\":\"\xc3(\",\"b\":\"\xff\"}", "\xc3(",
                  "{\"b\":\"\xff\"}");
    const struct vendor_result result = read_with(
        false, &PLAIN, reply_of(200, SLICE_OF("{\"status\":1,\"request\":\"a\\u0000b\"}")));
    assert_true(slice_equals(blob_slice(result.text), SLICE_OF("a\0b")));
    drop(&result);
}

static void assert_kept(struct vendor_reply reply, const char *code)
{
    const struct vendor_result result = read_with(false, &PLAIN, reply);
    assert_int_equal(result.outcome, OUTCOME_UNDELIVERABLE);
    assert_int_equal(result.class, CLASS_UNKNOWN);
    assert_string_equal(result.code, code);
    assert_true(slice_equals(blob_slice(result.text), reply.body));
    assert_null(result.extra);
    drop(&result);
}

static void what_holds_no_answer_is_kept_as_it_came(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "OK|",
        "{\"status\":1}",
        "{\"status\":1,\"request\":\"\"}",
        "{\"status\":1,\"request\":null}",
        "{\"status\":1,\"request\":\"\",\"result\":\"\"}",
        /* Said twice. */
        "{\"status\":1,\"request\":\"a\",\"request\":\"b\"}",
        "{\"status\":1,\"result\":\"a\",\"result\":\"a\"}",
        "{\"status\":1,\"status\":\"1\",\"request\":\"a\"}",
        /* Escapes that stand for nothing. */
        "{\"status\":1,\"request\":\"a\\ud800\"}",
        "{\"status\":1,\"request\":\"\\udc00\\ud800\"}",
        "{\"request\":\"\\u12\",\"status\":true}",
        "{\"status\":\"1\",\"request\":\"a\\qb\"}",
        "{\"challenge\":\"\\ud800\",\"validate\":\"b\",\"seccode\":\"c\"}",
        "{\"lot_number\":\"\\ud800\",\"pass_token\":\"b\",\"captcha_output\":\"c\"}",
        /* Other things that no parser takes. */
        "{\"status\":1,\"request\":\"a\",}",
        "{\"status\" : 1 , \"request\":NaN}<br>Warning",
        "{\"status\":1,\"request\":\"he said \"hi\" there\"}",
        "{\"status\":1,\"request\":\"a\"b\"} \n",
        "{\"status\":1,\"request\":{\"a\" \"b\"}}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_kept(reply_of(200, slice_from(bodies[i])), "ERROR_BAD_SOLUTION");
}

static void a_broken_reply_that_says_no_yes_is_asked_again(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"status\":1,\"status\":0,\"request\":\"a\"}",
        "{\"status\":0,\"request\":\"\\ud800\"}",
        "{\"status\":2,\"request\":\"\\ud800\"}",
        "{\"status\":[1],\"request\":\"\\ud800\"}",
        "{\"request\":\"\\ud800\"}",
        "{\"request\":{\"status\":1,\"a\":\"\\ud800\"}}",
        "{\"request\":\"status\",1:\"\\ud800\"}",
        "{\"challenge\":\"\\ud800\",\"validate\":\"b\",\"seccode\":1}",
        "[{\"status\":1,\"request\":\"\\ud800\"}]",
        /* What was cut, although the transport did not notice. */
        "{\"status\":1,\"request\":\"\\ud800",
        "{\"status\":1,\"request\":\"\\ud800\"",
        "{\"status\":1,\"request\":\"a}",
        "{\"status\":1,\"request\":{\"a\":\"\\ud800\"}",
        "{\"status\":1,\"request\":\"{\\\"a\\\"}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_poll(bodies[i], 200, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UNKNOWN_REPLY");
    static const char yes[] = "{\"status\":1,\"request\":\"\\ud800\"}";
    assert_poll(yes, 404, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UPSTREAM_HTTP_404");
    struct vendor_reply broken_off = reply_of(200, slice_from(yes));
    broken_off.is_complete = false;
    assert_int_equal(read_with(false, &PLAIN, broken_off).outcome, OUTCOME_UNHEARD);
}

/* An answer whose arrays nest that deep, the reply's own object not counted. */
static struct vendor_reply reply_of_depth(struct buf *body, size_t depth)
{
    buf_reset(body);
    buf_add(body, SLICE_OF("{\"status\":1,\"request\":"));
    for (size_t i = 0; i < depth; i++)
        buf_add_char(body, '[');
    for (size_t i = 0; i < depth; i++)
        buf_add_char(body, ']');
    buf_add_char(body, '}');
    return reply_of(200, buf_slice(body));
}

static void a_solution_is_delivered_as_deep_as_callers_can_read_and_kept_beyond(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, 1 << 20);
    const struct vendor_result result = read_with(false, &PLAIN, reply_of_depth(&body, 63));
    assert_int_equal(result.outcome, OUTCOME_SOLVED);
    assert_int_equal(result.text->len, 2 * 63);
    drop(&result);
    assert_kept(reply_of_depth(&body, 64), "ERROR_BAD_SOLUTION");
    assert_kept(reply_of_depth(&body, 200000), "ERROR_SOLUTION_TOO_LARGE");
    buf_close(&body);
}

/* The depth is judged before a long reply is parsed, but only that of the reply itself. */
static void what_follows_a_long_reply_may_be_of_any_depth(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, 1 << 20);
    buf_add(&body, SLICE_OF("{\"status\":1,\"request\":\""));
    for (int i = 0; i < 20000; i++)
        buf_add_char(&body, '[');
    buf_add(&body, SLICE_OF("\"}"));
    for (int i = 0; i < 100; i++)
        buf_add_char(&body, '[');
    const struct vendor_result result = read_with(false, &PLAIN, reply_of(200, buf_slice(&body)));
    assert_int_equal(result.outcome, OUTCOME_SOLVED);
    assert_int_equal(result.text->len, 20000);
    drop(&result);
    buf_close(&body);
}

static void a_solution_has_at_most_64_kib(void **state)
{
    (void)state;
    for (size_t len = 65536; len <= 65537; len++) {
        struct buf body;
        buf_init(&body, 1 << 20);
        buf_add(&body, SLICE_OF("{\"status\":1,\"request\":\""));
        for (size_t i = 0; i < len; i++)
            buf_add(&body, SLICE_OF("\\u0001"));
        buf_add(&body, SLICE_OF("\"}"));
        assert_true(body.len <= VENDOR_REPLY_MAX_BYTES);
        const struct vendor_reply reply = reply_of(200, buf_slice(&body));
        if (len == 65537)
            assert_kept(reply, "ERROR_SOLUTION_TOO_LARGE");
        const struct vendor_result result = read_with(false, &PLAIN, reply);
        assert_true((result.outcome == OUTCOME_SOLVED) == (len == 65536));
        drop(&result);
        buf_close(&body);
    }
}

/* A reply with so many bytes of members besides its answer. */
static struct vendor_reply reply_with_rest(struct buf *body, const char *answer, size_t rest)
{
    const size_t braces = strlen("{\"cookies\":\"\"}");
    buf_reset(body);
    buf_addf(body, "{\"status\":1,%s,\"cookies\":\"", answer);
    for (size_t i = braces; i < rest; i++)
        buf_add_char(body, 'c');
    buf_add(body, SLICE_OF("\"}"));
    return reply_of(200, buf_slice(body));
}

static void what_comes_besides_a_solution_has_at_most_64_kib_too(void **state)
{
    (void)state;
    static const char *const answers[] = {"\"request\":\"TOK\"", "\"result\":\"TOK\"",
                                          "\"request\":{\"a\":1}"};
    struct buf body;
    buf_init(&body, 1 << 20);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct vendor_reply most = reply_with_rest(&body, answers[i], 65536);
        const struct vendor_result result = read_with(false, &PLAIN, most);
        assert_int_equal(result.outcome, OUTCOME_SOLVED);
        assert_true(result.extra->len >= 65536);
        drop(&result);
        assert_kept(reply_with_rest(&body, answers[i], 65537), "ERROR_SOLUTION_TOO_LARGE");
    }
    buf_close(&body);
}

/* The answer itself is no rest, wherever it stands. */
static void an_answer_in_result_has_its_own_64_kib(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, 1 << 20);
    buf_add(&body, SLICE_OF("{\"status\":1,\"user_agent\":\"UA\",\"result\":\""));
    for (size_t i = 0; i < 65536; i++)
        buf_add_char(&body, 't');
    buf_add(&body, SLICE_OF("\"}"));
    const struct vendor_result result = read_with(false, &PLAIN, reply_of(200, buf_slice(&body)));
    assert_int_equal(result.outcome, OUTCOME_SOLVED);
    assert_int_equal(result.text->len, 65536);
    drop(&result);
    buf_close(&body);
}

static void what_was_cut_off_for_its_length_is_an_answer_unless_it_says_no(void **state)
{
    (void)state;
    static const char *const answers[] = {"OK|aaaa", "{\"status\":1,\"request\":\"aaaa",
                                          "{\"request\":\"aaaa"};
    static const char *const others[] = {"<html>", "ERROR_PAGEURL",
                                         "{\"status\":0,\"request\":\"ERROR_PAGEURL\",\"x\":\"aaa"};
    for (size_t i = 0; i < 3; i++) {
        struct vendor_reply reply = reply_of(200, slice_from(answers[i]));
        reply.is_too_big = true;
        reply.is_complete = false;
        assert_kept(reply, "ERROR_SOLUTION_TOO_LARGE");
        reply.http_status = 404;
        assert_int_equal(read_with(false, &PLAIN, reply).outcome, OUTCOME_UNHEARD);
        reply = reply_of(200, slice_from(others[i]));
        reply.is_too_big = true;
        reply.is_complete = false;
        assert_int_equal(read_with(false, &PLAIN, reply).outcome, OUTCOME_UNHEARD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solution_may_have_any_bytes),
        cmocka_unit_test(what_holds_no_answer_is_kept_as_it_came),
        cmocka_unit_test(a_broken_reply_that_says_no_yes_is_asked_again),
        cmocka_unit_test(a_solution_is_delivered_as_deep_as_callers_can_read_and_kept_beyond),
        cmocka_unit_test(what_follows_a_long_reply_may_be_of_any_depth),
        cmocka_unit_test(a_solution_has_at_most_64_kib),
        cmocka_unit_test(what_comes_besides_a_solution_has_at_most_64_kib_too),
        cmocka_unit_test(an_answer_in_result_has_its_own_64_kib),
        cmocka_unit_test(what_was_cut_off_for_its_length_is_an_answer_unless_it_says_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
