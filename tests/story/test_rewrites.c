/* A store that came back without its rows: everything in memory is written again, and a crash afterwards pays for
 * nothing twice. */
#include "shared_world.h"

#include <solvegate/members.h>

static struct world *journal_world(void)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    return world_new(&options);
}

/* One of each kind of row: solved, waiting, unheard of, failed, and told to be. */
static struct world *full_world(void)
{
    struct world *w = journal_world();
    ask(w, "solved", .key = "K", .idempotency = "I", .is_told = true);
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "waits", .key = "L", .idempotency = "J", .is_told = true);
    accepted(w, "a2", "T2");
    ask(w, "unheard", .key = "M", .is_told = true);
    ask(w, "fails", .key = "N", .is_told = true);
    rejected(w, "a4", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    rejected(w, "a5", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    rejected(w, "a6", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    pass(w, 2000);
    skip_lines(w);
    return w;
}

static void forget(struct world *w)
{
    struct event event = {.kind = EVENT_STORE_LOST};
    disk_close(&w->disk);
    w->disk = (struct disk){.count = 0};
    world_step(w, &event);
}

static void count_rows(const struct world *w, size_t counts[RECORD_KIND_COUNT])
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        counts[kind] = disk_count(&w->disk, (enum record_kind)kind);
}

static void every_row_is_written_again_and_no_other(void **state)
{
    (void)state;
    struct world *w = full_world();
    size_t before[RECORD_KIND_COUNT];
    size_t after[RECORD_KIND_COUNT];
    count_rows(w, before);
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (kind != RECORD_SPENT)
            assert_true(before[kind] > 0);
    forget(w);
    pass(w, 1);
    count_rows(w, after);
    assert_memory_equal(before, after, sizeof before);
    skip_lines(w);
}

static void a_crash_afterwards_pays_for_nothing_again(void **state)
{
    (void)state;
    struct world *w = full_world();
    const unsigned submits = w->tally.submits;
    forget(w);
    pass(w, 1);
    crash(w, ALL_RECORDS);
    assert_string_equal(peek(w, "r1"), "solved");
    assert_int_equal(gauges_of(w).letters, 1);
    ask(w, "again", .key = "K");
    ask(w, "replays", .key = "L", .idempotency = "J");
    callback(w, "a2", "T2", "SECOND");
    assert_int_equal(w->tally.submits, submits);
    skip_lines(w);
}

static void the_books_of_earlier_days_are_written_too(void **state)
{
    (void)state;
    struct world *w = full_world();
    pass(w, HOURS_MS(25));
    ask(w, "today", .key = "T", .is_told = true);
    pass(w, 2000);
    const size_t days = disk_count(&w->disk, RECORD_DAY);
    const size_t tallies = disk_count(&w->disk, RECORD_TALLY);
    assert_int_equal(days, 2);
    forget(w);
    pass(w, 1);
    assert_int_equal(disk_count(&w->disk, RECORD_DAY), days);
    assert_int_equal(disk_count(&w->disk, RECORD_TALLY), tallies);
    skip_lines(w);
}

/* Those who ask meanwhile are not refused for it. */
static void it_waits_while_half_of_the_backlog_is_not_durable(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.max_records = 40;
    options.step_batch = 4;
    struct world *w = world_new(&options);
    for (char key[] = "A"; key[0] < 'A' + 20; key[0]++) {
        ask(w, "somebody", .key = key, .is_told = true);
        durable(w, w->seq);
    }
    const size_t requests = disk_count(&w->disk, RECORD_REQUEST);
    const journal_seq before = w->seq;
    forget(w);
    pass(w, 10);
    assert_true(w->seq - before < 30);
    assert_true(disk_count(&w->disk, RECORD_REQUEST) < requests);
    for (unsigned i = 0; i < 10; i++) {
        durable(w, w->seq);
        pass(w, 1);
    }
    assert_int_equal(disk_count(&w->disk, RECORD_REQUEST), requests);
    skip_lines(w);
}

/* Others wait for that. */
static void it_is_done_once_the_last_row_is_durable(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.step_batch = 4;
    struct world *w = world_new(&options);
    for (char key[] = "A"; key[0] < 'A' + 20; key[0]++)
        ask(w, "somebody", .key = key, .is_told = true);
    durable(w, w->seq);
    assert_false(engine_is_rewriting(w->engine));
    forget(w);
    assert_true(engine_is_rewriting(w->engine));
    pass(w, 10);
    assert_true(engine_is_rewriting(w->engine));
    durable(w, w->seq - 1);
    assert_true(engine_is_rewriting(w->engine));
    durable(w, w->seq);
    assert_false(engine_is_rewriting(w->engine));
    skip_lines(w);
}

/* ---- a store that others share ----------------------------------------------------------- */

static void claims_are_asked_for_before_any_row_is_written(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    skip_lines(w);
    const size_t flights = disk_count(&w->disk, RECORD_FLIGHT);
    assert_true(flights > 0);
    forget(w);
    pass(w, 1);
    expect(w, "[     0] claim f1 K as before\n");
    assert_int_equal(disk_count(&w->disk, RECORD_FLIGHT), flights);
    won(w, "f1");
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(w->tally.releases, 1);
    skip_lines(w);
}

static void a_stray_asks_for_its_claim_again(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    pass(w, 20000);
    skip_lines(w);
    forget(w);
    pass(w, 1);
    expect(w, "[ 20000] claim f1 K as before\n");
    won(w, "f1");
    assert_int_equal(w->tally.releases, 0);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.releases, 1);
    skip_lines(w);
}

static void who_rides_on_a_stray_that_asked_for_its_claim_has_it(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    pass(w, 20000);
    skip_lines(w);
    forget(w);
    pass(w, 1);
    ask(w, "bob", .key = "K");
    won(w, "f1");
    assert_int_equal(w->tally.releases, 0);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.releases, 1);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

/* This node was late: its lease was over, and others may solve what seems to be free. */
static void a_key_that_another_claimed_meanwhile_is_followed(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    skip_lines(w);
    forget(w);
    pass(w, 1);
    follow(w, "f2");
    won(w, "f1");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
    solve(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
    woken(w, "L");
    found(w, "f2", "THEIRS", 0);
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(gauges_of(w).flights, 0);
    skip_lines(w);
}

/* It is paid for. */
static void a_task_whose_key_another_claimed_meanwhile_goes_on(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    forget(w);
    pass(w, 1);
    follow(w, "f1");
    skip_lines(w);
    assert_int_equal(gauges_of(w).flights, 1);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(gauges_of(w).flights, 0);
    skip_lines(w);
}

static void a_claim_that_comes_back_when_its_flight_is_over_is_released(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    forget(w);
    pass(w, 1);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.releases, 1);
    won(w, "f1");
    assert_int_equal(w->tally.releases, 2);
    skip_lines(w);
}

static void nothing_is_submitted_before_the_store_confirms_the_next_beat(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    forget(w);
    pass(w, 1);
    won(w, "f1");
    won(w, "f2");
    rejected(w, "a1", CLASS_CALLER, "ERROR_WRONG_CAPTCHA_ID");
    assert_int_equal(w->tally.submits, 1);
    beat(w, 0);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

/* Another node may have solved it anew meanwhile, and its row must find the place free. */
static void what_a_key_stood_for_is_not_written_when_it_serves_nobody(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    ask(w, "bob", .key = "L", .idempotency = "I", .is_told = true);
    won(w, "f2");
    callback(w, "a2", "T2", "TOKEN");
    forget(w);
    pass(w, 1);
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 1);
    pass(w, 200000);
    forget(w);
    pass(w, 1);
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 0);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(every_row_is_written_again_and_no_other),
        STORY(a_crash_afterwards_pays_for_nothing_again),
        STORY(the_books_of_earlier_days_are_written_too),
        STORY(it_waits_while_half_of_the_backlog_is_not_durable),
        STORY(it_is_done_once_the_last_row_is_durable),
        STORY(claims_are_asked_for_before_any_row_is_written),
        STORY(a_stray_asks_for_its_claim_again),
        STORY(who_rides_on_a_stray_that_asked_for_its_claim_has_it),
        STORY(a_key_that_another_claimed_meanwhile_is_followed),
        STORY(a_task_whose_key_another_claimed_meanwhile_goes_on),
        STORY(a_claim_that_comes_back_when_its_flight_is_over_is_released),
        STORY(what_a_key_stood_for_is_not_written_when_it_serves_nobody),
        STORY(nothing_is_submitted_before_the_store_confirms_the_next_beat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
