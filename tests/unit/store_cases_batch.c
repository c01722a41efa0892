#include "store_conformance.h"
#include "store_expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CALLS_MAX 64
#define HOUR_MS INT64_C(3600000)

/* ---- a driver that answers as the test orders -------------------------------------------- */

/* The writer's while the store runs; the test reads it when a report came or the store is closed. */
static struct {
    const struct store_driver *real;
    struct store_driver wrapped;
    enum store_result first_answer; /* to the first batch */
    bool writes_first;   /* the first batch is written nevertheless: only the reply is lost */
    uv_sem_t *may_write; /* every batch waits for it; NULL: none does */
    unsigned calls;
    unsigned shifts;
    unsigned beats;
    uint32_t counts[CALLS_MAX];
    journal_seq firsts[CALLS_MAX];
} faulty;

static enum store_result faulty_write(struct store_backend *backend,
                                      const struct store_batch *batch)
{
    const unsigned call = faulty.calls++;
    if (faulty.may_write != NULL)
        uv_sem_wait(faulty.may_write);
    if (call < CALLS_MAX) {
        faulty.counts[call] = batch->count;
        faulty.firsts[call] = batch->first->seq;
    }
    if (call > 0 || faulty.first_answer == STORE_DONE)
        return faulty.real->write(backend, batch);
    if (faulty.writes_first && faulty.real->write(backend, batch) != STORE_DONE)
        return STORE_FAILED;
    (void)snprintf(backend->why, sizeof(backend->why), "the test ordered it");
    return faulty.first_answer;
}

/* The first shift that moves times is made, but its reply is lost. */
static enum store_result faulty_shift(struct store_backend *backend,
                                      const struct store_shift *shift)
{
    const enum store_result result = faulty.real->shift(backend, shift);
    faulty.shifts += shift->by_ms != 0;
    return result == STORE_DONE && shift->by_ms != 0 && faulty.shifts == 1 ? STORE_RETRY : result;
}

/* The store is away at the first beat and back at the second. */
static enum store_result faulty_beat(struct store_backend *backend)
{
    (void)snprintf(backend->why, sizeof(backend->why), "the test ordered it");
    return ++faulty.beats == 1 ? STORE_RETRY : STORE_DONE;
}

static void order(struct store_world *world, enum store_result first_answer, bool writes_first)
{
    memset(&faulty, 0, sizeof(faulty));
    faulty.real = world->kit->driver;
    faulty.wrapped = *world->kit->driver;
    faulty.wrapped.write = faulty_write;
    faulty.wrapped.shift = faulty_shift;
    faulty.first_answer = first_answer;
    faulty.writes_first = writes_first;
    world->driver = &faulty.wrapped;
}

/* ---- without a batch --------------------------------------------------------------------- */

static void a_store_that_goes_away_while_nothing_is_written_is_noticed(void **state)
{
    struct store_world *const world = *state;
    order(world, STORE_DONE, false);
    faulty.wrapped.beat = faulty_beat;
    world_open(world);
    world_start(world);
    world_until_state(world, STORE_AWAY);
    assert_non_null(strstr(world->why, "the test ordered it"));
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
    assert_int_equal(faulty.beats, 2);
    assert_int_equal(faulty.calls, 0);
}

/* ---- batches that fail ------------------------------------------------------------------- */

static void a_batch_whose_reply_was_lost_is_sent_again_and_changes_nothing(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    static struct expectation left;
    order(world, STORE_RETRY, true);
    world_open(world);
    expect_append(world, &wanted);
    for (size_t i = 0; i < wanted.count; i++) {
        if (i % 3 == 0)
            expect_drop(world, &wanted.records[i]);
        else
            left.records[left.count++] = world_share(&wanted.records[i]);
    }
    world_start(world);
    world_until_durable(world, world->seq);
    world_until_state(world, STORE_WRITABLE);
    world_close(world);
    assert_int_equal(faulty.calls, 2);
    assert_int_equal(faulty.counts[0], faulty.counts[1]);
    assert_int_equal(world->state_calls, 2);
    world_open(world);
    expect_load(world, &left);
    world_close(world);
    expect_forget(&wanted);
    expect_forget(&left);
}

static void take_created(void *context, const struct record *record)
{
    *(int64_t *)context = record->flight.created_wall_ms;
}

static void a_shift_whose_reply_was_lost_is_sent_again_and_moves_times_once(void **state)
{
    struct store_world *const world = *state;
    unsigned none = 0;
    int64_t loaded = 0;
    order(world, STORE_RETRY, true);
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &none), 0);
    struct record flight = world_record(world, RECORD_FLIGHT, 1);
    const int64_t created = flight.flight.created_wall_ms;
    world_append(world, &flight);
    world->clocks.even_ms += 1000;
    world->clocks.wall_ms += 1000 + HOUR_MS;
    store_leap(world->store, HOUR_MS, &world->clocks);
    world_start(world);
    world_until_durable(world, world->seq);
    world_close(world);
    assert_int_equal(faulty.calls, 2);
    assert_int_equal(faulty.shifts, 2);
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, take_created, &loaded), 0);
    world_close(world);
    assert_int_equal(loaded, created + HOUR_MS);
}

/* Rows whose times did not follow the clock would expire too early or too late. */
static void a_store_that_is_lost_while_the_times_move_is_not_loaded(void **state)
{
    struct store_world *const world = *state;
    unsigned none = 0;
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &none), 0);
    world_close(world);
    world->clocks.even_ms += 1000;
    world->clocks.wall_ms += 1000 + HOUR_MS;
    order(world, STORE_DONE, false);
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &none), ERR_IO);
    world_close(world);
    world_open(world);
    assert_int_equal(store_load(world->store, &world->clocks, world_count_row, &none), 0);
    world_close(world);
    assert_int_equal(faulty.shifts, 1);
}

/* Its outcome is unknown, so a batch that differed could neither be repeated nor told apart. */
static void a_batch_stays_the_same_until_it_is_written(void **state)
{
    struct store_world *const world = *state;
    order(world, STORE_RETRY, false);
    world_open(world);
    world_append_requests(world, 7);
    world_start(world);
    world_until_state(world, STORE_AWAY);
    assert_non_null(strstr(world->why, "the test ordered it"));
    world_append_requests(world, 5);
    world_until_durable(world, 12);
    world_close(world);
    assert_int_equal(faulty.calls, 3);
    assert_int_equal(faulty.counts[0], 7);
    assert_int_equal(faulty.counts[1], 7);
    assert_int_equal(faulty.firsts[1], 1);
    assert_int_equal(faulty.firsts[2], 8);
    assert_int_equal(world_count_rows(world), 12);
}

static void nothing_is_written_after_a_failure_for_good(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    order(world, STORE_FAILED, false);
    world_open(world);
    world_append_requests(world, 7);
    world_start(world);
    world_until_state(world, STORE_BROKEN);
    assert_non_null(strstr(world->why, "the test ordered it"));
    world_append_requests(world, 5);
    world_turn(world, 100);
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 12);
    assert_int_equal(world->durable, 0);
    world_close(world);
    assert_int_equal(faulty.calls, 1);
    assert_int_equal(world_count_rows(world), 0);
}

static void a_batch_that_fails_in_the_middle_leaves_nothing_behind(void **state)
{
    struct store_world *const world = *state;
    static const int steps[] = {0, 10, 40, 60};
    world_open(world);
    world_start(world);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        world->kit->fill_after(steps[i]);
        world_append_requests(world, 300);
        world_until_state(world, STORE_FULL);
        /* Some may have been written before the rest gathered. */
        assert_true(world->durable < world->seq);
        assert_int_equal(world->kit->count_rows(world, RECORD_REQUEST), world->durable);
        world->kit->set_full(false);
        world_until_durable(world, world->seq);
        world_until_state(world, STORE_WRITABLE);
    }
    const journal_seq written = world->durable; /* loading begins anew */
    world_close(world);
    assert_int_equal(world_count_rows(world), written);
}

static void a_full_store_keeps_what_is_queued_until_it_fits(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 10);
    world_until_durable(world, 10);
    world->kit->set_full(true);
    world_append_requests(world, 10);
    world_until_state(world, STORE_FULL);
    world_append_requests(world, 10);
    world_turn(world, 3 * world->beat_ms); /* it is asked several times */
    assert_int_equal(world->durable, 10);
    assert_int_equal(world->state_calls, 1);
    world->kit->set_full(false);
    world_until_durable(world, 30);
    world_until_state(world, STORE_WRITABLE);
    assert_int_equal(world->state_calls, 2);
    world_close(world);
    assert_int_equal(world_count_rows(world), 30);
}

static void a_store_that_closes_while_full_gives_up_and_says_so(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    world_open(world);
    world_start(world);
    world_append_requests(world, 5);
    world_until_durable(world, 5);
    world->kit->set_full(true);
    world_append_requests(world, 7);
    store_close(world->store, NULL, NULL);
    (void)uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(world->durable, 5);
    assert_int_equal(world->state, STORE_FULL);
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 7);
    store_free(world->store);
    world->kit->set_full(false);
    assert_int_equal(world_count_rows(world), 5);
}

/* ---- sizes and waiting ------------------------------------------------------------------- */

static void the_loop_does_not_wait_for_a_driver_that_blocks(void **state)
{
    struct store_world *const world = *state;
    struct store_counters counters;
    uv_sem_t may_write;
    order(world, STORE_DONE, false);
    assert_int_equal(uv_sem_init(&may_write, 0), 0);
    faulty.may_write = &may_write;
    world_open(world);
    world_start(world);
    world_append_requests(world, 50);
    world_turn(world, 50);
    world_append_requests(world, 50);
    world_turn(world, 50);
    store_counters(world->store, &counters);
    assert_int_equal(counters.waiting, 100);
    assert_int_equal(world->durable, 0);
    /* At most one batch for each record. */
    for (unsigned i = 0; i < 100; i++)
        uv_sem_post(&may_write);
    world_until_durable(world, 100);
    world_close(world);
    uv_sem_destroy(&may_write);
    assert_int_equal(world_count_rows(world), 100);
}

/* Else the first one would be committed alone, and the others had to wait for two commits. */
static void records_of_one_turn_of_the_loop_are_one_batch(void **state)
{
    struct store_world *const world = *state;
    order(world, STORE_DONE, false);
    world->beat_ms = 0; /* a beat is a batch of nothing */
    world_open(world);
    world_start(world);
    world_append_requests(world, 1);
    world_until_durable(world, 1);
    world_turn(world, 200); /* until the writer waits again */
    world_append_requests(world, 1);
    uv_sleep(200);
    world_append_requests(world, 4);
    world_until_durable(world, 6);
    world_close(world);
    assert_int_equal(faulty.calls, 2);
    assert_int_equal(faulty.counts[1], 5);
}

static void many_records_do_not_wait_for_the_end_of_the_turn(void **state)
{
    struct store_world *const world = *state;
    world_open(world);
    world_start(world);
    world_append_requests(world, 200);
    for (unsigned i = 0; i < 1000 && world->kit->count_rows(world, RECORD_REQUEST) == 0; i++)
        uv_sleep(10);
    assert_true(world->kit->count_rows(world, RECORD_REQUEST) > 0);
    world_close(world);
}

static void a_backlog_of_any_size_is_written_in_batches_of_limited_size(void **state)
{
    struct store_world *const world = *state;
    uint64_t total = 0;
    order(world, STORE_DONE, false);
    world_open(world);
    world_append_requests(world, 10000);
    world_start(world);
    world_until_durable(world, world->seq);
    world_close(world);
    assert_int_equal(faulty.calls, 3);
    for (unsigned i = 0; i < faulty.calls; i++) {
        assert_true(faulty.counts[i] <= 4096);
        total += faulty.counts[i];
    }
    assert_int_equal(total, 10000);
    assert_int_equal(world_count_rows(world), 10000);
}

static void a_row_of_some_megabytes_comes_back(void **state)
{
    struct store_world *const world = *state;
    static struct expectation wanted;
    struct record record = world_record(world, RECORD_SOLUTION, 1);
    blob_unref(record.solution.text);
    record.solution.text = blob_alloc((size_t)4 << 20);
    memset(record.solution.text->data, 'x', record.solution.text->len);
    wanted.records[wanted.count++] = world_share(&record);
    world_open(world);
    world_start(world);
    world_append(world, &record);
    world_close(world);
    world_open(world);
    expect_load(world, &wanted);
    world_close(world);
    expect_forget(&wanted);
}

const struct store_case store_batch_cases[] = {
    STORE_CASE(a_store_that_goes_away_while_nothing_is_written_is_noticed),
    STORE_CASE(a_batch_whose_reply_was_lost_is_sent_again_and_changes_nothing),
    STORE_CASE(a_shift_whose_reply_was_lost_is_sent_again_and_moves_times_once),
    STORE_CASE(a_store_that_is_lost_while_the_times_move_is_not_loaded),
    STORE_CASE(a_batch_stays_the_same_until_it_is_written),
    STORE_CASE(nothing_is_written_after_a_failure_for_good),
    STORE_CASE(a_batch_that_fails_in_the_middle_leaves_nothing_behind),
    STORE_CASE(a_full_store_keeps_what_is_queued_until_it_fits),
    STORE_CASE(a_store_that_closes_while_full_gives_up_and_says_so),
    STORE_CASE(the_loop_does_not_wait_for_a_driver_that_blocks),
    STORE_CASE(records_of_one_turn_of_the_loop_are_one_batch),
    STORE_CASE(many_records_do_not_wait_for_the_end_of_the_turn),
    STORE_CASE(a_backlog_of_any_size_is_written_in_batches_of_limited_size),
    STORE_CASE(a_row_of_some_megabytes_comes_back),
    {NULL, NULL},
};
