/* Multipart bodies: what real clients send, what is refused and in which words, and a lot of damage. */
#include "base/rand.h"
#include "params_kit.h"
#include "proto/multipart.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static int read_body(const char *body)
{
    params_reset(&params);
    return add_exactly(&params, SLICE_OF("multipart/form-data; boundary=B"), slice_from(body));
}

static void assert_refused(const char *body, int code, const char *mistake)
{
    assert_int_equal(read_body(body), code);
    assert_string_equal(params.mistake, mistake);
}

static void fields_and_a_file_are_read(void **state)
{
    (void)state;
    assert_int_equal(
        read_body("--B\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\npost\r\n"
                  "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n"
                  "Content-Type: image/png\r\n\r\n\x89PNG\r\n\r\n--b\r\n\r\n"
                  "--B\r\ncontent-disposition:form-data;name=data-s\r\n\r\n\r\n--B--\r\n"),
        0);
    assert_int_equal(params.count, 3);
    assert_value("method", "post");
    assert_value("file", "\x89PNG\r\n\r\n--b\r\n");
    assert_value("data-s", "");
    const struct param *const file = params_find(&params, SLICE_OF("file"));
    assert_true(slice_equals(file->filename, SLICE_OF("a.png")));
    assert_false(slice_is_given(params_find(&params, SLICE_OF("method"))->filename));
}

static void the_values_of_a_file_keep_every_byte(void **state)
{
    (void)state;
    char body[600];
    char all[256];
    const int front = snprintf(body, sizeof(body),
                               "--B\r\nContent-Disposition: form-data; "
                               "name=\"file\"; filename=\"\"\r\n\r\n");
    for (size_t i = 0; i < 256; i++)
        all[i] = (char)i;
    memcpy(body + front, all, 256);
    memcpy(body + front + 256, "\r\n--B--", 7);
    params_reset(&params);
    const struct slice whole = {body, (size_t)front + 256 + 7};
    assert_int_equal(params_add_multipart(&params, whole, SLICE_OF("B")), 0);
    const struct param *const file = params_find(&params, SLICE_OF("file"));
    assert_int_equal(file->value.len, 256);
    assert_memory_equal(file->value.data, all, 256);
    assert_true(slice_is_given(file->filename));
    /* Straight from the body, not copied. */
    assert_ptr_equal(file->value.data, body + front);
}

static void quotes_and_extended_file_names_are_understood(void **state)
{
    (void)state;
    assert_int_equal(read_body("--B\r\nContent-Disposition: form-data; filename*=UTF-8''a%20b.png; "
                               "name=\"a\\\"b\"\r\n\r\n1\r\n"
                               "--B\r\nContent-Disposition: form-data; name=\"c\"; "
                               "filename=\"C:\\dir\\x;y.png\"\r\n\r\n2\r\n--B--"),
                     0);
    assert_value("a\"b", "1");
    assert_true(
        slice_equals(params_find(&params, SLICE_OF("a\"b"))->filename, SLICE_OF("a%20b.png")));
    assert_true(
        slice_equals(params_find(&params, SLICE_OF("c"))->filename, SLICE_OF("C:\\dir\\x;y.png")));
}

static void only_a_whole_line_is_a_delimiter(void **state)
{
    (void)state;
    assert_int_equal(
        read_body("preamble\r\n--Bx\r\n--B \t\r\nContent-Disposition: form-data; name=\"a\"\r\n"
                  "\r\n--Bonus\r\n--B\r\r\n--B--"),
        0);
    assert_int_equal(params.count, 1);
    assert_value("a", "--Bonus\r\n--B\r");
}

static void an_empty_form_and_an_empty_body_are_fine(void **state)
{
    (void)state;
    assert_int_equal(read_body(""), 0);
    assert_int_equal(read_body("--B--\r\n"), 0);
    assert_int_equal(params.count, 0);
}

static void the_last_of_a_name_wins(void **state)
{
    (void)state;
    assert_int_equal(
        read_body("--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n1\r\n"
                  "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n2\r\n--B--"),
        0);
    assert_int_equal(params.count, 1);
    assert_value("a", "2");
    assert_false(slice_is_given(params.items[0].filename));
}

#define PART "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"

static void every_mistake_is_named(void **state)
{
    (void)state;
    assert_refused(PART "1\r\n", ERR_INVALID, "the closing boundary is missing after part 1");
    assert_refused(PART "1\r\n--B", ERR_INVALID, "the closing boundary is missing after part 1");
    assert_refused(PART "1--B--", ERR_INVALID, "the closing boundary is missing after part 1");
    assert_refused("a=b", ERR_INVALID,
                   "the multipart boundary of the content type is nowhere in the body");
    assert_refused("--B\r\n\r\n1\r\n--B--", ERR_INVALID, "part 1 has no Content-Disposition");
    assert_refused("--B\r\nContent-Type: x\r\n\r\n1\r\n--B--", ERR_INVALID,
                   "part 1 has no Content-Disposition");
    assert_refused("--B\r\nContent-Disposition: form-data\r\n\r\n1\r\n--B--", ERR_INVALID,
                   "part 1 has no name");
    assert_refused("--B\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--B--", ERR_INVALID,
                   "part 1 is not form-data");
    assert_refused(PART "1\r\n--B\r\nContent-Disposition: form-data; name=\"b\r\n\r\n--B--",
                   ERR_INVALID, "part 2 has a malformed Content-Disposition");
    assert_refused("--B\r\nContent-Disposition: form-data; name=\"a\"x\r\n\r\n--B--", ERR_INVALID,
                   "part 1 has a malformed Content-Disposition");
    assert_refused("--B\r\nnonsense\r\n\r\n1\r\n--B--", ERR_INVALID,
                   "part 1 has a malformed header line");
    assert_refused("--B\r\nContent-Disposition: form-data; name=\"a\nb\"\r\n\r\n1\r\n--B--",
                   ERR_INVALID, "part 1 has a malformed header line");
    assert_refused("--B\r\nX: 1\r\n folded: 2\r\n\r\n1\r\n--B--", ERR_INVALID,
                   "part 1 has a malformed header line");
    assert_refused("--B\r\nX: 1", ERR_INVALID, "part 1 ends within its headers");
}

static void bombs_are_refused(void **state)
{
    (void)state;
    struct buf body;
    buf_init(&body, PARAMS_CAP);
    for (int i = 0; i <= PARAMS_MAX; i++)
        buf_addf(&body, PART "1\r\n");
    buf_addf(&body, "--B--");
    params_reset(&params);
    assert_int_equal(params_add_multipart(&params, buf_slice(&body), SLICE_OF("B")), ERR_FULL);
    assert_string_equal(params.mistake, "more than 64 parts");

    buf_reset(&body);
    buf_addf(&body, "--B\r\n");
    for (int i = 0; i < 500; i++)
        buf_addf(&body, "X-Header: 1\r\n");
    params_reset(&params);
    assert_int_equal(params_add_multipart(&params, buf_slice(&body), SLICE_OF("B")), ERR_FULL);
    assert_string_equal(params.mistake, "part 1 has more than 4096 bytes of headers");

    char boundary[71];
    memset(boundary, 'b', sizeof(boundary));
    params_reset(&params);
    assert_int_equal(params_add_multipart(&params, buf_slice(&body), (struct slice){boundary, 71}),
                     ERR_INVALID);
    buf_close(&body);
}

static void the_boundary_comes_quoted_or_not_among_other_attributes(void **state)
{
    (void)state;
    static const char *const types[] = {
        "multipart/form-data; boundary=B",
        "multipart/form-data;boundary=\"B\"",
        "Multipart/Form-Data ; BOUNDARY=B",
        "multipart/form-data; charset=utf-8; boundary=B",
        "multipart/form-data; boundary=B; charset=x",
        " multipart/form-data;; boundary = \"B\" ;",
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        params_reset(&params);
        assert_int_equal(add_exactly(&params, slice_from(types[i]), SLICE_OF(PART "1\r\n--B--")),
                         0);
        assert_value("a", "1");
    }
}

static void damaged_bodies_are_read_or_refused_but_never_crash(void **state)
{
    (void)state;
    const struct field fields[] = {
        {SLICE_OF("key"), SLICE_OF("0123456789abcdef0123456789abcdef"), false},
        {SLICE_OF("method"), SLICE_OF("post"), false},
        {SLICE_OF("data-s"), SLICE_OF(""), false},
        {SLICE_OF("file"), SLICE_OF("\x89PNG\r\n\x1a\n\0\0--\r\n--"), true},
        {SLICE_OF("pageurl"), SLICE_OF("https://example.com/?a=b&c=d"), false},
    };
    struct rand rand;
    struct buf body;
    size_t refused = 0;
    rand_init(&rand, seed_value());
    buf_init(&body, PARAMS_CAP);
    for (size_t i = 0; i < MUTATIONS; i++) {
        encode_multipart(&body, fields, 5, &rand);
        mutate(&body, &rand);
        params_reset(&params);
        refused += add_exactly(&params, SLICE_OF("multipart/form-data; boundary=" ENCODE_BOUNDARY),
                               buf_slice(&body)) != 0;
    }
    /* Both happen, or the damage was none. */
    assert_true(refused > MUTATIONS / 20 && refused < MUTATIONS);
    buf_close(&body);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        PARAMS_TEST(fields_and_a_file_are_read),
        PARAMS_TEST(the_values_of_a_file_keep_every_byte),
        PARAMS_TEST(quotes_and_extended_file_names_are_understood),
        PARAMS_TEST(only_a_whole_line_is_a_delimiter),
        PARAMS_TEST(an_empty_form_and_an_empty_body_are_fine),
        PARAMS_TEST(the_last_of_a_name_wins),
        PARAMS_TEST(every_mistake_is_named),
        PARAMS_TEST(bombs_are_refused),
        PARAMS_TEST(the_boundary_comes_quoted_or_not_among_other_attributes),
        PARAMS_TEST(damaged_bodies_are_read_or_refused_but_never_crash),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
