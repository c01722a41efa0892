/* Crashes at the worst moments: each of these broke a promise until the simulation met it. */
#include "world.h"

static struct world *journal_world(uint64_t budget_per_day, uint32_t max_solutions)
{
    /* The world reads it anew at each restart. */
    static struct client_options thrifty;
    thrifty = (struct client_options){.weight = 1, .budget_per_day = budget_per_day};
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    if (max_solutions == 0)
        options.clients = &thrifty;
    else
        options.max_solutions = max_solutions;
    return world_new(&options);
}

/* A second submit is one too many in this one. */
static struct world *thrifty_world(uint32_t max_solutions)
{
    return journal_world(1, max_solutions);
}

static void a_solution_reported_bad_stays_bad(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    callback(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .idempotency = "I");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_second_crash_during_recovery_forgets_nobody(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .is_told = true);
    const journal_seq before = w->seq;
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    crash(w, before + 2);
    crash(w, 1);
    assert_non_null(peek(w, "r1"));
    skip_lines(w);
}

static void a_solution_before_its_reply_is_paid_for(void **state)
{
    (void)state;
    struct world *w = thrifty_world(0);
    ask(w, "ann", .key = "K", .is_told = true);
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "TOKEN");
    crash(w, before + 1);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void an_ambiguous_submit_is_paid_for(void **state)
{
    (void)state;
    struct world *w = thrifty_world(0);
    ask(w, "ann", .key = "K", .is_told = true);
    const journal_seq before = w->seq;
    ambiguous(w, "a1");
    crash(w, before + 1);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

/* The first attempt's solution ends the flight while the second is on the wire. */
static struct world *world_with_a_resend_overtaken(uint64_t budget_per_day)
{
    struct world *w = journal_world(budget_per_day, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    ambiguous(w, "a1");
    pass(w, 45000);
    assert_int_equal(w->tally.submits, 2);
    return w;
}

static void a_resend_that_its_flight_did_not_wait_for_is_paid_for(void **state)
{
    (void)state;
    struct world *w = world_with_a_resend_overtaken(2);
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "TOKEN");
    crash(w, before + 1);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_resend_that_its_flight_did_not_wait_for_is_paid_for_once(void **state)
{
    (void)state;
    struct world *w = world_with_a_resend_overtaken(3);
    callback(w, "a1", "T1", "TOKEN");
    crash(w, ALL_RECORDS);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 3);
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void a_doubled_task_is_handed_out_once(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback(w, "a1", "T2", "TWO");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T2", "TWO");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_late_solution_is_handed_out_once(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ambiguous(w, "a1");
    gone(w, "ann");
    pass(w, 50000);
    callback(w, "a1", "T1", "LATE");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    detach(w, "bob", "r1");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "LATE");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_repeat_is_recognised_after_two_crashes(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    accepted(w, "a1", "T1");
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "TOKEN");
    crash(w, before + 1);
    look(w, "ann", "r1", 0);
    detach(w, "ann", "r1");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void what_found_no_place_is_handed_out_once(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "ONE");
    const uint64_t enough = w->options.max_solution_bytes;
    w->options.max_solution_bytes = 1;
    crash(w, before + 1);
    look(w, "ann", "r1", 0);
    const journal_seq given = w->seq;
    detach(w, "ann", "r1");
    /* The request is gone, its solution's end was not written, and now there is a place for it. */
    w->options.max_solution_bytes = enough;
    crash(w, given + 1);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_solution_that_came_without_a_name_is_no_news_with_one(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ambiguous(w, "a1");
    callback(w, "a1", "", "TOKEN");
    callback(w, "a1", "T2", "OTHER");
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.solved, 1);
    skip_lines(w);
}

static void the_name_of_a_task_that_nobody_waits_for_is_remembered(void **state)
{
    (void)state;
    struct world *w = thrifty_world(100);
    ask(w, "ann", .key = "K");
    pass(w, 180000);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "", "TOKEN");
    callback(w, "a1", "T2", "OTHER");
    assert_int_equal(stats_of(w)->duplicates_proven, 1);
    skip_lines(w);
}

static void a_flight_that_failed_alone_does_not_take_the_place_of_the_next(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    for (int i = 0; i < 3; i++)
        ask(w, "crowd", .key = "C");
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    /* While the crowd is told one by one, its end is not yet written by its leaving. */
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    const journal_seq before = w->seq;
    ask(w, "bob", .key = "K", .is_told = true);
    crash(w, before + 3);
    assert_non_null(peek(w, "r2"));
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_solution_reported_bad_stays_bad),
        STORY(a_second_crash_during_recovery_forgets_nobody),
        STORY(a_solution_before_its_reply_is_paid_for),
        STORY(an_ambiguous_submit_is_paid_for),
        STORY(a_resend_that_its_flight_did_not_wait_for_is_paid_for),
        STORY(a_resend_that_its_flight_did_not_wait_for_is_paid_for_once),
        STORY(a_doubled_task_is_handed_out_once),
        STORY(a_late_solution_is_handed_out_once),
        STORY(a_repeat_is_recognised_after_two_crashes),
        STORY(what_found_no_place_is_handed_out_once),
        STORY(a_solution_that_came_without_a_name_is_no_news_with_one),
        STORY(the_name_of_a_task_that_nobody_waits_for_is_remembered),
        STORY(a_flight_that_failed_alone_does_not_take_the_place_of_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
