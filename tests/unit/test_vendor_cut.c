#include "seed.h"

#include "base/rand.h"
#include "proto/vendor.h"
#include "proto/vendor_date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct vendor_options PLAIN = {.override_count = 0};

/* 2026-11-16 05:00:00 GMT */
#define NOW_MS INT64_C(1794805200000)

static const char *const REPLIES[] = {
    "{\"status\":1,\"request\":\"2122988149\"}",
    "{\"request\":\"2122988149\",\"status\":1}",
    "{\"status\":1,\"request\":5259922783}",
    "{\"status\":1,\"request\":5259922783,\"x\":1}",
    "{\"status\":\"1\",\"request\":\"00000000000000123456789\",\"error_text\":\"\"}",
    "{\"status\":0,\"request\":\"ERROR_NO_SLOT_AVAILABLE\"}",
    "{\"status\":0,\"request\":\"ERROR_CAPTCHA_UNSOLVABLE\",\"error_text\":\"Workers gave up\"}",
    "{\"status\":1,\"result\":\"tok\",\"user_agent\":\"Mozilla \\\"5\\\"\"}",
    "{\"challenge\":\"a\",\"validate\":\"b\",\"seccode\":\"c\"}",
    "{\"status\":1,\"request\":{\"a\":[1,2,{\"b\":null}]}}",
    "{\"threads\":\"5\",\"working_threads\":0}",
    "OK|2122988149",
    "ERROR_PAGEURL",
    "CAPCHA_NOT_READY",
    "<html><body><h1>502 Bad Gateway</h1></body></html>",
};
#define REPLY_COUNT (sizeof(REPLIES) / sizeof(REPLIES[0]))

static struct vendor_result read_cut(bool is_submit, struct slice whole, size_t len,
                                     bool is_complete)
{
    struct vendor_result result = {.attempt = 1};
    char *exact = malloc(len + (len == 0));
    assert_non_null(exact);
    memcpy(exact, whole.data, len);
    const struct vendor_reply reply = {
        .is_sent = true,
        .is_complete = is_complete,
        .http_status = 200,
        .body = {.data = exact, .len = len},
    };
    if (is_submit)
        vendor_read_submit(&PLAIN, &reply, &result);
    else
        vendor_read_poll(&PLAIN, &reply, &result);
    free(exact);
    blob_unref(result.text);
    blob_unref(result.extra);
    return result;
}

/* ---- replies cut short --------------------------------------------------------------------- */

static void a_cut_submit_reply_yields_the_right_id_or_is_ambiguous(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLY_COUNT; i++) {
        const struct slice whole = slice_from(REPLIES[i]);
        const struct vendor_result truth = read_cut(true, whole, whole.len, true);
        for (size_t len = 0; len < whole.len; len++) {
            const struct vendor_result result = read_cut(true, whole, len, false);
            if (result.outcome == OUTCOME_ACCEPTED) {
                assert_int_equal(truth.outcome, OUTCOME_ACCEPTED);
                assert_string_equal(result.task_id, truth.task_id);
            } else {
                assert_int_equal(result.outcome, OUTCOME_AMBIGUOUS);
                assert_int_equal(result.class, CLASS_AMBIGUOUS);
                assert_string_equal(result.task_id, "");
            }
        }
    }
}

static void a_cut_poll_reply_is_asked_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLY_COUNT; i++) {
        const struct slice whole = slice_from(REPLIES[i]);
        for (size_t len = 0; len < whole.len; len++)
            assert_int_equal(read_cut(false, whole, len, false).outcome, OUTCOME_UNHEARD);
    }
}

/* Where a connection simply ends after the body, nobody can see that text is missing. */
static void cut_json_is_noticed_even_when_the_transport_did_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < REPLY_COUNT; i++) {
        const struct slice whole = slice_from(REPLIES[i]);
        if (whole.data[0] != '{')
            continue;
        for (size_t len = 0; len < whole.len; len++)
            assert_int_equal(read_cut(false, whole, len, true).outcome, OUTCOME_UNHEARD);
    }
}

static void an_id_is_whole_once_its_quote_is_closed(void **state)
{
    (void)state;
    const struct slice whole = slice_from(REPLIES[0]);
    const size_t without_brace = whole.len - 1;
    assert_int_equal(read_cut(true, whole, without_brace, false).outcome, OUTCOME_ACCEPTED);
    assert_int_equal(read_cut(true, whole, without_brace - 1, false).outcome, OUTCOME_AMBIGUOUS);
    /* A number could go on, and a comma behind it does not help: only strings are unmistakable. */
    const struct slice number = slice_from(REPLIES[3]);
    assert_int_equal(read_cut(true, number, number.len - 1, false).outcome, OUTCOME_AMBIGUOUS);
    /* Without its status an id might as well be an error's. */
    const struct slice late_status = slice_from(REPLIES[1]);
    assert_int_equal(read_cut(true, late_status, late_status.len - 1, false).outcome,
                     OUTCOME_AMBIGUOUS);
}

static void a_whole_reply_counts_even_if_the_connection_broke_behind_it(void **state)
{
    (void)state;
    const struct slice accepted = slice_from(REPLIES[0]);
    const struct slice refused = slice_from(REPLIES[5]);
    assert_int_equal(read_cut(true, accepted, accepted.len, false).outcome, OUTCOME_ACCEPTED);
    assert_int_equal(read_cut(true, refused, refused.len, false).outcome, OUTCOME_REJECTED);
    assert_int_equal(read_cut(false, accepted, accepted.len, false).outcome, OUTCOME_SOLVED);
}

static void random_bytes_never_break_anything(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    for (int round = 0; round < 20000; round++) {
        char bytes[96];
        const char *base = REPLIES[rand_below(&rand, REPLY_COUNT)];
        size_t len = strlen(base) < sizeof(bytes) ? strlen(base) : sizeof(bytes);
        memcpy(bytes, base, len);
        for (uint64_t hits = rand_below(&rand, 6); hits > 0 && len > 0; hits--)
            bytes[rand_below(&rand, len)] = (char)rand_below(&rand, 256);
        len -= rand_below(&rand, 3) == 0 ? rand_below(&rand, len + 1) : 0;
        const struct slice body = {.data = bytes, .len = len};
        const struct vendor_result submit = read_cut(true, body, len, rand_below(&rand, 2) == 0);
        const struct vendor_result poll = read_cut(false, body, len, rand_below(&rand, 2) == 0);
        assert_true(submit.outcome == OUTCOME_ACCEPTED || submit.outcome == OUTCOME_REJECTED ||
                    submit.outcome == OUTCOME_AMBIGUOUS);
        assert_true(poll.outcome == OUTCOME_PENDING || poll.outcome == OUTCOME_SOLVED ||
                    poll.outcome == OUTCOME_FAILED || poll.outcome == OUTCOME_UNHEARD ||
                    poll.outcome == OUTCOME_UNDELIVERABLE);
        assert_true(strlen(submit.code) < ERROR_CODE_MAX);
    }
}

static void a_reply_of_64_kib_of_brackets_is_harmless(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, 65536);
    buf_add(&body, SLICE_OF("{\"status\":1,\"request\":"));
    while (!body.is_full)
        buf_add_char(&body, '[');
    assert_int_equal(read_cut(false, buf_slice(&body), body.len, false).outcome, OUTCOME_UNHEARD);
    assert_int_equal(read_cut(true, buf_slice(&body), body.len, false).outcome, OUTCOME_AMBIGUOUS);
    buf_close(&body);
}

/* ---- callbacks ----------------------------------------------------------------------------- */

static void assert_callback(const char *id, const char *code, enum outcome outcome,
                            enum error_class class, const char *word, const char *task_id)
{
    struct vendor_result result = {.attempt = 3, .caller = 4};
    vendor_read_callback(&PLAIN, slice_from(id), slice_from(code), &result);
    assert_int_equal(result.outcome, outcome);
    assert_int_equal(result.class, class);
    assert_string_equal(result.code, word);
    assert_string_equal(result.task_id, task_id);
    assert_int_equal(result.attempt, 3);
    assert_int_equal(result.caller, 4);
    if (outcome == OUTCOME_SOLVED)
        assert_string_equal(result.text->data, code);
    blob_unref(result.text);
}

static void callbacks_bring_solutions_and_failures(void **state)
{
    (void)state;
    assert_callback("12", "token", OUTCOME_SOLVED, CLASS_NONE, "", "12");
    assert_callback(NULL, "token", OUTCOME_SOLVED, CLASS_NONE, "", "");
    assert_callback("", "token", OUTCOME_SOLVED, CLASS_NONE, "", "");
    assert_callback("../x", "token", OUTCOME_SOLVED, CLASS_NONE, "", "");
    assert_callback("12", "ERROR_CAPTCHA_UNSOLVABLE", OUTCOME_FAILED, CLASS_UNSOLVABLE,
                    "ERROR_CAPTCHA_UNSOLVABLE", "12");
    assert_callback("12", "ERROR_BRAND_NEW", OUTCOME_FAILED, CLASS_UNKNOWN, "ERROR_BRAND_NEW",
                    "12");
    assert_callback("12", "ERROR_WRONG_CAPTCHA_ID", OUTCOME_FAILED, CLASS_UNKNOWN,
                    "ERROR_WRONG_CAPTCHA_ID", "12");
    assert_callback("12", "CAPCHA_NOT_READY", OUTCOME_PENDING, CLASS_PENDING, "CAPCHA_NOT_READY",
                    "12");
    assert_callback("12", "", OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_BAD_SOLUTION", "12");
    assert_callback("12", NULL, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_BAD_SOLUTION", "12");
    assert_callback("12", "a\nb", OUTCOME_SOLVED, CLASS_NONE, "", "12");
    assert_callback("12", "\xff", OUTCOME_SOLVED, CLASS_NONE, "", "12");
}

/* ---- probes -------------------------------------------------------------------------------- */

static struct probed probe_with(enum probe probe, long status, const char *body)
{
    const struct vendor_reply reply = {
        .is_sent = true, .is_complete = true, .http_status = status, .body = slice_from(body)};
    struct probed probed;
    vendor_read_probe(&PLAIN, &reply, probe, &probed);
    assert_int_equal(probed.probe, probe);
    return probed;
}

static void assert_threads(const char *body, uint32_t threads, uint32_t working)
{
    const struct probed probed = probe_with(PROBE_THREADS, 200, body);
    assert_true(probed.is_ok && probed.has_threads);
    assert_int_equal(probed.threads, threads);
    assert_int_equal(probed.working_threads, working);
}

static void threads_are_numbers_or_strings(void **state)
{
    (void)state;
    assert_threads("{\"threads\":\"5\",\"working_threads\":0}", 5, 0);
    assert_threads("{\"threads\":50,\"working_threads\":\"49\"}", 50, 49);
    assert_threads("{\"status\":1,\"threads\":7}", 7, 0);
    assert_threads("{\"status\":1,\"request\":{\"threads\":3,\"working_threads\":2}}", 3, 2);
    assert_false(probe_with(PROBE_THREADS, 200, "{\"threads\":-1}").is_ok);
    assert_false(probe_with(PROBE_THREADS, 200, "{\"threads\":99999999999}").is_ok);
    assert_false(probe_with(PROBE_THREADS, 200, "{\"threads\":null}").is_ok);
    assert_false(probe_with(PROBE_THREADS, 200, "12.5").is_ok);
    assert_false(probe_with(PROBE_THREADS, 500, "{\"threads\":5}").is_ok);
}

static void balances_are_plain_or_json(void **state)
{
    (void)state;
    assert_string_equal(probe_with(PROBE_BALANCE, 200, "1.234\n").balance, "1.234");
    assert_string_equal(probe_with(PROBE_BALANCE, 200, "OK|1.5").balance, "1.5");
    assert_string_equal(
        probe_with(PROBE_BALANCE, 200, "{\"status\":1,\"request\":\"600\"}").balance, "600");
    assert_string_equal(probe_with(PROBE_BALANCE, 200, "{\"status\":1,\"request\":10.00}").balance,
                        "10.00");
    assert_string_equal(probe_with(PROBE_BALANCE, 200, "-0.5").balance, "-0.5");
    static const char *const bad[] = {"",
                                      "<html>",
                                      "....",
                                      "12; DROP TABLE",
                                      "{\"status\":1}",
                                      "{\"balance\":5}",
                                      "{\"status\":1,\"request\":\"\\u00005\"}",
                                      "11111111111111111111111111111111111111"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(probe_with(PROBE_BALANCE, 200, bad[i]).is_ok);
}

static void a_probe_that_fails_says_why(void **state)
{
    (void)state;
    struct probed probed = probe_with(PROBE_BALANCE, 200, "ERROR_KEY_DOES_NOT_EXIST");
    assert_false(probed.is_ok);
    assert_int_equal(probed.class, CLASS_ACCOUNT);
    assert_string_equal(probed.code, "ERROR_KEY_DOES_NOT_EXIST");
    probed = probe_with(PROBE_THREADS, 429, "");
    assert_int_equal(probed.class, CLASS_BUSY);
    probed = probe_with(PROBE_THREADS, 503, "<html>");
    assert_int_equal(probed.class, CLASS_TRANSIENT);
    assert_string_equal(probed.code, "ERROR_UPSTREAM_HTTP_503");
    const struct vendor_reply unsent = {.is_sent = false};
    vendor_read_probe(&PLAIN, &unsent, PROBE_THREADS, &probed);
    assert_false(probed.is_ok);
    assert_string_equal(probed.code, "ERROR_UPSTREAM_UNREACHABLE");
}

/* ---- Retry-After --------------------------------------------------------------------------- */

static void assert_wait(const char *value, uint32_t expected_ms)
{
    assert_int_equal(vendor_retry_after_ms(slice_from(value), NOW_MS, 60000), expected_ms);
}

static void retry_after_is_seconds_or_a_date_in_three_forms(void **state)
{
    (void)state;
    assert_wait("0", 0);
    assert_wait("7", 7000);
    assert_wait(" 59 ", 59000);
    assert_wait("Mon, 16 Nov 2026 05:00:30 GMT", 30000);
    assert_wait("Monday, 16-Nov-26 05:00:30 GMT", 30000);
    assert_wait("Mon Nov 16 05:00:30 2026", 30000);
    assert_wait("Mon, 16 Nov 2026 04:59:59 GMT", 0);
    assert_wait("Sun, 06 Nov 1994 08:49:37 GMT", 0);
}

static void retry_after_is_capped(void **state)
{
    (void)state;
    assert_wait("60", 60000);
    assert_wait("61", 60000);
    assert_wait("315360000", 60000);
    assert_wait("99999999999999999999999999", 60000);
    assert_wait("Sat, 16 Nov 2036 05:00:00 GMT", 60000);
    assert_wait("Fri, 31 Dec 9999 23:59:59 GMT", 60000);
}

static void nonsense_in_retry_after_counts_as_not_said(void **state)
{
    (void)state;
    static const char *const rows[] = {NULL,
                                       "",
                                       " ",
                                       "-5",
                                       "1.5",
                                       "soon",
                                       "7 seconds",
                                       "Mon, 16 Nov",
                                       "Mon, 16 Now 2026 05:00:30 GMT",
                                       "Mon, 99 Nov 2026 05:00:30 GMT",
                                       "Mon, 16 Nov 2026 25:00:30 GMT",
                                       "Mon, 16 Nov 2026 05:61:30 GMT",
                                       "Mon, 16 Nov 2026",
                                       ":",
                                       ",,,",
                                       "0x10"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_wait(rows[i], 0);
    /* Every cut of a date is nonsense or a date; reading past its end is what this looks for. */
    const struct slice date = SLICE_OF("Mon, 16 Nov 2026 05:00:30 GMT");
    for (size_t len = 0; len < date.len; len++) {
        char *exact = malloc(len + (len == 0));
        assert_non_null(exact);
        memcpy(exact, date.data, len);
        const uint32_t wait_ms =
            vendor_retry_after_ms((struct slice){.data = exact, .len = len}, NOW_MS, 60000);
        assert_true(wait_ms <= 60000);
        free(exact);
    }
}

static void the_calendar_knows_leap_years(void **state)
{
    (void)state;
    /* 2028-02-29 00:00:00 is 1835395200 s after 1970, 2028-03-01 is a day later. */
    const int64_t before_ms = INT64_C(1835395200000) - 5000;
    assert_int_equal(
        vendor_retry_after_ms(SLICE_OF("Tue, 29 Feb 2028 00:00:00 GMT"), before_ms, 60000), 5000);
    assert_int_equal(vendor_retry_after_ms(SLICE_OF("Wed, 01 Mar 2028 00:00:00 GMT"),
                                           before_ms + 86400000, 60000),
                     5000);
    assert_int_equal(vendor_retry_after_ms(SLICE_OF("Thu, 01 Jan 1970 00:00:05 GMT"), 0, 60000),
                     5000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_submit_reply_yields_the_right_id_or_is_ambiguous),
        cmocka_unit_test(a_cut_poll_reply_is_asked_again),
        cmocka_unit_test(cut_json_is_noticed_even_when_the_transport_did_not),
        cmocka_unit_test(an_id_is_whole_once_its_quote_is_closed),
        cmocka_unit_test(a_whole_reply_counts_even_if_the_connection_broke_behind_it),
        cmocka_unit_test(random_bytes_never_break_anything),
        cmocka_unit_test(a_reply_of_64_kib_of_brackets_is_harmless),
        cmocka_unit_test(callbacks_bring_solutions_and_failures),
        cmocka_unit_test(threads_are_numbers_or_strings),
        cmocka_unit_test(balances_are_plain_or_json),
        cmocka_unit_test(a_probe_that_fails_says_why),
        cmocka_unit_test(retry_after_is_seconds_or_a_date_in_three_forms),
        cmocka_unit_test(retry_after_is_capped),
        cmocka_unit_test(nonsense_in_retry_after_counts_as_not_said),
        cmocka_unit_test(the_calendar_knows_leap_years),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
