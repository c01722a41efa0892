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
    assert_int_equal(histogram_sum_ms(&histogram), UINT64_C(3) + UINT32_MAX);
    assert_int_equal(histogram.counts[0], 1);
    assert_int_equal(histogram.counts[HISTOGRAM_BOUNDS], 1);
}

static void percentiles_lie_around_the_mean_of_their_class(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    assert_int_equal(histogram_percentile_ms(&histogram, 50), 0);
    histogram_add(&histogram, 2000); /* in the class of 1000 to 2500 */
    assert_int_equal(histogram_percentile_ms(&histogram, 50), 2000);
    assert_int_equal(histogram_percentile_ms(&histogram, 95), 2000);
    for (int i = 0; i < 99; i++)
        histogram_add(&histogram, i % 2 == 0 ? 600 : 800);
    assert_in_range(histogram_percentile_ms(&histogram, 50), 690, 710);
    assert_in_range(histogram_percentile_ms(&histogram, 95), 800, 950);
    assert_int_equal(histogram_percentile_ms(&histogram, 100), 2000);
}

/* Values beyond the last bound are known by their mean. */
static void a_percentile_may_lie_beyond_all_bounds(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    histogram_add(&histogram, 300000);
    histogram_add(&histogram, 500000);
    assert_int_equal(histogram_percentile_ms(&histogram, 50), 400000);
    assert_in_range(histogram_percentile_ms(&histogram, 95), 500000, 620000);
}

static void solves_of_three_seconds_have_percentiles_of_three_seconds(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    for (uint64_t ms = 2950; ms <= 3050; ms += 10)
        histogram_add(&histogram, ms);
    assert_int_equal(histogram_percentile_ms(&histogram, 50), 3000);
    assert_in_range(histogram_percentile_ms(&histogram, 95), 3000, 3500);
}

static void a_difference_has_only_what_came_between(void **state)
{
    (void)state;
    struct histogram now = {0};
    histogram_add(&now, 3);
    const struct histogram before = now;
    histogram_add(&now, 400);
    const struct histogram since = histogram_since(&now, &before);
    assert_int_equal(histogram_count(&since), 1);
    assert_int_equal(histogram_sum_ms(&since), 400);
    const struct histogram anew = {.counts = {[5] = 7}, .sums_ms = {[5] = 300}};
    const struct histogram all = histogram_since(&anew, &now);
    assert_int_equal(histogram_count(&all), 7);
    assert_int_equal(histogram_sum_ms(&all), 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_rise),
        cmocka_unit_test(a_bound_belongs_to_its_own_class),
        cmocka_unit_test(everything_is_counted_and_summed),
        cmocka_unit_test(percentiles_lie_around_the_mean_of_their_class),
        cmocka_unit_test(a_percentile_may_lie_beyond_all_bounds),
        cmocka_unit_test(solves_of_three_seconds_have_percentiles_of_three_seconds),
        cmocka_unit_test(a_difference_has_only_what_came_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
