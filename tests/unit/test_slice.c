/* Slices: comparison, trimming and numbers. */
#include "base/rand.h"
#include "base/slice.h"
#include "seed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void not_given_differs_from_empty_but_compares_equal(void **state)
{
    (void)state;
    assert_false(slice_is_given(SLICE_NONE));
    assert_false(slice_is_given(slice_from(NULL)));
    assert_true(slice_is_given(SLICE_OF("")));
    assert_true(slice_equals(SLICE_NONE, SLICE_OF("")));
    assert_true(slice_equals_nocase(SLICE_OF(""), SLICE_NONE));
    assert_true(slice_starts_with(SLICE_NONE, SLICE_OF("")));
}

static void comparison_counts_every_byte(void **state)
{
    (void)state;
    assert_true(slice_equals(slice_from("abc"), SLICE_OF("abc")));
    assert_false(slice_equals(SLICE_OF("abc"), SLICE_OF("abC")));
    assert_false(slice_equals(SLICE_OF("abc"), SLICE_OF("ab")));
    assert_false(slice_equals(SLICE_OF("a\0b"), SLICE_OF("a\0c")));
}

static void case_is_folded_for_ascii_letters_only(void **state)
{
    (void)state;
    assert_true(slice_equals_nocase(SLICE_OF("Content-TYPE"), SLICE_OF("content-type")));
    assert_false(slice_equals_nocase(SLICE_OF("abc"), SLICE_OF("abcd")));
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            const char left = (char)a, right = (char)b;
            const bool are_letters = (a | 32) >= 'a' && (a | 32) <= 'z' && (a ^ b) == 32;
            const struct slice s = {.data = &left, .len = 1};
            assert_int_equal(slice_equals_nocase(s, (struct slice){&right, 1}),
                             a == b || are_letters);
        }
    }
}

static void prefixes_are_found(void **state)
{
    (void)state;
    assert_true(slice_starts_with(SLICE_OF("/pingback/x"), SLICE_OF("/pingback/")));
    assert_true(slice_starts_with(SLICE_OF("abc"), SLICE_OF("abc")));
    assert_false(slice_starts_with(SLICE_OF("abc"), SLICE_OF("abcd")));
    assert_false(slice_starts_with(SLICE_OF("abc"), SLICE_OF("b")));
}

static void pieces_are_taken_up_to_each_separator(void **state)
{
    (void)state;
    struct slice rest = SLICE_OF("a,,bc,");
    assert_true(slice_equals(slice_take(&rest, ','), SLICE_OF("a")));
    assert_true(slice_equals(slice_take(&rest, ','), SLICE_OF("")));
    assert_true(slice_equals(slice_take(&rest, ','), SLICE_OF("bc")));
    /* What follows the last separator is empty, and so is whatever is taken after that. */
    assert_int_equal(rest.len, 0);
    assert_int_equal(slice_take(&rest, ',').len, 0);
    rest = SLICE_OF("abc");
    assert_true(slice_equals(slice_take(&rest, ','), SLICE_OF("abc")));
    assert_int_equal(rest.len, 0);
    rest = SLICE_NONE;
    assert_false(slice_is_given(slice_take(&rest, ',')));
    assert_true(slice_equals(slice_skip(SLICE_OF("abc"), 2), SLICE_OF("c")));
    assert_true(slice_is_given(slice_skip(SLICE_OF("abc"), 3)));
}

static void trimming_takes_blanks_from_both_ends_only(void **state)
{
    (void)state;
    assert_true(slice_equals(slice_trim(SLICE_OF(" \t a b\t ")), SLICE_OF("a b")));
    assert_true(slice_equals(slice_trim(SLICE_OF("a")), SLICE_OF("a")));
    assert_true(slice_equals(slice_trim(SLICE_OF("\na\n")), SLICE_OF("\na\n")));
    assert_int_equal(slice_trim(SLICE_OF(" \t ")).len, 0);
    assert_int_equal(slice_trim(SLICE_OF("")).len, 0);
    assert_false(slice_is_given(slice_trim(SLICE_NONE)));
}

static void assert_no_number(struct slice s)
{
    unsigned long long value = 99;
    assert_false(slice_to_u64(s, &value));
    assert_true(value == 99);
}

static void what_is_no_number_leaves_the_value_alone(void **state)
{
    (void)state;
    assert_no_number(SLICE_NONE);
    assert_no_number(SLICE_OF(""));
    assert_no_number(SLICE_OF("-1"));
    assert_no_number(SLICE_OF("+1"));
    assert_no_number(SLICE_OF(" 1"));
    assert_no_number(SLICE_OF("1 "));
    assert_no_number(SLICE_OF("0x10"));
    assert_no_number(SLICE_OF("1\0"));
    assert_no_number(SLICE_OF("18446744073709551616"));
    assert_no_number(SLICE_OF("18446744073709551620"));
    assert_no_number(SLICE_OF("99999999999999999999"));
    assert_no_number(SLICE_OF("184467440737095516150"));
}

static void numbers_are_read_back_as_printed(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    unsigned long long value = 0;
    assert_true(slice_to_u64(SLICE_OF("18446744073709551615"), &value));
    assert_true(value == UINT64_MAX);
    assert_true(slice_to_u64(SLICE_OF("0000000000000000000000000000007"), &value));
    assert_true(value == 7);
    for (int i = 0; i < 10000; i++) {
        char text[32];
        const uint64_t number = rand_u64(&rand) >> rand_below(&rand, 64);
        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        assert_true(slice_to_u64(slice_from(text), &value));
        assert_true(value == number);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_given_differs_from_empty_but_compares_equal),
        cmocka_unit_test(comparison_counts_every_byte),
        cmocka_unit_test(case_is_folded_for_ascii_letters_only),
        cmocka_unit_test(prefixes_are_found),
        cmocka_unit_test(pieces_are_taken_up_to_each_separator),
        cmocka_unit_test(trimming_takes_blanks_from_both_ends_only),
        cmocka_unit_test(what_is_no_number_leaves_the_value_alone),
        cmocka_unit_test(numbers_are_read_back_as_printed),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
