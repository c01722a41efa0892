#include "store_world.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)

/* Everything is read back by what the wall clock says then. */
struct rows {
    int64_t born, expires, created, started, readable, remembered, written;
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

static void append_one_of_each(struct store_world *world, struct rows *rows)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct record record = world_record(world, kinds[i], 7);
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

static void absurd_times_are_left_alone(void **state)
{
    struct store_world *const world = *state;
    struct rows before;
    struct rows now;
    live(world, &before);
    world_run_sql(world, "UPDATE flight SET created = 9223372036854775807;"
                         "UPDATE solution SET born = -9223372036854775807;");
    pass(world, 5000, HOUR_MS);
    load(world, &now);
    world_close(world);
    assert_int_equal(now.count, KINDS - 2);
    assert_int_equal(now.started, before.started + HOUR_MS);
}

static void a_mark_that_makes_no_sense_is_made_anew(void **state)
{
    struct store_world *const world = *state;
    struct rows before;
    struct rows now;
    live(world, &before);
    world_run_sql(world, "UPDATE clock SET even = -1");
    pass(world, 5000, -HOUR_MS);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, 0);
    pass(world, 5000, HOUR_MS);
    load(world, &now);
    world_close(world);
    assert_moved(&now, &before, HOUR_MS);
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

/* ---- what is a leap ---------------------------------------------------------------------- */

static int64_t leap_of(int64_t even_ms, int64_t wall_ms)
{
    const struct clocks before = {.wall_ms = WORLD_NOW, .even_ms = DAY_MS};
    const struct clocks now = {.wall_ms = WORLD_NOW + wall_ms, .even_ms = DAY_MS + even_ms};
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

/* ---- an older database ------------------------------------------------------------------- */

static void count_counted(void *context, const struct record *record)
{
    unsigned *const names = context;
    if (record->kind == RECORD_ATTEMPT && record->attempt.is_counted)
        *names |= 1U << record->attempt.name;
}

static void append_attempt(struct store_world *world, uint64_t name, uint64_t flight,
                           bool is_replied)
{
    struct record record = world_record(world, RECORD_ATTEMPT, name);
    record.attempt.flight = flight;
    record.attempt.is_counted = is_replied;
    world_append(world, &record);
}

/* Takes back what the third version added. */
#define WITHOUT_VERSION_3                                                              \
    "ALTER TABLE idempotency DROP COLUMN client;"                                      \
    "ALTER TABLE letter DROP COLUMN extra; ALTER TABLE letter DROP COLUMN fresh;"      \
    "ALTER TABLE letter DROP COLUMN rest; ALTER TABLE letter DROP COLUMN retries;"     \
    "ALTER TABLE flight DROP COLUMN rest; ALTER TABLE flight DROP COLUMN max_retries;" \
    "ALTER TABLE flight DROP COLUMN retry_delay;"                                      \
    "ALTER TABLE attempt DROP COLUMN rest; ALTER TABLE attempt DROP COLUMN partial;"   \
    "ALTER TABLE flight DROP COLUMN attempts; ALTER TABLE attempt DROP COLUMN number;" \
    "ALTER TABLE attempt DROP COLUMN why; ALTER TABLE attempt DROP COLUMN resent;"

static void the_first_version_is_understood(void **state)
{
    struct store_world *const world = *state;
    unsigned names = 0;
    world_open(world);
    world_start(world);
    struct record flight = world_record(world, RECORD_FLIGHT, 7);
    world_append(world, &flight);
    append_attempt(world, 1, 7, false);
    append_attempt(world, 2, 7, true);
    append_attempt(world, 3, 8, false);
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_3 "ALTER TABLE attempt RENAME COLUMN counted TO replied;"
                                           "DROP TABLE clock; PRAGMA user_version = 1");
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, count_counted, &names), 0);
    world_close(world);
    /* The third has no flight: that one counted it when it ended. */
    assert_int_equal(names, 1U << 2 | 1U << 3);
}

/* Keys as the second version made them: nobody may be found by them any more. */
struct carried {
    unsigned flights, attempts, letters, without_key, solutions, kept, idempotency;
};

static void count_carried(void *context, const struct record *record)
{
    static const struct key zeros = {{0}};
    struct carried *const carried = context;
    carried->flights += record->kind == RECORD_FLIGHT;
    carried->attempts += record->kind == RECORD_ATTEMPT;
    carried->letters += record->kind == RECORD_LETTER;
    carried->solutions += record->kind == RECORD_SOLUTION;
    carried->idempotency += record->kind == RECORD_IDEMPOTENCY;
    if (record->kind == RECORD_FLIGHT)
        carried->without_key += key_equals(&record->flight.key, &zeros);
    if (record->kind == RECORD_ATTEMPT)
        carried->without_key += key_equals(&record->attempt.key, &zeros);
    if (record->kind == RECORD_LETTER)
        carried->without_key += key_equals(&record->letter.key, &zeros);
    carried->kept += record->kind == RECORD_SOLUTION && record->solution.is_kept;
}

static void append_solution(struct store_world *world, uint64_t id, bool is_kept)
{
    struct record record = world_record(world, RECORD_SOLUTION, id);
    record.solution.is_kept = is_kept;
    world_append(world, &record);
}

static void keys_of_the_second_version_are_discarded_and_counted(void **state)
{
    struct store_world *const world = *state;
    struct carried carried = {0};
    struct store_counters counters;
    world_open(world);
    world_start(world);
    static const enum record_kind carried_over[] = {RECORD_FLIGHT, RECORD_ATTEMPT, RECORD_LETTER,
                                                    RECORD_IDEMPOTENCY};
    for (size_t i = 0; i < sizeof(carried_over) / sizeof(carried_over[0]); i++) {
        struct record record = world_record(world, carried_over[i], 7);
        world_append(world, &record);
    }
    append_solution(world, 1, true);
    append_solution(world, 2, false);
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_3 "PRAGMA user_version = 2");
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.lost_solutions, 1);
    assert_int_equal(counters.lost_idempotency, 1);
    assert_int_equal(store_load(world->store, &world->clocks, count_carried, &carried), 0);
    assert_int_equal(carried.flights, 1);
    assert_int_equal(carried.attempts, 1);
    assert_int_equal(carried.letters, 1);
    assert_int_equal(carried.without_key, 3);
    assert_int_equal(carried.solutions, 2);
    assert_int_equal(carried.kept, 0);
    assert_int_equal(carried.idempotency, 0);
    world_close(world);
    /* Once: a database of this version has nothing to lose. */
    world_open(world);
    store_counters(world->store, &counters);
    assert_int_equal(counters.lost_solutions + counters.lost_idempotency, 0);
    world_close(world);
}

static void collect_reasons(void *context, const struct record *record)
{
    enum cause *const reasons = context;
    if (record->kind == RECORD_ATTEMPT && record->attempt.name < 4)
        reasons[record->attempt.name] = record->attempt.why;
}

static void append_reason(struct store_world *world, uint64_t name, enum class class,
                          const char *code)
{
    struct record record = world_record(world, RECORD_ATTEMPT, name);
    record.attempt.why = CAUSE_POOL;
    record.attempt.cause_class = class;
    (void)snprintf(record.attempt.cause, sizeof(record.attempt.cause), "%s", code);
    world_append(world, &record);
}

static void attempts_of_the_second_version_have_their_reasons(void **state)
{
    struct store_world *const world = *state;
    enum cause reasons[4] = {0};
    world_open(world);
    world_start(world);
    append_reason(world, 1, CLASS_NONE, "");
    append_reason(world, 2, CLASS_AMBIGUOUS, "ERROR_AMBIGUOUS_SUBMIT");
    append_reason(world, 3, CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    world_until_durable(world, world->seq);
    world_close(world);
    world_run_sql(world, WITHOUT_VERSION_3 "PRAGMA user_version = 2");
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, collect_reasons, reasons), 0);
    world_close(world);
    assert_int_equal(reasons[1], CAUSE_FIRST);
    assert_int_equal(reasons[2], CAUSE_RESEND);
    assert_int_equal(reasons[3], CAUSE_RETRY);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        WORLD_CASE(times_follow_a_clock_that_was_set_forward),
        WORLD_CASE(times_follow_a_clock_that_was_set_back),
        WORLD_CASE(a_clock_that_drifts_moves_nothing),
        WORLD_CASE(nobody_knows_what_happened_to_the_clock_while_the_machine_was_off),
        WORLD_CASE(a_boot_without_a_name_is_like_no_other),
        WORLD_CASE(absurd_times_are_left_alone),
        WORLD_CASE(a_mark_that_makes_no_sense_is_made_anew),
        WORLD_CASE(what_was_written_before_follows_and_what_comes_after_does_not),
        WORLD_CASE(a_leap_with_nothing_behind_it_is_written_too),
        WORLD_CASE(a_leap_is_more_than_a_second_and_than_any_drift),
        WORLD_CASE(both_clocks_run),
        WORLD_CASE(the_first_version_is_understood),
        WORLD_CASE(keys_of_the_second_version_are_discarded_and_counted),
        WORLD_CASE(attempts_of_the_second_version_have_their_reasons),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
