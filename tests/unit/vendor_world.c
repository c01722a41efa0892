#include "vendor_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

const struct vendor_options PLAIN = {.override_count = 0};

struct vendor_reply reply_of(long status, struct slice body)
{
    return (struct vendor_reply){
        .is_sent = true, .is_complete = true, .http_status = status, .body = body};
}

/* A copy that ends exactly where the body ends, so that reading past it is caught. */
struct vendor_result read_with(bool is_submit, const struct vendor_options *options,
                               struct vendor_reply reply)
{
    struct vendor_result result = {.attempt = 5, .caller = 6, .retry_after_ms = 99};
    char *exact = malloc(reply.body.len + (reply.body.len == 0));
    assert_non_null(exact);
    if (reply.body.len > 0)
        memcpy(exact, reply.body.data, reply.body.len);
    reply.body.data = exact;
    if (is_submit)
        vendor_read_submit(options, &reply, &result);
    else
        vendor_read_poll(options, &reply, &result);
    free(exact);
    assert_int_equal(result.attempt, 5);
    assert_int_equal(result.caller, 6);
    const bool brings_text =
        result.outcome == OUTCOME_SOLVED || result.outcome == OUTCOME_UNDELIVERABLE;
    assert_true(brings_text == (result.text != NULL));
    return result;
}

void drop(const struct vendor_result *result)
{
    blob_unref(result->text);
    blob_unref(result->extra);
}

static void assert_text(const struct blob *blob, const char *text)
{
    if (text == NULL) {
        assert_null(blob);
        return;
    }
    assert_non_null(blob);
    assert_string_equal(blob->data, text);
}

void assert_solved(const char *body, const char *text, const char *extra)
{
    const struct vendor_result result = read_with(false, &PLAIN, reply_of(200, slice_from(body)));
    assert_int_equal(result.outcome, OUTCOME_SOLVED);
    assert_int_equal(result.class, CLASS_NONE);
    assert_string_equal(result.code, "");
    assert_text(result.text, text);
    assert_text(result.extra, extra);
    drop(&result);
}

void assert_poll(const char *body, long status, enum outcome outcome, enum error_class class,
                 const char *code)
{
    const struct vendor_result result =
        read_with(false, &PLAIN, reply_of(status, slice_from(body)));
    assert_int_equal(result.outcome, outcome);
    assert_int_equal(result.class, class);
    assert_string_equal(result.code, code);
    drop(&result);
}
