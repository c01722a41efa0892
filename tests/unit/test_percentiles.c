#include "base/percentiles.h"
#include "base/rand.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define NUMBERS 20000

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The nearest-rank percentile of sorted numbers. */
static uint64_t exact_at(const uint64_t *sorted, size_t count, double share)
{
    const double exact = share * (double)count;
    size_t rank = (size_t)exact;
    if ((double)rank < exact || rank == 0)
        rank++;
    return sorted[rank - 1];
}

/* Random numbers of every size: as many of 3 digits as of 9. */
static void percentiles_are_within_a_class_of_the_exact_ones(void **state)
{
    static const double shares[] = {0, 0.001, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};
    static uint64_t numbers[NUMBERS];
    static struct percentiles percentiles;
    struct rand rand;
    (void)state;
    rand_init(&rand, seed_value());
    percentiles_reset(&percentiles);
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = rand_u64(&rand) >> (28 + rand_below(&rand, 36));
        percentiles_add(&percentiles, numbers[i]);
    }
    qsort(numbers, NUMBERS, sizeof numbers[0], compare);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        const uint64_t exact = exact_at(numbers, NUMBERS, shares[i]);
        const uint64_t told = percentiles_at(&percentiles, shares[i]);
        assert_true(told >= exact);
        assert_true(told <= exact + exact / 128);
    }
    assert_int_equal(percentiles.min, numbers[0]);
    assert_int_equal(percentiles.max, numbers[NUMBERS - 1]);
}

static void small_numbers_are_exact(void **state)
{
    struct percentiles *percentiles = calloc(1, sizeof *percentiles);
    (void)state;
    assert_non_null(percentiles);
    for (uint64_t number = 1; number <= 100; number++)
        percentiles_add(percentiles, number);
    assert_int_equal(percentiles_at(percentiles, 0.5), 50);
    assert_int_equal(percentiles_at(percentiles, 0.99), 99);
    assert_int_equal(percentiles_at(percentiles, 0.991), 100);
    assert_int_equal(percentiles_at(percentiles, 0), 1);
    assert_int_equal(percentiles_up_to(percentiles, 30), 30);
    assert_true(percentiles_mean(percentiles) > 50.4 && percentiles_mean(percentiles) < 50.6);
    free(percentiles);
}

static void nothing_has_no_percentiles(void **state)
{
    struct percentiles *percentiles = calloc(1, sizeof *percentiles);
    (void)state;
    assert_non_null(percentiles);
    assert_int_equal(percentiles_at(percentiles, 0.5), 0);
    assert_int_equal(percentiles_up_to(percentiles, UINT64_MAX), 0);
    assert_true(percentiles_mean(percentiles) < 0.5);
    free(percentiles);
}

static void numbers_beyond_the_range_count_as_the_largest(void **state)
{
    struct percentiles *percentiles = calloc(1, sizeof *percentiles);
    (void)state;
    assert_non_null(percentiles);
    percentiles_add(percentiles, UINT64_MAX);
    percentiles_add(percentiles, 7);
    assert_int_equal(percentiles_at(percentiles, 0.5), 7);
    assert_int_equal(percentiles_at(percentiles, 1), UINT64_MAX);
    assert_int_equal(percentiles_up_to(percentiles, UINT64_MAX), 2);
    free(percentiles);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_within_a_class_of_the_exact_ones),
        cmocka_unit_test(small_numbers_are_exact),
        cmocka_unit_test(nothing_has_no_percentiles),
        cmocka_unit_test(numbers_beyond_the_range_count_as_the_largest),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
