/* Error codes: their sentences, and assertions that abort. */
#include "base/assert.h"
#include "base/err.h"
#include "dies.h"
#include "seed.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_code_is_negative_and_has_its_words(void **state)
{
    (void)state;
#define CHECK_CODE(label, sentence) \
    assert_true(ERR_##label < 0);   \
    assert_string_equal(err_text(ERR_##label), sentence);
    ERR_LIST(CHECK_CODE)
#undef CHECK_CODE
    assert_string_equal(err_text(ERR_FULL), "a limit was reached");
}

static void codes_are_dense_and_distinct(void **state)
{
    (void)state;
    for (int a = 0; a > -(int)ERR_INDEX_COUNT; a--) {
        assert_string_not_equal(err_text(a), "unknown error");
        for (int b = a - 1; b > -(int)ERR_INDEX_COUNT; b--)
            assert_string_not_equal(err_text(a), err_text(b));
    }
}

static void success_has_words_too(void **state)
{
    (void)state;
    assert_string_equal(err_text(ERR_NONE), "no error");
}

static void unknown_codes_get_a_fixed_text(void **state)
{
    (void)state;
    static const int strangers[] = {1, INT_MAX, INT_MIN, -(int)ERR_INDEX_COUNT, -1000};
    for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
        assert_string_equal(err_text(strangers[i]), "unknown error");
}

static void claim(void *context)
{
    const int *number = context;
    ASSERT(*number == 1);
}

static void reach_the_unreachable(void *context)
{
    (void)context;
    UNREACHABLE();
}

static void assertions_abort_only_when_they_fail(void **state)
{
    (void)state;
    int number = 1;
    assert_false(dies(claim, &number));
    number = 2;
    assert_true(dies(claim, &number));
    assert_true(dies(reach_the_unreachable, NULL));
}

static void a_member_leads_back_to_its_container(void **state)
{
    (void)state;
    struct pair {
        char first;
        long second;
    } pair;
    assert_ptr_equal(CONTAINER_OF(&pair.second, struct pair, second), &pair);
    assert_ptr_equal(CONTAINER_OF(&pair.first, struct pair, first), &pair);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_is_negative_and_has_its_words),
        cmocka_unit_test(codes_are_dense_and_distinct),
        cmocka_unit_test(success_has_words_too),
        cmocka_unit_test(unknown_codes_get_a_fixed_text),
        cmocka_unit_test(assertions_abort_only_when_they_fail),
        cmocka_unit_test(a_member_leads_back_to_its_container),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
