#include "sys/clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DAY_MS INT64_C(86400000)
#define START_WALL_MS INT64_C(1900000000000)

static int64_t leap_of(int64_t even_ms, int64_t wall_ms)
{
    const struct clocks before = {.wall_ms = START_WALL_MS, .even_ms = DAY_MS};
    const struct clocks now = {.wall_ms = START_WALL_MS + wall_ms, .even_ms = DAY_MS + even_ms};
    return clocks_leap_ms(&before, &now);
}

static void a_leap_is_more_than_a_second_and_than_any_drift(void **state)
{
    (void)state;
    assert_int_equal(leap_of(0, 0), 0);
    assert_int_equal(leap_of(500, 1500), 0);
    assert_int_equal(leap_of(500, 1501), 1001);
    assert_int_equal(leap_of(500, -500), 0);
    assert_int_equal(leap_of(500, -501), -1001);
    assert_int_equal(leap_of(DAY_MS, DAY_MS + 43200), 0);
    assert_int_equal(leap_of(DAY_MS, DAY_MS - 43200), 0);
    assert_int_equal(leap_of(DAY_MS, DAY_MS + 90000), 90000);
}

static void both_clocks_run(void **state)
{
    (void)state;
    const struct clocks first = clocks_read();
    const struct clocks second = clocks_read();
    assert_true(first.wall_ms > INT64_C(1600000000000));
    assert_true(second.even_ms >= first.even_ms && first.even_ms > 0);
    assert_ptr_equal(first.boot, second.boot);
    assert_int_equal(clocks_leap_ms(&first, &second), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leap_is_more_than_a_second_and_than_any_drift),
        cmocka_unit_test(both_clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
