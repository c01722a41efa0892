/* Lines over time: points by number, gaps, clocks that leap, rings that wrap, minutes made of seconds. */
#include "base/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START_MS 5000
#define WALL_MS INT64_C(1700000000000)

static struct series *series;
static struct series_sample sample;
static struct histogram solves;

static int open_series(void **state)
{
    (void)state;
    series = calloc(1, sizeof *series);
    assert_non_null(series);
    series_init(series, START_MS);
    memset(&solves, 0, sizeof solves);
    sample = (struct series_sample){.solves = &solves};
    return 0;
}

static int close_series(void **state)
{
    (void)state;
    free(series);
    return 0;
}

/* So many milliseconds after the start. */
static void take_at(uint64_t ms)
{
    series_take(series, START_MS + ms, WALL_MS + (int64_t)ms, &sample);
}

/* One request in each of these seconds. */
static void run_seconds(uint64_t from, uint64_t to)
{
    for (uint64_t second = from; second < to; second++) {
        sample.counts[SERIES_COUNT_requests]++;
        take_at((second + 1) * 1000);
    }
}

static const struct series_point *point(enum series_step step, uint64_t number)
{
    return series_point(series, step, number / SERIES_PAGE, (uint32_t)(number % SERIES_PAGE));
}

static uint32_t requests(enum series_step step, uint64_t number)
{
    assert_true(point(step, number)->is_known);
    return point(step, number)->counts[SERIES_COUNT_requests];
}

static uint64_t points(enum series_step step)
{
    return series->rings[step].count;
}

static void a_point_has_what_was_added_in_its_second(void **state)
{
    (void)state;
    sample.counts[SERIES_COUNT_requests] = 7;
    sample.gauges[SERIES_GAUGE_flights] = 3;
    take_at(1000);
    sample.counts[SERIES_COUNT_requests] = 9;
    sample.gauges[SERIES_GAUGE_flights] = 1;
    take_at(2010);
    assert_int_equal(points(SERIES_SECOND), 2);
    assert_int_equal(requests(SERIES_SECOND, 0), 7);
    assert_int_equal(requests(SERIES_SECOND, 1), 2);
    assert_int_equal(point(SERIES_SECOND, 0)->gauges[SERIES_GAUGE_flights], 3);
    assert_int_equal(point(SERIES_SECOND, 1)->gauges[SERIES_GAUGE_flights], 1);
    assert_int_equal(series->wall_ms, WALL_MS + 2000);
}

static void a_second_that_is_not_over_has_no_point(void **state)
{
    (void)state;
    take_at(999);
    assert_int_equal(points(SERIES_SECOND), 0);
    assert_int_equal(series_left_ms(series, START_MS + 999), 1);
    assert_int_equal(series_left_ms(series, START_MS + 1000), 1000);
    take_at(1000);
    take_at(1500);
    assert_int_equal(points(SERIES_SECOND), 1);
}

static void a_clock_that_goes_back_changes_nothing(void **state)
{
    (void)state;
    run_seconds(0, 5);
    sample.counts[SERIES_COUNT_requests] = 100;
    take_at(2000);
    series_take(series, 0, WALL_MS, &sample);
    assert_int_equal(points(SERIES_SECOND), 5);
    take_at(6000);
    assert_int_equal(requests(SERIES_SECOND, 5), 95);
}

static void the_wall_clock_may_leap(void **state)
{
    (void)state;
    run_seconds(0, 2);
    series_take(series, START_MS + 3000, WALL_MS - 86400000, &sample);
    assert_int_equal(points(SERIES_SECOND), 3);
    assert_int_equal(series->wall_ms, WALL_MS - 86400000);
    series_take(series, START_MS + 4000, INT64_C(1) << 60, &sample);
    assert_int_equal(points(SERIES_SECOND), 4);
}

static void seconds_without_a_sample_are_unknown(void **state)
{
    (void)state;
    run_seconds(0, 3);
    sample.counts[SERIES_COUNT_requests] += 10;
    take_at(8000);
    assert_int_equal(points(SERIES_SECOND), 8);
    for (uint64_t gap = 3; gap < 7; gap++)
        assert_false(point(SERIES_SECOND, gap)->is_known);
    assert_int_equal(requests(SERIES_SECOND, 7), 10);
    assert_int_equal(requests(SERIES_SECOND, 2), 1);
}

static void a_leap_beyond_the_ring_leaves_only_unknown_points(void **state)
{
    (void)state;
    run_seconds(0, 130);
    take_at(UINT64_C(400) * 86400000);
    const uint64_t last = series_last_page(series, SERIES_SECOND);
    for (uint64_t page = series_first_page(series, SERIES_SECOND); page <= last; page++)
        for (uint32_t i = 0; i < series_page_points(series, SERIES_SECOND, page); i++)
            assert_int_equal(series_point(series, SERIES_SECOND, page, i)->is_known,
                             page * SERIES_PAGE + i + 1 == points(SERIES_SECOND));
    const uint64_t minute = series_first_page(series, SERIES_MINUTE);
    assert_false(series_point(series, SERIES_MINUTE, minute, 0)->is_known);
    assert_int_equal(points(SERIES_MINUTE), UINT64_C(400) * 1440);
}

static void a_full_ring_forgets_its_oldest_page(void **state)
{
    (void)state;
    const uint64_t room = SERIES_SECOND_PAGES * SERIES_PAGE;
    run_seconds(0, room);
    assert_int_equal(series_first_page(series, SERIES_SECOND), 0);
    assert_int_equal(series_page_points(series, SERIES_SECOND, 0), SERIES_PAGE);
    sample.counts[SERIES_COUNT_requests] += 41;
    run_seconds(room, room + 1);
    assert_int_equal(series_first_page(series, SERIES_SECOND), 1);
    assert_int_equal(series_last_page(series, SERIES_SECOND), SERIES_SECOND_PAGES);
    assert_int_equal(series_page_points(series, SERIES_SECOND, SERIES_SECOND_PAGES), 1);
    assert_int_equal(requests(SERIES_SECOND, room), 42);
    assert_int_equal(requests(SERIES_SECOND, SERIES_PAGE), 1);
}

/* Ten minutes and a day are there at any time. */
static void what_is_promised_is_kept(void **state)
{
    (void)state;
    for (uint64_t second = 0; second < 3 * 86400; second++) {
        run_seconds(second, second + 1);
        if (second < 2 * 86400)
            continue;
        const uint64_t oldest = series_first_page(series, SERIES_SECOND) * SERIES_PAGE;
        assert_true(points(SERIES_SECOND) - oldest >= 600);
        const uint64_t minute = series_first_page(series, SERIES_MINUTE) * SERIES_PAGE;
        assert_true(points(SERIES_MINUTE) - minute >= 1440);
        assert_int_equal(requests(SERIES_SECOND, oldest), 1);
        assert_int_equal(requests(SERIES_MINUTE, minute), 60);
    }
}

static void a_minute_sums_counters_and_has_the_highest_levels(void **state)
{
    (void)state;
    for (uint64_t second = 0; second < 60; second++) {
        sample.gauges[SERIES_GAUGE_queued] = second == 17 ? 40 : 2;
        run_seconds(second, second + 1);
        assert_int_equal(points(SERIES_MINUTE), second == 59);
    }
    assert_int_equal(requests(SERIES_MINUTE, 0), 60);
    assert_int_equal(point(SERIES_MINUTE, 0)->gauges[SERIES_GAUGE_queued], 40);
    sample.gauges[SERIES_GAUGE_queued] = 1;
    run_seconds(60, 120);
    assert_int_equal(point(SERIES_MINUTE, 1)->gauges[SERIES_GAUGE_queued], 1);
}

static void the_last_point_ended_when_the_clock_says(void **state)
{
    (void)state;
    run_seconds(0, 75);
    assert_int_equal(series_ended_ms(series, SERIES_SECOND), WALL_MS + 75000);
    assert_int_equal(series_ended_ms(series, SERIES_MINUTE), WALL_MS + 60000);
}

static void a_minute_with_a_gap_has_its_known_seconds(void **state)
{
    (void)state;
    run_seconds(0, 10);
    run_seconds(200, 201);
    assert_int_equal(points(SERIES_MINUTE), 1);
    assert_int_equal(requests(SERIES_MINUTE, 0), 10);
    run_seconds(201, 240);
    assert_int_equal(points(SERIES_MINUTE), 4);
    assert_false(point(SERIES_MINUTE, 1)->is_known);
    assert_false(point(SERIES_MINUTE, 2)->is_known);
    assert_int_equal(requests(SERIES_MINUTE, 3), 40);
}

static void solve_times_are_those_of_the_point(void **state)
{
    (void)state;
    histogram_add(&solves, 100000);
    take_at(1000);
    take_at(2000);
    histogram_add(&solves, 4);
    take_at(3000);
    assert_true(point(SERIES_SECOND, 0)->has_solves);
    assert_false(point(SERIES_SECOND, 1)->has_solves);
    assert_in_range(point(SERIES_SECOND, 0)->solve_p50_ms, 60000, 120000);
    assert_in_range(point(SERIES_SECOND, 2)->solve_p95_ms, 2, 5);
    take_at(60000);
    assert_in_range(point(SERIES_MINUTE, 0)->solve_p50_ms, 2, 5);
    assert_in_range(point(SERIES_MINUTE, 0)->solve_p95_ms, 60000, 120000);
    take_at(120000);
    assert_false(point(SERIES_MINUTE, 1)->has_solves);
}

static void counters_that_begin_anew_count_from_zero(void **state)
{
    (void)state;
    sample.counts[SERIES_COUNT_requests] = 1000;
    histogram_add(&solves, 3);
    histogram_add(&solves, 3);
    take_at(1000);
    sample.counts[SERIES_COUNT_requests] = 4;
    solves = (struct histogram){0};
    histogram_add(&solves, 3);
    take_at(2000);
    assert_int_equal(requests(SERIES_SECOND, 1), 4);
    assert_in_range(point(SERIES_SECOND, 1)->solve_p95_ms, 2, 5);
}

static void a_mark_is_in_one_second_and_its_minute(void **state)
{
    (void)state;
    run_seconds(0, 30);
    series_mark(series, SERIES_BREAKER_OPENED);
    series_mark(series, SERIES_BREAKER_CLOSED);
    run_seconds(30, 60);
    const unsigned breaker = 1u << SERIES_BREAKER_OPENED | 1u << SERIES_BREAKER_CLOSED;
    assert_int_equal(point(SERIES_SECOND, 0)->marks, 1u << SERIES_STARTED);
    assert_int_equal(point(SERIES_SECOND, 29)->marks, 0);
    assert_int_equal(point(SERIES_SECOND, 30)->marks, breaker);
    assert_int_equal(point(SERIES_SECOND, 31)->marks, 0);
    assert_int_equal(point(SERIES_MINUTE, 0)->marks, breaker | 1u << SERIES_STARTED);
    assert_string_equal(series_mark_name(SERIES_BREAKER_OPENED), "breaker_opened");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_series, close_series)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_point_has_what_was_added_in_its_second),
        CASE(a_second_that_is_not_over_has_no_point),
        CASE(a_clock_that_goes_back_changes_nothing),
        CASE(the_wall_clock_may_leap),
        CASE(seconds_without_a_sample_are_unknown),
        CASE(a_leap_beyond_the_ring_leaves_only_unknown_points),
        CASE(a_full_ring_forgets_its_oldest_page),
        CASE(what_is_promised_is_kept),
        CASE(a_minute_sums_counters_and_has_the_highest_levels),
        CASE(the_last_point_ended_when_the_clock_says),
        CASE(a_minute_with_a_gap_has_its_known_seconds),
        CASE(solve_times_are_those_of_the_point),
        CASE(counters_that_begin_anew_count_from_zero),
        CASE(a_mark_is_in_one_second_and_its_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
