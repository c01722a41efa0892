#include "store_conformance.h"
#include "store_expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void every_kind_of_row_comes_back_with_all_its_fields(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    world_start(world);
    expect_append(world, &wanted);
    world_until_durable(world, world->seq);
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void a_second_record_replaces_the_row_of_its_name(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    world_start(world);
    expect_append(world, &wanted);
    expect_forget(&wanted);
    expect_append(world, &wanted);
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

/* Queued before the start, all of it is one batch, or a few. */
static void a_row_that_changes_often_within_a_batch_ends_as_it_was_written_last(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    world_open(world);
    expect_append(world, &wanted);
    expect_forget(&wanted);
    expect_append(world, &wanted);
    for (size_t i = 0; i < wanted.count; i++) {
        if (i % 3 != 0)
            expect_drop(world, &wanted.records[i]);
        if (i % 3 == 2)
            continue;
        left.records[left.count++] = world_share(&wanted.records[i]);
        struct record again = world_share(&wanted.records[i]);
        if (i % 3 == 1)
            world_append(world, &again);
        else
            record_close(&again);
    }
    world_start(world);
    world_close(world);
    world_open(world);
    expect_load(world, &left);
    world_close(world);
    expect_forget(&wanted);
    expect_forget(&left);
}

static int64_t *time_of(struct record *record)
{
    return record->kind == RECORD_ATTEMPT ? &record->attempt.started_wall_ms
                                          : &record->solution.expires_wall_ms;
}

/* A driver may take so little for the jitter of a clock, and leave the row's time as it is. */
#define JITTER_MS 100

struct changed_row {
    struct record record; /* as it should be */
    unsigned seen;
};

static void see_changed_row(void *context, const struct record *record)
{
    struct changed_row *const wanted = context;
    struct record loaded = *record;
    const int64_t late = *time_of(&loaded) - *time_of(&wanted->record);
    wanted->seen++;
    assert_true(late >= -JITTER_MS && late <= JITTER_MS);
    *time_of(&loaded) = *time_of(&wanted->record);
    assert_null(world_difference(&wanted->record, &loaded));
}

/* Writes the row anew in a batch of its own, with its time moved by so much. */
static void change_row(struct store_world *world, struct changed_row *row, int64_t by_ms)
{
    struct record next = world_record(world, row->record.kind, 1);
    *time_of(&next) = *time_of(&row->record) + by_ms;
    record_close(&row->record);
    row->record = world_share(&next);
    world_append(world, &next);
    world_until_durable(world, world->seq);
}

static void load_changed_row(struct store_world *world, struct changed_row *row)
{
    world_close(world);
    world_open(world);
    row->seen = 0;
    assert_int_equal(store_load(world->store, &world->clocks, see_changed_row, row), 0);
    assert_int_equal(row->seen, 1);
    world_start(world);
}

static void a_row_that_changes_moves_its_time_but_for_the_jitter_of_a_clock(void **state)
{
    struct store_world *const world = *state;
    static const enum record_kind kinds[] = {RECORD_ATTEMPT, RECORD_SOLUTION};
    for (size_t i = 0; i < 2; i++) {
        struct changed_row row = {.record = world_record(world, kinds[i], 1)};
        struct record first = world_share(&row.record);
        world_open(world);
        world_start(world);
        world_append(world, &first);
        world_until_durable(world, world->seq);
        change_row(world, &row, 3);
        load_changed_row(world, &row);
        change_row(world, &row, -2);
        change_row(world, &row, 5000);
        load_changed_row(world, &row);
        change_row(world, &row, 0);
        change_row(world, &row, -5000);
        load_changed_row(world, &row);
        struct record drop = expect_drop_of(&row.record);
        world_append(world, &drop);
        world_close(world);
        record_close(&row.record);
    }
}

static void a_drop_removes_one_row_of_any_kind(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    world_open(world);
    world_start(world);
    expect_append(world, &wanted);
    for (size_t i = 0; i < wanted.count; i++) {
        if (i % 2 == 0)
            expect_drop(world, &wanted.records[i]);
        else
            left.records[left.count++] = world_share(&wanted.records[i]);
    }
    world_close(world);
    world_open(world);
    expect_load(world, &left);
    world_close(world);
    expect_forget(&wanted);
    expect_forget(&left);
}

static void rows_of_a_client_without_a_name_are_passed_over_and_counted(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    world_open(world);
    world_start(world);
    expect_append(world, &wanted);
    world_close(world);
    for (size_t i = 0; i < wanted.count; i++) {
        const struct record *const r = &wanted.records[i];
        const bool is_betas = (r->kind == RECORD_SPENT && r->spent.client == 1) ||
                              (r->kind == RECORD_TALLY && r->tally.client == 1) ||
                              (r->kind == RECORD_SOLUTION && r->solution.client == 1) ||
                              (r->kind == RECORD_FLIGHT && r->flight.client == 1) ||
                              (r->kind == RECORD_ATTEMPT && r->attempt.client == 1) ||
                              (r->kind == RECORD_REQUEST && r->request.client == 1) ||
                              (r->kind == RECORD_IDEMPOTENCY && r->idempotency.client == 1) ||
                              (r->kind == RECORD_LETTER && r->letter.client == 1);
        if (!is_betas)
            left.records[left.count++] = world_share(r);
    }
    world->is_beta_gone = true;
    world_open(world);
    expect_load(world, &left);
    struct store_counters counters;
    store_counters(world->store, &counters);
    assert_int_equal(counters.skipped, wanted.count - left.count);
    world_close(world);
    world->is_beta_gone = false;
    /* They are still there for a client that comes back. */
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
    expect_forget(&left);
}

/* An expired and a living row of each kind that expires, differing in what decides. */
static struct record aged(struct store_world *world, enum record_kind kind, bool is_expired)
{
    struct record record = world_record(world, kind, is_expired ? 1 : 2);
    const int64_t hour = 3600000;
    if (kind == RECORD_DAY)
        record.day.day = WORLD_NOW / 86400000 - (is_expired ? 9 : 8);
    else if (kind == RECORD_TALLY)
        record.tally.day = WORLD_NOW / 86400000 - (is_expired ? 9 : 8);
    else if (kind == RECORD_SPENT)
        record.spent.day = WORLD_NOW / 86400000 - (is_expired ? 9 : 8);
    else if (kind == RECORD_SOLUTION)
        record.solution.expires_wall_ms = WORLD_NOW - 60000 + (is_expired ? 0 : 1);
    else if (kind == RECORD_ATTEMPT) {
        record.attempt.started_wall_ms = WORLD_NOW - (is_expired ? 2 * hour : hour);
        record.attempt.flight = 77;
    } else if (kind == RECORD_REQUEST) {
        record.request.state = REQUEST_SOLVED;
        record.request.expires_wall_ms = WORLD_NOW + (is_expired ? 0 : 1);
    } else if (kind == RECORD_IDEMPOTENCY)
        record.idempotency.expires_wall_ms = WORLD_NOW + (is_expired ? 0 : 1);
    return record;
}

static void expired_rows_are_neither_loaded_nor_kept(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static const enum record_kind mortal[] = {RECORD_DAY,        RECORD_TALLY,   RECORD_SPENT,
                                              RECORD_SOLUTION,   RECORD_ATTEMPT, RECORD_REQUEST,
                                              RECORD_IDEMPOTENCY};
    const size_t kinds = sizeof(mortal) / sizeof(mortal[0]);
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < kinds; i++) {
        struct record expired = aged(world, mortal[i], true);
        struct record living = aged(world, mortal[i], false);
        wanted.records[wanted.count++] = world_share(&living);
        world_append(world, &expired);
        world_append(world, &living);
    }
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_start(world);
    for (size_t i = 0; i < kinds; i++)
        for (unsigned n = 0; n < 1000 && world->kit->count_rows(world, mortal[i]) != 1; n++)
            uv_sleep(10);
    world_close(world);
    for (size_t i = 0; i < kinds; i++)
        assert_int_equal(world->kit->count_rows(world, mortal[i]), 1);
    expect_forget(&wanted);
}

static void what_is_still_open_does_not_die_of_age(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    struct record flight = world_record(world, RECORD_FLIGHT, 5);
    struct record attempt = world_record(world, RECORD_ATTEMPT, 6);
    attempt.attempt.flight = 5;
    attempt.attempt.is_closed = false;
    attempt.attempt.started_wall_ms = 1;
    struct record request = world_record(world, RECORD_REQUEST, 7);
    request.request.state = REQUEST_SOLVING;
    request.request.expires_wall_ms = 0;
    struct record *const all[] = {&flight, &attempt, &request};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < 3; i++) {
        wanted.records[wanted.count++] = world_share(all[i]);
        world_append(world, all[i]);
    }
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

static void many_records_share_few_commits(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    for (unsigned i = 0; i < 3000; i++) {
        struct record record = world_record(world, RECORD_REQUEST, i + 1);
        world_append(world, &record);
    }
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 3000);
    world_until_durable(world, world->seq);
    store_counters(world->store, &counters);
    assert_int_equal(counters.records, 3000);
    assert_int_equal(counters.waiting, 0);
    assert_true(counters.commits > 0 && counters.commits < 300);
    assert_true(counters.bytes > UINT64_C(3000) * 100);
    assert_true(world->durable_calls <= counters.commits);
    (void)printf("# 3000 records took %llu commits\n", (unsigned long long)counters.commits);
    world_close(world);
}

/* Nothing can be reckoned with such a time, and adding to it would overflow. */
static void a_row_with_a_time_beyond_all_reason_is_passed_over(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static const int64_t times[] = {INT64_MIN, -1, INT64_MAX};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct record letter = world_record(world, RECORD_LETTER, i + 1);
        letter.letter.created_wall_ms = times[i];
        world_append(world, &letter);
    }
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    struct store_counters counters;
    store_counters(world->store, &counters);
    assert_int_equal(counters.skipped, 3);
    world_close(world);
}

static void what_was_queued_before_the_start_or_at_the_close_is_written(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    world_open(world);
    expect_append(world, &wanted);
    world_start(world);
    world_close(world);
    assert_int_equal(world->durable, world->seq);
    world_open(world);
    expect_load(world, &wanted);
    expect_forget(&wanted);
    /* And without a start nothing leaks. */
    struct record record = world_record(world, RECORD_LETTER, 1);
    world_append(world, &record);
    world_close(world);
}

const struct store_case store_row_cases[] = {
    STORE_CASE(every_kind_of_row_comes_back_with_all_its_fields),
    STORE_CASE(a_second_record_replaces_the_row_of_its_name),
    STORE_CASE(a_row_that_changes_often_within_a_batch_ends_as_it_was_written_last),
    STORE_CASE(a_row_that_changes_moves_its_time_but_for_the_jitter_of_a_clock),
    STORE_CASE(a_drop_removes_one_row_of_any_kind),
    STORE_CASE(rows_of_a_client_without_a_name_are_passed_over_and_counted),
    STORE_CASE(expired_rows_are_neither_loaded_nor_kept),
    STORE_CASE(what_is_still_open_does_not_die_of_age),
    STORE_CASE(many_records_share_few_commits),
    STORE_CASE(a_row_with_a_time_beyond_all_reason_is_passed_over),
    STORE_CASE(what_was_queued_before_the_start_or_at_the_close_is_written),
    {NULL, NULL},
};
