/* JSON as it is written: commas, escapes, bad UTF-8, full buffers. */
#include "base/rand.h"
#include "proto/json_out.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include <cmocka.h>

static struct buf out;

static int open_out(void **state)
{
    (void)state;
    buf_init(&out, 4096);
    return 0;
}

static int close_out(void **state)
{
    (void)state;
    buf_close(&out);
    return 0;
}

static void expect(const char *text)
{
    buf_add_char(&out, '\0');
    assert_string_equal(out.data, text);
    buf_reset(&out);
}

static void commas_stand_between_and_nowhere_else(void **state)
{
    (void)state;
    json_open(&out, '{');
    json_number(&out, "a", 1);
    json_string(&out, "b", "two");
    json_member(&out, "c");
    json_open(&out, '[');
    json_open(&out, '{');
    json_close(&out, '}');
    json_open(&out, '{');
    json_id(&out, "d", 4);
    json_close(&out, '}');
    json_close(&out, ']');
    json_bool(&out, "e", true);
    json_null(&out, "f");
    json_raw(&out, "g", SLICE_OF("{}"));
    json_close(&out, '}');
    expect("{\"a\":1,\"b\":\"two\",\"c\":[{},{\"d\":\"4\"}],\"e\":true,\"f\":null,\"g\":{}}");
}

static void odd_characters_are_escaped_and_bad_ones_replaced(void **state)
{
    (void)state;
    json_add_string(&out, SLICE_OF("\"\\\n\r\t\x01\x1f\x7f/"));
    expect("\"\\\"\\\\\\n\\r\\t\\u0001\\u001f\\u007f/\"");
    json_add_string(&out, SLICE_OF("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"));
    expect("\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    json_add_string(&out, SLICE_OF("\xff"
                                   "a\xc3"));
    expect("\"\\ufffda\\ufffd\"");
    json_add_string(&out, SLICE_NONE);
    expect("\"\"");
}

/* Byte by byte, of ASCII only: what json_add_string must agree with, eight at a time or not. */
static void add_slowly(struct buf *slow, struct slice text)
{
    buf_add_char(slow, '"');
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (c == '"' || c == '\\')
            buf_addf(slow, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            buf_addf(slow, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if (c < ' ' || c == 0x7f)
            buf_addf(slow, "\\u%04x", (unsigned)c);
        else
            buf_add_char(slow, c);
    }
    buf_add_char(slow, '"');
}

static void every_place_of_an_odd_byte_is_seen(void **state)
{
    (void)state;
    struct buf slow;
    struct rand rand;
    rand_init(&rand, seed_value());
    buf_init(&slow, 4096);
    for (int i = 0; i < 50000; i++) {
        char bytes[64];
        const size_t len = rand_below(&rand, sizeof(bytes) + 1);
        for (size_t k = 0; k < len; k++) {
            /* Mostly plain, so that odd ones stand alone, too; often next to a border. */
            const char borders[] = {' ', '!', '"', '#', '[', '\\', ']', '~', 0x7f, 0x1f, 0, '\n'};
            bytes[k] = rand_below(&rand, 10) == 0 ? borders[rand_below(&rand, sizeof(borders))]
                                                  : (char)('#' + rand_below(&rand, 50));
        }
        const struct slice text = {.data = bytes, .len = len};
        buf_reset(&out);
        buf_reset(&slow);
        json_add_string(&out, text);
        add_slowly(&slow, text);
        assert_true(slice_equals(buf_slice(&out), buf_slice(&slow)));
    }
    buf_close(&slow);
}

static void seconds_have_as_many_decimals_as_they_need(void **state)
{
    (void)state;
    json_open(&out, '{');
    json_seconds(&out, "a", 0);
    json_seconds(&out, "b", 1000);
    json_seconds(&out, "c", 1500);
    json_seconds(&out, "d", 12);
    json_close(&out, '}');
    expect("{\"a\":0,\"b\":1,\"c\":1.5,\"d\":0.012}");
}

static void a_full_buffer_is_remembered(void **state)
{
    (void)state;
    struct buf small;
    buf_init(&small, 8);
    json_open(&small, '{');
    json_number(&small, "name", 1);
    assert_true(small.is_full);
    buf_close(&small);
}

/* yyjson writes the same, only slower. */
static void plain_values_are_written_as_yyjson_would(void **state)
{
    (void)state;
    static const char text[] =
        "[\"\",\"plain ~ / text\",-12.50e3,\"q\\\"\",\"b\\\\\",\"\\u0001\",\"\x7f\","
        "\"gr\xc3\xbc\xc3\x9f\",true,null,[],{\"a\":1}]";
    static const bool is_plain[] = {true,  true,  true,  false, false, false,
                                    false, false, false, false, false, false};
    yyjson_doc *doc = yyjson_read(text, strlen(text), YYJSON_READ_NUMBER_AS_RAW);
    assert_non_null(doc);
    yyjson_val *list = yyjson_doc_get_root(doc);
    assert_int_equal(yyjson_arr_size(list), sizeof is_plain / sizeof is_plain[0]);
    for (size_t i = 0; i < yyjson_arr_size(list); i++) {
        yyjson_val *value = yyjson_arr_get(list, i);
        buf_reset(&out);
        assert_int_equal(json_add_plain(&out, value), is_plain[i]);
        char *slow = yyjson_val_write(value, 0, NULL);
        expect(is_plain[i] ? slow : "");
        free(slow);
    }
    yyjson_doc_free(doc);
}

#define JSON_TEST(name) cmocka_unit_test_setup_teardown(name, open_out, close_out)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        JSON_TEST(commas_stand_between_and_nowhere_else),
        JSON_TEST(odd_characters_are_escaped_and_bad_ones_replaced),
        JSON_TEST(every_place_of_an_odd_byte_is_seen),
        JSON_TEST(seconds_have_as_many_decimals_as_they_need),
        JSON_TEST(a_full_buffer_is_remembered),
        JSON_TEST(plain_values_are_written_as_yyjson_would),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
