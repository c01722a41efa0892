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

/* What clocks_follow() decides: the wall time when the machine booted. */
static int64_t origin_ms(void)
{
    const struct clocks now = clocks_read();
    return now.wall_ms - now.even_ms;
}

/* A server whose clock differs from ours by so much was asked 50 ms ago; returns by how much our time changed. */
static int64_t follow(int64_t ahead_ms)
{
    const int64_t before_ms = origin_ms();
    const int64_t even_ms = clocks_read().even_ms;
    clocks_follow(before_ms + even_ms + ahead_ms, even_ms - 50);
    return origin_ms() - before_ms;
}

static void the_time_is_that_of_a_server_that_is_followed(void **state)
{
    (void)state;
    (void)follow(0);
    /* Whatever may be true stays, so that slow answers do not move the time. */
    assert_int_equal(follow(0), 0);
    assert_int_equal(follow(-20), 0);
    /* It was set, and so is ours: by the least that makes it possible. The machine may be slow at this very moment. */
    assert_int_equal(follow(-DAY_MS), 50 - DAY_MS);
    assert_in_range(follow(DAY_MS), DAY_MS - 20000, DAY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leap_is_more_than_a_second_and_than_any_drift),
        cmocka_unit_test(both_clocks_run),
        cmocka_unit_test(the_time_is_that_of_a_server_that_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
