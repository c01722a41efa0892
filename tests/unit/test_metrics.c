/* Prometheus text: labels whose values are not ours. */
#include "proto/metrics.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HEAD                                                                                     \
    "# HELP solvegate_unknown_errors_total Errors of the vendor that we do not know, by code.\n" \
    "# TYPE solvegate_unknown_errors_total counter\n"

static void expect_unknown_errors(const struct unknown_errors *errors, const char *text)
{
    struct buf out;
    buf_init(&out, 4096);
    metrics_write_unknown_errors(&out, errors);
    buf_add_char(&out, '\0');
    assert_string_equal(out.data, text);
    buf_close(&out);
}

static void the_family_of_unknown_errors_is_there_before_the_first(void **state)
{
    (void)state;
    const struct unknown_errors none = {.count = 0};
    expect_unknown_errors(&none, HEAD "solvegate_unknown_errors_total{code=\"other\"} 0\n");
}

static void unknown_errors_are_told_by_code_in_the_order_they_came(void **state)
{
    (void)state;
    const struct unknown_errors errors = {
        .count = 2,
        .items = {{.name = "ERROR_NEW_MOON", .times = 3}, {.name = "ERROR_A", .times = 1}},
        .other_times = 7,
    };
    expect_unknown_errors(&errors,
                          HEAD "solvegate_unknown_errors_total{code=\"ERROR_NEW_MOON\"} 3\n"
                               "solvegate_unknown_errors_total{code=\"ERROR_A\"} 1\n"
                               "solvegate_unknown_errors_total{code=\"other\"} 7\n");
}

/* The engine lets no such name in; a label that another one wrote must still not end early. */
static void what_would_end_a_label_is_escaped(void **state)
{
    (void)state;
    const struct unknown_errors errors = {
        .count = 1,
        .items = {{.name = "A\"} 1\nB\\", .times = 1}},
    };
    expect_unknown_errors(&errors,
                          HEAD "solvegate_unknown_errors_total{code=\"A\\\"} 1\\nB\\\\\"} 1\n"
                               "solvegate_unknown_errors_total{code=\"other\"} 0\n");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_family_of_unknown_errors_is_there_before_the_first),
        cmocka_unit_test(unknown_errors_are_told_by_code_in_the_order_they_came),
        cmocka_unit_test(what_would_end_a_label_is_escaped),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
