#include "store_conformance.h"
#include "store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HOUR_MS INT64_C(3600000)
#define WEEK_MS (7 * 24 * HOUR_MS)

/* Everything is read back by what the wall clock says then. */
struct rows {
    int64_t born, expires, created, started, readable, remembered, written, fresh;
    unsigned count;
};

static void take_row(void *context, const struct record *record)
{
    struct rows *const rows = context;
    rows->count++;
    if (record->kind == RECORD_SOLUTION) {
        rows->born = record->solution.born_wall_ms;
        rows->expires = record->solution.expires_wall_ms;
    } else if (record->kind == RECORD_FLIGHT) {
        rows->created = record->flight.created_wall_ms;
    } else if (record->kind == RECORD_ATTEMPT) {
        rows->started = record->attempt.started_wall_ms;
    } else if (record->kind == RECORD_REQUEST) {
        rows->readable = record->request.expires_wall_ms;
    } else if (record->kind == RECORD_IDEMPOTENCY) {
        rows->remembered = record->idempotency.expires_wall_ms;
    } else if (record->kind == RECORD_LETTER) {
        rows->written = record->letter.created_wall_ms;
        rows->fresh = record->letter.fresh_wall_ms;
    }
}

static const enum record_kind kinds[] = {RECORD_SOLUTION, RECORD_FLIGHT,      RECORD_ATTEMPT,
                                         RECORD_REQUEST,  RECORD_IDEMPOTENCY, RECORD_LETTER};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void load(struct store_world *world, struct rows *rows)
{
    *rows = (struct rows){0};
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, take_row, rows), 0);
}

/* The hours that pass in these cases must not make it expire. */
static void make_lasting(struct record *record)
{
    if (record->kind == RECORD_SOLUTION)
        record->solution.expires_wall_ms += WEEK_MS;
    else if (record->kind == RECORD_ATTEMPT)
        record->attempt.started_wall_ms += WEEK_MS;
    else if (record->kind == RECORD_REQUEST)
        record->request.expires_wall_ms += WEEK_MS;
    else if (record->kind == RECORD_IDEMPOTENCY)
        record->idempotency.expires_wall_ms += WEEK_MS;
}

static void append_one_of_each(struct store_world *world, struct rows *rows)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct record record = world_record(world, kinds[i], 7);
        make_lasting(&record);
        take_row(rows, &record);
        world_append(world, &record);
    }
}

/* A life of the gateway in which a row of each kind is written. */
static void live(struct store_world *world, struct rows *rows)
{
    load(world, rows);
    assert_int_equal(rows->count, 0);
    world_start(world);
    append_one_of_each(world, rows);
    world_until_durable(world, world->seq);
    world_close(world);
}

static void pass(struct store_world *world, int64_t even_ms, int64_t leap_ms)
{
    world->clocks.even_ms += even_ms;
    world->clocks.wall_ms += even_ms + leap_ms;
}

static void assert_moved(const struct rows *now, const struct rows *before, int64_t by_ms)
{
    assert_int_equal(now->count, KINDS);
    assert_int_equal(now->born, before->born + by_ms);
    assert_int_equal(now->expires, before->expires + by_ms);
    assert_int_equal(now->created, before->created + by_ms);
    assert_int_equal(now->started, before->started + by_ms);
    assert_int_equal(now->readable, before->readable + by_ms);
    assert_int_equal(now->remembered, before->remembered + by_ms);
    assert_int_equal(now->fresh, before->fresh + by_ms);
    /* People read this one, and an hour is nothing to it. */
    assert_int_equal(now->written, before->written);
}

/* ---- over a restart ---------------------------------------------------------------------- */

static void restart_with(struct store_world *world, int64_t leap_ms, int64_t moved_ms)
{
    struct rows before;
    struct rows now;
    live(world, &before);
    pass(world, 5000, leap_ms);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, moved_ms);
    pass(world, 5000, 0);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, moved_ms);
}

static void times_follow_a_clock_that_was_set_forward(void **state)
{
    restart_with(*state, HOUR_MS, HOUR_MS);
}

static void times_follow_a_clock_that_was_set_back(void **state)
{
    restart_with(*state, -HOUR_MS, -HOUR_MS);
}

static void a_clock_that_drifts_moves_nothing(void **state)
{
    restart_with(*state, 900, 0);
}

static void start_twice(struct store_world *world, const char *boot, const char *other_boot)
{
    struct rows before;
    struct rows now;
    world->clocks.boot = boot;
    live(world, &before);
    world->clocks.boot = other_boot;
    pass(world, 5000, -HOUR_MS);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, 0);
}

static void nobody_knows_what_happened_to_the_clock_while_the_machine_was_off(void **state)
{
    start_twice(*state, "one", "two");
}

static void a_boot_without_a_name_is_like_no_other(void **state)
{
    start_twice(*state, "", "");
}

static void a_time_beyond_all_reason_is_left_alone(void **state)
{
    struct store_world *const world = *state;
    struct rows before = {0};
    struct rows now;
    load(world, &now);
    world_start(world);
    append_one_of_each(world, &before);
    struct record flight = world_record(world, RECORD_FLIGHT, 8);
    flight.flight.created_wall_ms = INT64_MAX;
    world_append(world, &flight);
    struct record solution = world_record(world, RECORD_SOLUTION, 8);
    solution.solution.born_wall_ms = -INT64_MAX;
    world_append(world, &solution);
    world_close(world);
    pass(world, 5000, HOUR_MS);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, HOUR_MS);
}

static void a_letter_without_a_time_limit_has_none_afterwards(void **state)
{
    struct store_world *const world = *state;
    struct rows rows;
    load(world, &rows);
    world_start(world);
    struct record letter = world_record(world, RECORD_LETTER, 8);
    letter.letter.fresh_wall_ms = 0;
    world_append(world, &letter);
    world_close(world);
    pass(world, 5000, HOUR_MS);
    load(world, &rows);
    world_close(world);
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.fresh, 0);
}

/* ---- while it runs ----------------------------------------------------------------------- */

static void what_was_written_before_follows_and_what_comes_after_does_not(void **state)
{
    struct store_world *const world = *state;
    struct rows before = {0};
    struct rows now;
    load(world, &now);
    world_start(world);
    append_one_of_each(world, &before);
    pass(world, 5000, HOUR_MS);
    store_leap(world->store, HOUR_MS, &world->clocks);
    struct record late = world_record(world, RECORD_FLIGHT, 8);
    const int64_t created = late.flight.created_wall_ms;
    world_append(world, &late);
    world_until_durable(world, world->seq);
    world_close(world);
    pass(world, 5000, 0);
    load(world, &now);
    world_close(world);
    /* The later flight is read after the earlier one. */
    assert_int_equal(now.count, KINDS + 1);
    assert_int_equal(now.created, created);
    assert_int_equal(now.started, before.started + HOUR_MS);
}

static void a_leap_with_nothing_behind_it_is_written_too(void **state)
{
    struct store_world *const world = *state;
    struct rows before = {0};
    struct rows now;
    load(world, &now);
    world_start(world);
    append_one_of_each(world, &before);
    world_until_durable(world, world->seq);
    pass(world, 5000, -HOUR_MS);
    store_leap(world->store, -HOUR_MS, &world->clocks);
    struct store_counters counters;
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 1);
    world_close(world);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, -HOUR_MS);
}

const struct store_case store_clock_cases[] = {
    STORE_CASE(times_follow_a_clock_that_was_set_forward),
    STORE_CASE(times_follow_a_clock_that_was_set_back),
    STORE_CASE(a_clock_that_drifts_moves_nothing),
    STORE_CASE(nobody_knows_what_happened_to_the_clock_while_the_machine_was_off),
    STORE_CASE(a_boot_without_a_name_is_like_no_other),
    STORE_CASE(a_time_beyond_all_reason_is_left_alone),
    STORE_CASE(a_letter_without_a_time_limit_has_none_afterwards),
    STORE_CASE(what_was_written_before_follows_and_what_comes_after_does_not),
    STORE_CASE(a_leap_with_nothing_behind_it_is_written_too),
    {NULL, NULL},
};
