#include "seed.h"
#include "vendor_world.h"

#include "proto/vendor_errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_submit(const char *body, long status, enum outcome outcome,
                          enum error_class class, const char *code, const char *task_id)
{
    const struct vendor_result result = read_with(true, &PLAIN, reply_of(status, slice_from(body)));
    assert_int_equal(result.outcome, outcome);
    assert_int_equal(result.class, class);
    assert_string_equal(result.code, code);
    assert_string_equal(result.task_id, task_id);
    drop(&result);
}

/* ---- submit -------------------------------------------------------------------------------- */

static void accepted_ids_come_in_every_spelling(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"OK|2122988149", "2122988149"},
        {"  OK|2122988149\r\n", "2122988149"},
        {"\xEF\xBB\xBFOK|2122988149", "2122988149"},
        {"{\"status\":1,\"request\":\"2122988149\"}", "2122988149"},
        {" {\"request\" : \"2122988149\" , \"status\" : 1 } \n", "2122988149"},
        {"{\"status\":\"1\",\"request\":\"2122988149\"}", "2122988149"},
        {"{\"status\":true,\"request\":\"2122988149\"}", "2122988149"},
        {"{\"status\":1,\"request\":5259922783}", "5259922783"},
        {"{\"status\":1,\"request\":9007199254740993}", "9007199254740993"},
        {"{\"status\":1,\"request\":18446744073709551615}", "18446744073709551615"},
        {"{\"status\":1,\"request\":123456789012345678901234567890}",
         "123456789012345678901234567890"},
        {"{\"status\":1,\"request\":\"00000000000000123456789\"}", "00000000000000123456789"},
        {"{\"status\":1,\"request\":\"a-B_9\",\"error_text\":null}", "a-B_9"},
        {"{\"status\":1,\"result\":\"77\"}", "77"},
        {"{\"status\":1,\"request\":\"77\"}<br>Warning: something in PHP", "77"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_submit(rows[i][0], 200, OUTCOME_ACCEPTED, CLASS_NONE, "", rows[i][1]);
}

static void an_accepted_task_without_a_usable_id_is_ambiguous(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "OK|",
        "OK|../../x",
        "OK|a b",
        "OK|1|2",
        "OK|1\x01",
        "OK|%2e",
        "OK|12345678901234567890123456789012345678901234567890123456789012345",
        "{\"status\":1,\"request\":\"\"}",
        "{\"status\":1,\"request\":-5}",
        "{\"status\":1,\"request\":1e5}",
        "{\"status\":1,\"request\":1.5}",
        "{\"status\":1,\"request\":\"1\\u0000\"}",
        "{\"status\":1,\"request\":\"\\u00e9\"}",
        "{\"status\":1,\"request\":{\"id\":1}}",
        "{\"status\":1,\"request\":[1]}",
        "{\"status\":1,\"request\":true}",
        "{\"status\":1,\"request\":\"\xff\"}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_submit(bodies[i], 200, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_BAD_TASK_ID", "");
}

static void what_says_nothing_leaves_a_submit_ambiguous(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "",
        "   ",
        "<html><body>502</body></html>",
        "OK",
        "ok|123",
        "2122988149",
        "null",
        "[]",
        "{}",
        "{\"status\":1}",
        "{\"status\":0}",
        "{\"status\":2,\"request\":\"5\"}",
        "{\"status\":null,\"request\":\"5\"}",
        "{\"request\":\"5\"}",
        "{\"status\":1,\"request\":null}",
        "{\"status\":1,\"request\":\"1\",\"request\":\"2\"}",
        "{\"status\":1,\"status\":0,\"request\":\"1\"}",
        "SOMETHING_ELSE",
        "error_lower_case",
        "{\"challenge\":\"a\",\"validate\":\"b\",\"seccode\":\"c\"}",
        "{\"status\":1,\"request\":\"\\ud800\"}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_submit(bodies[i], 200, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UNKNOWN_REPLY",
                      "");
}

static void an_http_error_leaves_a_submit_ambiguous_unless_the_word_is_known(void **state)
{
    (void)state;
    static const char accepted[] = "{\"status\":1,\"request\":\"1\"}";
    assert_submit("<html>", 502, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UPSTREAM_HTTP_502", "");
    assert_submit(accepted, 500, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UPSTREAM_HTTP_500", "");
    assert_submit(accepted, 302, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UPSTREAM_HTTP_302", "");
    assert_submit("<html>", 404, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_UPSTREAM_HTTP_404", "");
    assert_submit("ERROR_NEVER_SEEN", 500, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "ERROR_NEVER_SEEN",
                  "");
    assert_submit("ERROR_SERVER_ERROR", 500, OUTCOME_REJECTED, CLASS_TRANSIENT,
                  "ERROR_SERVER_ERROR", "");
    assert_submit("{\"status\":0,\"request\":\"ERROR_PAGEURL\"}", 400, OUTCOME_REJECTED,
                  CLASS_CALLER, "ERROR_PAGEURL", "");
    assert_submit("<html>", 429, OUTCOME_REJECTED, CLASS_BUSY, "ERROR_TOO_MUCH_REQUESTS", "");
    assert_submit("CAPCHA_NOT_READY", 200, OUTCOME_AMBIGUOUS, CLASS_AMBIGUOUS, "CAPCHA_NOT_READY",
                  "");
}

static void refusals_that_nobody_listed_are_unknown(void **state)
{
    (void)state;
    assert_submit("ERROR_BRAND_NEW", 200, OUTCOME_REJECTED, CLASS_UNKNOWN, "ERROR_BRAND_NEW", "");
    assert_submit("ERROR: 1099", 200, OUTCOME_REJECTED, CLASS_UNKNOWN, "ERROR: 1099", "");
    assert_submit("{\"status\":0,\"request\":\"NEW_WORD\"}", 200, OUTCOME_REJECTED, CLASS_UNKNOWN,
                  "NEW_WORD", "");
    assert_submit("{\"status\":0,\"request\":\"<script>\"}", 200, OUTCOME_REJECTED, CLASS_UNKNOWN,
                  "ERROR_UNKNOWN_REPLY", "");
    assert_submit("{\"status\":0,\"request\":17}", 200, OUTCOME_REJECTED, CLASS_UNKNOWN, "17", "");
    assert_submit("{\"status\":0,\"error_text\":\"ERROR_PAGEURL\"}", 200, OUTCOME_REJECTED,
                  CLASS_CALLER, "ERROR_PAGEURL", "");
    assert_submit("{\"status\":0,\"request\":\"ERROR_PAGEURL\",\"error_text\":\"Say what?\"}", 200,
                  OUTCOME_REJECTED, CLASS_CALLER, "ERROR_PAGEURL", "");
    assert_submit(
        "{\"status\":0,\"request\":\"https://2captcha.com/blog/google-search-recaptcha\"}", 200,
        OUTCOME_REJECTED, CLASS_CALLER, "ERROR_UNKNOWN_REPLY", "");
}

static void every_row_of_the_error_table_rejects_a_submit_with_its_class(void **state)
{
    (void)state;
    size_t count = 0;
    const struct vendor_error *rows = vendor_errors(&count);
    assert_true(count > 40);
    for (size_t i = 0; i < count; i++) {
        char plain[ERROR_CODE_MAX], json[256];
        (void)snprintf(plain, sizeof(plain), "%.*s", (int)rows[i].code.len, rows[i].code.data);
        (void)snprintf(json, sizeof(json), "{\"status\":0,\"request\":\"%s\"}", plain);
        assert_int_equal(vendor_classify(&PLAIN, rows[i].code), rows[i].class);
        const char *const bodies[] = {plain, json};
        for (size_t form = 0; form < 2; form++) {
            const struct vendor_result result =
                read_with(true, &PLAIN, reply_of(200, slice_from(bodies[form])));
            const bool is_pending = rows[i].class == CLASS_PENDING;
            assert_int_equal(result.outcome, is_pending ? OUTCOME_AMBIGUOUS : OUTCOME_REJECTED);
            assert_int_equal(result.class, is_pending ? CLASS_AMBIGUOUS : rows[i].class);
            assert_int_equal(result.retry_after_ms, rows[i].wait_ms);
            if (vendor_is_code(rows[i].code))
                assert_string_equal(result.code, plain);
            for (size_t j = 0; j < i; j++)
                assert_false(slice_equals(rows[i].code, rows[j].code));
        }
    }
}

static void what_never_left_us_is_proven_not_sent(void **state)
{
    (void)state;
    const struct vendor_reply nothing = {.is_sent = false};
    struct vendor_result result = read_with(true, &PLAIN, nothing);
    assert_int_equal(result.outcome, OUTCOME_NOT_SENT);
    assert_int_equal(result.class, CLASS_TRANSIENT);
    assert_string_equal(result.code, "ERROR_UPSTREAM_UNREACHABLE");
    result = read_with(false, &PLAIN, nothing);
    assert_int_equal(result.outcome, OUTCOME_UNHEARD);
    assert_int_equal(result.class, CLASS_TRANSIENT);
}

static void a_reply_that_was_lost_is_ambiguous(void **state)
{
    (void)state;
    const struct vendor_reply lost = {.is_sent = true};
    const struct vendor_result result = read_with(true, &PLAIN, lost);
    assert_int_equal(result.outcome, OUTCOME_AMBIGUOUS);
    assert_int_equal(result.class, CLASS_AMBIGUOUS);
    assert_string_equal(result.code, "ERROR_UPSTREAM_NO_REPLY");
}

/* ---- poll ---------------------------------------------------------------------------------- */

static void solutions_come_in_every_shape(void **state)
{
    (void)state;
    assert_solved("OK|token", "token", NULL);
    assert_solved("OK|a|b", "a|b", NULL);
    assert_solved("{\"status\":1,\"request\":\"token\"}", "token", NULL);
    assert_solved("{\"status\":\"1\",\"request\":\"gr\xc3\xbc\xc3\x9f\"}", "gr\xc3\xbc\xc3\x9f",
                  NULL);
    assert_solved("{\"status\":1,\"request\":12345678901234567890}", "12345678901234567890",
                  "{\"request\":12345678901234567890}");
    assert_solved("{\"status\":1,\"result\":\"tok\",\"user_agent\":\"Moz\\/5\"}", "tok",
                  "{\"result\":\"tok\",\"user_agent\":\"Moz/5\"}");
    assert_solved(
        "{\"status\":1,\"request\":\"t\",\"price\":0.00299,\"n\":12345678901234567890123}", "t",
        "{\"price\":0.00299,\"n\":12345678901234567890123}");
    assert_solved("{\"status\":1,\"request\":{\"cookies\": {\"cf\":\"x\"}, \"n\": 1}}",
                  "{\"cookies\":{\"cf\":\"x\"},\"n\":1}",
                  "{\"request\":{\"cookies\":{\"cf\":\"x\"},\"n\":1}}");
    assert_solved("{\"status\":1,\"request\":[1, 4]}", "[1,4]", "{\"request\":[1,4]}");
    assert_solved("{\"status\":1,\"request\":true}", "true", "{\"request\":true}");
    assert_solved("{\"status\":1,\"request\":\"[1,4]\"}", "[1,4]", NULL);
    assert_solved("{\"status\":1,\"request\":\"t\",\"result\":\"other\"}", "t",
                  "{\"result\":\"other\"}");
    assert_solved("{\"status\":1,\"result\":[1],\"a\":2}", "[1]",
                  "{\"request\":[1],\"result\":[1],\"a\":2}");
    assert_solved("{\"status\":1,\"request\":\"t\"}<br>Warning: something in PHP", "t", NULL);
}

static void an_empty_request_hides_no_result(void **state)
{
    (void)state;
    assert_solved("{\"status\":1,\"request\":null,\"result\":\"tok\"}", "tok",
                  "{\"result\":\"tok\"}");
    assert_solved("{\"status\":1,\"request\":\"\",\"result\":\"tok\"}", "tok",
                  "{\"result\":\"tok\"}");
    assert_solved("{\"status\":1,\"request\":\"tok\",\"result\":null}", "tok", "{\"result\":null}");
}

#define V3 "{\"challenge\":\"a\",\"validate\":\"b\",\"seccode\":\"b|jordan\"}"
#define V4 "{\"lot_number\":\"a\",\"pass_token\":\"b\",\"captcha_output\":\"c\"}"
#define WITHOUT_BRACE(json) (json) + 1

static void answers_without_request_and_result_are_one_object(void **state)
{
    (void)state;
    char both[256];
    (void)snprintf(both, sizeof(both), "{\"request\":%s,%s", V3, WITHOUT_BRACE(V3));
    assert_solved(V3, "challenge:a,validate:b,seccode:b|jordan", both);
    (void)snprintf(both, sizeof(both), "{\"request\":%s,%s", V4, WITHOUT_BRACE(V4));
    assert_solved(V4, V4, both);
    assert_solved("{\"status\":1,\"cookies\":{\"cf\":\"x\"}}", "{\"cookies\":{\"cf\":\"x\"}}",
                  "{\"request\":{\"cookies\":{\"cf\":\"x\"}},\"cookies\":{\"cf\":\"x\"}}");
}

static void points_are_written_in_text_as_the_vendor_writes_them(void **state)
{
    (void)state;
    assert_solved("{\"status\":1,\"request\":[{\"x\":\"39\",\"y\":\"59\"},{\"x\":252,\"y\":72}]}",
                  "coordinates:x=39,y=59;x=252,y=72",
                  "{\"request\":[{\"x\":\"39\",\"y\":\"59\"},{\"x\":252,\"y\":72}]}");
    assert_solved("{\"status\":1,\"request\":[]}", "[]", "{\"request\":[]}");
    assert_solved("{\"status\":1,\"request\":[{\"x\":1,\"z\":2}]}", "[{\"x\":1,\"z\":2}]",
                  "{\"request\":[{\"x\":1,\"z\":2}]}");
    assert_solved("{\"status\":1,\"request\":[{\"x\":1,\"y\":2,\"z\":3}]}",
                  "[{\"x\":1,\"y\":2,\"z\":3}]", "{\"request\":[{\"x\":1,\"y\":2,\"z\":3}]}");
}

static void every_row_of_the_error_table_is_judged_on_a_poll(void **state)
{
    (void)state;
    size_t count = 0;
    const struct vendor_error *rows = vendor_errors(&count);
    for (size_t i = 0; i < count; i++) {
        const struct vendor_result result = read_with(false, &PLAIN, reply_of(200, rows[i].code));
        const enum error_class class = rows[i].class;
        const bool is_about_the_call =
            class == CLASS_BUSY || class == CLASS_ACCOUNT || class == CLASS_TRANSIENT;
        const enum outcome expected = class == CLASS_PENDING ? OUTCOME_PENDING
                                      : is_about_the_call    ? OUTCOME_UNHEARD
                                                             : OUTCOME_FAILED;
        assert_int_equal(result.outcome, expected);
    }
    assert_poll("ERROR_WRONG_CAPTCHA_ID", 200, OUTCOME_FAILED, CLASS_UNKNOWN,
                "ERROR_WRONG_CAPTCHA_ID");
    assert_poll("ERROR_CAPTCHA_UNSOLVABLE", 200, OUTCOME_FAILED, CLASS_UNSOLVABLE,
                "ERROR_CAPTCHA_UNSOLVABLE");
    assert_poll("ERROR: 1005", 200, OUTCOME_UNHEARD, CLASS_BUSY, "ERROR: 1005");
    assert_poll("ERROR_BRAND_NEW", 200, OUTCOME_FAILED, CLASS_UNKNOWN, "ERROR_BRAND_NEW");
}

static void what_says_nothing_is_asked_again(void **state)
{
    (void)state;
    assert_poll("", 200, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UNKNOWN_REPLY");
    assert_poll("<html>", 200, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UNKNOWN_REPLY");
    assert_poll("{}", 200, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UNKNOWN_REPLY");
    assert_poll("ERROR_CAPTCHA_UNSOLVABLE", 503, OUTCOME_UNHEARD, CLASS_TRANSIENT,
                "ERROR_UPSTREAM_HTTP_503");
    assert_poll("ERROR_BRAND_NEW", 404, OUTCOME_UNHEARD, CLASS_TRANSIENT,
                "ERROR_UPSTREAM_HTTP_404");
    assert_poll("ERROR_CAPTCHA_UNSOLVABLE", 400, OUTCOME_FAILED, CLASS_UNSOLVABLE,
                "ERROR_CAPTCHA_UNSOLVABLE");
    assert_poll("OK|token", 302, OUTCOME_UNHEARD, CLASS_TRANSIENT, "ERROR_UPSTREAM_HTTP_302");
    assert_poll("anything", 429, OUTCOME_UNHEARD, CLASS_BUSY, "ERROR_TOO_MUCH_REQUESTS");
}

static void a_yes_makes_any_text_a_solution(void **state)
{
    (void)state;
    assert_solved("OK|ERROR_CAPTCHA_UNSOLVABLE", "ERROR_CAPTCHA_UNSOLVABLE", NULL);
    assert_solved("{\"status\":1,\"request\":\"ERROR_NEW\",\"a\":1}", "ERROR_NEW", "{\"a\":1}");
    assert_solved("{\"status\":true,\"request\":\"ERROR_PAGEURL\"}", "ERROR_PAGEURL", NULL);
    assert_solved("{\"status\":1,\"request\":null,\"result\":\"IP_BANNED\"}", "IP_BANNED",
                  "{\"result\":\"IP_BANNED\"}");
    /* Without a yes a word of the vendor's is an error. */
    assert_poll("{\"request\":\"ERROR_NEW\"}", 200, OUTCOME_FAILED, CLASS_UNKNOWN, "ERROR_NEW");
    /* An id is no word of the vendor's. */
    assert_submit("OK|ERROR_PAGEURL", 200, OUTCOME_REJECTED, CLASS_CALLER, "ERROR_PAGEURL", "");
    assert_submit("{\"status\":1,\"request\":\"ERROR_NEW\"}", 200, OUTCOME_REJECTED, CLASS_UNKNOWN,
                  "ERROR_NEW", "");
}

static void what_is_not_ready_is_asked_again_whatever_its_status(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "CAPCHA_NOT_READY",
        "OK|CAPCHA_NOT_READY",
        "{\"status\":0,\"request\":\"CAPCHA_NOT_READY\"}",
        "{\"status\":1,\"request\":\"CAPCHA_NOT_READY\"}",
        "{\"request\":\"CAPCHA_NOT_READY\"}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_poll(bodies[i], 200, OUTCOME_PENDING, CLASS_PENDING, "CAPCHA_NOT_READY");
}

/* ---- overrides ----------------------------------------------------------------------------- */

static void overrides_come_first(void **state)
{
    (void)state;
    const struct error_override rows[] = {
        {.code = "ERROR_CAPTCHA_UNSOLVABLE", .class = CLASS_CALLER},
        {.code = "FUNNY_WORD", .class = CLASS_BUSY},
        {.code = "ERROR_WRONG_USER_KEY", .class = CLASS_AMBIGUOUS},
    };
    const struct vendor_options options = {.overrides = rows, .override_count = 3};
    assert_int_equal(vendor_classify(&options, SLICE_OF("ERROR_CAPTCHA_UNSOLVABLE")), CLASS_CALLER);
    assert_int_equal(vendor_classify(&options, SLICE_OF("FUNNY_WORD")), CLASS_BUSY);
    assert_int_equal(vendor_classify(&options, SLICE_OF("ERROR_PAGEURL")), CLASS_CALLER);
    assert_int_equal(vendor_classify(&options, SLICE_OF("NOBODY_KNOWS")), CLASS_UNKNOWN);
    struct vendor_result result = read_with(true, &options, reply_of(500, SLICE_OF("FUNNY_WORD")));
    assert_int_equal(result.outcome, OUTCOME_REJECTED);
    assert_int_equal(result.class, CLASS_BUSY);
    result = read_with(true, &options, reply_of(200, SLICE_OF("ERROR_WRONG_USER_KEY")));
    assert_int_equal(result.outcome, OUTCOME_AMBIGUOUS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_ids_come_in_every_spelling),
        cmocka_unit_test(an_accepted_task_without_a_usable_id_is_ambiguous),
        cmocka_unit_test(what_says_nothing_leaves_a_submit_ambiguous),
        cmocka_unit_test(an_http_error_leaves_a_submit_ambiguous_unless_the_word_is_known),
        cmocka_unit_test(refusals_that_nobody_listed_are_unknown),
        cmocka_unit_test(every_row_of_the_error_table_rejects_a_submit_with_its_class),
        cmocka_unit_test(what_never_left_us_is_proven_not_sent),
        cmocka_unit_test(a_reply_that_was_lost_is_ambiguous),
        cmocka_unit_test(solutions_come_in_every_shape),
        cmocka_unit_test(an_empty_request_hides_no_result),
        cmocka_unit_test(answers_without_request_and_result_are_one_object),
        cmocka_unit_test(points_are_written_in_text_as_the_vendor_writes_them),
        cmocka_unit_test(every_row_of_the_error_table_is_judged_on_a_poll),
        cmocka_unit_test(what_says_nothing_is_asked_again),
        cmocka_unit_test(a_yes_makes_any_text_a_solution),
        cmocka_unit_test(what_is_not_ready_is_asked_again_whatever_its_status),
        cmocka_unit_test(overrides_come_first),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
