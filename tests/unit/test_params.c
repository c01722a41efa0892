/* Parameters from forms and JSON, and the sniffing of bodies. */
#include "base/rand.h"
#include "params_kit.h"
#include "proto/form.h"
#include "proto/json_body.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void read_ok(const char *content_type, const char *body)
{
    params_reset(&params);
    assert_int_equal(add_exactly(&params, slice_from(content_type), slice_from(body)), 0);
}

static void assert_refused(const char *body, int code, const char *mistake)
{
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, slice_from(body)), code);
    assert_string_equal(params.mistake, mistake);
}

static void forms_are_read_as_php_reads_them(void **state)
{
    (void)state;
    read_ok(NULL, "a=1&&b=x+y%21&c&=none&d==&e=%zz%4&f=100%&a=2&%64ata%5Bk%5D=%C3%a4&");
    assert_int_equal(params.count, 7);
    assert_value("a", "2");
    assert_value("b", "x y!");
    assert_value("c", "");
    assert_value("d", "=");
    assert_value("e", "%zz%4");
    assert_value("f", "100%");
    assert_value("data[k]", "\xc3\xa4");
    read_ok(NULL, "n=%00x");
    assert_int_equal(params_value(&params, SLICE_OF("n")).len, 2);
}

static void plain_form_values_are_not_copied(void **state)
{
    (void)state;
    static const char form[] = "method=turnstile&pageurl=http%3A%2F%2Fa";
    params_reset(&params);
    assert_int_equal(params_add_form(&params, SLICE_OF(form)), 0);
    assert_ptr_equal(params_value(&params, SLICE_OF("method")).data, form + 7);
    assert_value("pageurl", "http://a");
}

static void json_values_become_text(void **state)
{
    (void)state;
    read_ok(
        "application/json",
        " {\"s\":\"a\\u00e4\\n\",\"i\":5,\"big\":12345678901234567890123,\"f\":0.30,\"neg\":-1,"
        "\"t\":true,\"n\":false,\"none\":null,\"e\":\"\",\"data\":{ \"k\" : [1, 2.50 ,\"x\\/\"] },"
        "\"list\":[ ]} ");
    assert_int_equal(params.count, 10);
    assert_value("s", "a\xc3\xa4\n");
    assert_value("i", "5");
    assert_value("big", "12345678901234567890123");
    assert_value("f", "0.30");
    assert_value("neg", "-1");
    assert_value("t", "true");
    assert_value("n", "false");
    assert_value("e", "");
    assert_value("data", "{\"k\":[1,2.50,\"x/\"]}");
    assert_value("list", "[]");
    assert_null(params_find(&params, SLICE_OF("none")));
}

static void json_mistakes_are_named(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\"a\":2}", ERR_INVALID, "the JSON member 'a' is given twice");
    assert_refused("{\"a\":null,\"a\":2}", ERR_INVALID, "the JSON member 'a' is given twice");
    assert_refused("{\"\":1}", ERR_INVALID, "a parameter has an empty name");
    params_reset(&params);
    assert_int_equal(params_add_json(&params, SLICE_OF("[1]")), ERR_INVALID);
    assert_string_equal(params.mistake, "the JSON body is not an object");
    assert_refused("{\"a\":1", ERR_INVALID,
                   "the body is not valid JSON at byte 6: unexpected end of data");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, SLICE_OF("{\"a\":\"\xff\"}")), ERR_INVALID);
    assert_refused("{\"a\":1} x", ERR_INVALID,
                   "the body is not valid JSON at byte 8: unexpected content after document");
}

/* `open` times depth, a value, and the closing ones. */
static int read_nested(const char *open, const char *close, int depth)
{
    struct buf body;
    buf_init(&body, PARAMS_CAP);
    buf_addf(&body, "{\"s\":\"[[[[[[[[[[[[[[[[[[[[[\\\"{{{{{{{\",\"a\":");
    for (int i = 1; i < depth; i++)
        buf_add(&body, slice_from(open));
    buf_add_char(&body, '1');
    for (int i = 1; i < depth; i++)
        buf_add(&body, slice_from(close));
    buf_add_char(&body, '}');
    params_reset(&params);
    const int code = add_exactly(&params, SLICE_NONE, buf_slice(&body));
    buf_close(&body);
    return code;
}

static void json_is_at_most_sixteen_levels_deep(void **state)
{
    (void)state;
    assert_int_equal(read_nested("[", "]", 16), 0);
    assert_value("a", "[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]");
    assert_int_equal(read_nested("{\"k\":", "}", 16), 0);
    assert_int_equal(read_nested("[", "]", 17), ERR_INVALID);
    assert_string_equal(params.mistake, "the JSON body is nested deeper than 16 levels");
    assert_int_equal(read_nested("{\"k\":", "}", 17), ERR_INVALID);
}

static void json_bombs_are_refused(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, PARAMS_CAP);
    while (!body.is_full)
        buf_add_char(&body, '[');
    params_reset(&params);
    body.data[0] = '{';
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), ERR_INVALID);

    buf_reset(&body);
    buf_addf(&body, "{\"a\":[1");
    for (int i = 0; i < 5000; i++)
        buf_addf(&body, ",1");
    buf_addf(&body, "]}");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), ERR_FULL);
    assert_string_equal(params.mistake, "the JSON body has more than 4096 values");

    buf_reset(&body);
    buf_addf(&body, "{\"a\":\"");
    for (int i = 0; i < 5000; i++)
        buf_addf(&body, ",[");
    buf_addf(&body, "\"}");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), 0);
    assert_int_equal(params_value(&params, SLICE_OF("a")).len, 10000);
    buf_close(&body);
}

static void too_many_or_too_long_names_are_refused(void **state)
{
    (void)state;
    struct buf body;
    char name[PARAM_NAME_MAX + 2];
    memset(name, 'n', sizeof(name));
    buf_init(&body, PARAMS_CAP);
    for (int i = 0; i < PARAMS_MAX; i++)
        buf_addf(&body, "p%d=%d&", i, i);
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), 0);
    assert_int_equal(params.count, PARAMS_MAX);
    buf_addf(&body, "p3=replaced");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), 0);
    assert_value("p3", "replaced");
    buf_addf(&body, "&one=more");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), ERR_FULL);
    assert_string_equal(params.mistake, "more than 64 parameters");
    buf_reset(&body);
    for (int i = 0; i < 4 * PARAMS_MAX; i++)
        buf_addf(&body, "a&");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), 0);
    buf_addf(&body, "&");
    params_reset(&params);
    assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), ERR_FULL);
    params_reset(&params);
    assert_int_equal(params_add_form(&params, (struct slice){name, PARAM_NAME_MAX}), 0);
    params_reset(&params);
    assert_int_equal(params_add_form(&params, (struct slice){name, PARAM_NAME_MAX + 1}),
                     ERR_INVALID);
    buf_close(&body);
}

static void decoded_bytes_beyond_the_cap_are_refused(void **state)
{
    (void)state;
    struct params small;
    char form[2000] = "a=%41";
    params_init(&small, 500);
    memset(form + 5, 'x', sizeof(form) - 5);
    assert_int_equal(params_add_form(&small, (struct slice){form, 400}), 0);
    params_reset(&small);
    assert_int_equal(params_add_form(&small, (struct slice){form, sizeof(form)}), ERR_FULL);
    char json[2000] = "{\"a\":\"";
    memset(json + 6, 'x', sizeof(json) - 6);
    memcpy(json + sizeof(json) - 2, "\"}", 2);
    params_reset(&small);
    assert_int_equal(params_add_json(&small, (struct slice){json, sizeof(json)}), ERR_FULL);
    memcpy(json + 498, "\"}", 2);
    params_reset(&small);
    assert_int_equal(params_add_json(&small, (struct slice){json, 500}), 0);
    params_close(&small);
}

static void bodies_are_sniffed_not_believed(void **state)
{
    (void)state;
    /* Every encoding docs/protocol.md section 0 lists. */
    static const char *const form_types[] = {
        NULL,
        "",
        "application/x-www-form-urlencoded",
        "text/plain",
        "application/json",
        "multipart/form-data",
    };
    static const char *const json_types[] = {
        NULL,
        "application/json",
        "text/plain",
        "multipart/form-data",
        "multipart/form-data; charset=x",
        "application/x-www-form-urlencoded",
    };
    for (size_t i = 0; i < sizeof(form_types) / sizeof(form_types[0]); i++) {
        read_ok(form_types[i], "method=turnstile&json=1");
        assert_value("method", "turnstile");
        assert_true(params_flag(&params, SLICE_OF("json")));
    }
    for (size_t i = 0; i < sizeof(json_types) / sizeof(json_types[0]); i++) {
        read_ok(json_types[i], "\r\n {\"method\":\"turnstile\",\"json\":1}");
        assert_value("method", "turnstile");
        assert_true(params_flag(&params, SLICE_OF("json")));
    }
    read_ok("multipart/form-data; boundary=B",
            "--B\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\nturnstile\r\n--B--\r\n");
    assert_value("method", "turnstile");
    read_ok("application/json", "");
    assert_int_equal(params.count, 0);
}

static void query_and_body_are_merged_and_the_body_wins(void **state)
{
    (void)state;
    params_reset(&params);
    assert_int_equal(params_add_form(&params, SLICE_OF("key=k%31&json=1&method=post")), 0);
    assert_int_equal(add_exactly(&params, SLICE_OF("text/plain"),
                                 SLICE_OF("{\"method\":\"base64\",\"body\":\"abc\"}")),
                     0);
    assert_int_equal(params.count, 4);
    assert_value("key", "k1");
    assert_value("method", "base64");
    assert_value("body", "abc");
}

/* The arena grows and moves many times here; everything decoded before must still be there. */
static void values_survive_the_growth_of_the_arena(void **state)
{
    (void)state;
    struct buf form;
    buf_init(&form, PARAMS_CAP);
    params_reset(&params);
    params_close(&params);
    for (unsigned i = 0; i < 40; i++) {
        char *copy;
        buf_reset(&form);
        buf_addf(&form, "%%6e%u=%%76%u%0*u&", i, i, (int)(i * 20), 0U);
        copy = malloc(form.len);
        assert_non_null(copy);
        memcpy(copy, form.data, form.len);
        assert_int_equal(params_add_form(&params, (struct slice){copy, form.len}), 0);
        free(copy);
        buf_reset(&form);
        buf_addf(&form, "{\"j\":{\"n\":[%u]}}", i);
        assert_int_equal(params_add_json(&params, buf_slice(&form)), 0);
    }
    buf_close(&form);
    for (unsigned i = 0; i < 40; i++) {
        char name[16];
        char value[900];
        (void)snprintf(name, sizeof(name), "n%u", i);
        (void)snprintf(value, sizeof(value), "v%u%0*u", i, (int)(i * 20), 0U);
        assert_value(name, value);
    }
    assert_value("j", "{\"n\":[39]}");
}

static void flags_are_true_in_four_words(void **state)
{
    (void)state;
    read_ok(NULL, "a=1&b=true&c=YES&d=On&e=0&f=false&g=&h=2&i=11");
    for (const char *name = "abcd"; *name != '\0'; name++)
        assert_true(params_flag(&params, (struct slice){name, 1}));
    for (const char *name = "efghiz"; *name != '\0'; name++)
        assert_false(params_flag(&params, (struct slice){name, 1}));
}

static void damaged_forms_and_json_never_crash(void **state)
{
    (void)state;
    const struct field fields[] = {
        {SLICE_OF("key"), SLICE_OF("0123456789abcdef0123456789abcdef"), false},
        {SLICE_OF("method"), SLICE_OF("userrecaptcha"), false},
        {SLICE_OF("data[k\\]"), SLICE_OF("{\"a\":[1,\"\\u0000 \"]}"), false},
        {SLICE_OF("invisible"), SLICE_OF("false"), false},
        {SLICE_OF("min_score"), SLICE_OF("7"), false},
        {SLICE_OF("pageurl"), SLICE_OF("https://example.com/?a=b&c=d %+\xc3\xa4"), false},
    };
    const size_t count = sizeof(fields) / sizeof(fields[0]);
    struct rand rand;
    struct buf body;
    size_t refused = 0;
    rand_init(&rand, seed_value());
    buf_init(&body, PARAMS_CAP);
    for (size_t i = 0; i < 2 * MUTATIONS; i++) {
        if (i % 2 == 0)
            encode_form(&body, fields, count, &rand);
        else
            encode_json(&body, fields, count, &rand);
        params_reset(&params);
        assert_int_equal(add_exactly(&params, SLICE_NONE, buf_slice(&body)), 0);
        assert_int_equal(params.count, count);
        mutate(&body, &rand);
        params_reset(&params);
        refused += add_exactly(&params, SLICE_NONE, buf_slice(&body)) != 0;
    }
    assert_true(refused > MUTATIONS / 4);
    buf_close(&body);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        PARAMS_TEST(forms_are_read_as_php_reads_them),
        PARAMS_TEST(plain_form_values_are_not_copied),
        PARAMS_TEST(json_values_become_text),
        PARAMS_TEST(json_mistakes_are_named),
        PARAMS_TEST(json_is_at_most_sixteen_levels_deep),
        PARAMS_TEST(json_bombs_are_refused),
        PARAMS_TEST(too_many_or_too_long_names_are_refused),
        PARAMS_TEST(decoded_bytes_beyond_the_cap_are_refused),
        PARAMS_TEST(bodies_are_sniffed_not_believed),
        PARAMS_TEST(query_and_body_are_merged_and_the_body_wins),
        PARAMS_TEST(values_survive_the_growth_of_the_arena),
        PARAMS_TEST(flags_are_true_in_four_words),
        PARAMS_TEST(damaged_forms_and_json_never_crash),
    };
#undef TEST
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
