/* Histograms: classes without gaps, bounds that include themselves. */
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void bounds_rise(void **state)
{
    (void)state;
    for (size_t i = 1; i < HISTOGRAM_BOUNDS; i++)
        assert_true(histogram_bounds_ms[i] > histogram_bounds_ms[i - 1]);
}

static void a_bound_belongs_to_its_own_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
        struct histogram histogram = {0};
        histogram_add(&histogram, histogram_bounds_ms[i]);
        histogram_add(&histogram, (uint64_t)histogram_bounds_ms[i] + 1);
        assert_int_equal(histogram.counts[i], 1);
        assert_int_equal(histogram.counts[i + 1], 1);
    }
}

static void everything_is_counted_and_summed(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    histogram_add(&histogram, 0);
    histogram_add(&histogram, 3);
    histogram_add(&histogram, UINT32_MAX);
    assert_int_equal(histogram_count(&histogram), 3);
    assert_int_equal(histogram.sum_ms, UINT64_C(3) + UINT32_MAX);
    assert_int_equal(histogram.counts[0], 1);
    assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_rise),
        cmocka_unit_test(a_bound_belongs_to_its_own_class),
        cmocka_unit_test(everything_is_counted_and_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
