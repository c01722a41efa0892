/* Paid tasks that nobody waits for any more: the vendor is asked for them, and what it made finds its place. */
#include "world.h"

static struct world *poll_world(bool has_journal)
{
    struct engine_options options = world_options();
    options.has_journal = has_journal;
    options.solve_timeout_ms = 60000;
    return world_new(&options);
}

/* A task whose flight ran out of time while the vendor worked on it. */
static struct world *world_with_a_stray(bool has_journal)
{
    struct world *w = poll_world(has_journal);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 59000);
    pending(w, "a1");
    pass(w, 1000);
    skip_lines(w);
    return w;
}

static void what_comes_after_the_deadline_is_fetched_and_kept(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    pass(w, 5000);
    solved(w, "a1", "LATE");
    ask(w, "bob", .key = "K");
    expect(w, "[ 65000] poll a1 task T1\n"
              "[ 65000] answer bob r2 solved \"LATE\" source dedup_cache attempts 0\n");
}

static void whoever_waits_for_the_same_gets_it(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    ask(w, "bob", .key = "K");
    pass(w, 5000);
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] submit a2 K\n"
              "[ 65000] poll a1 task T1\n"
              "[ 65000] answer bob r2 solved \"LATE\" source api attempts 1\n");
}

static void it_is_asked_for_less_and_less_often_and_not_for_ever(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    for (int i = 0; i < 60; i++) {
        const unsigned before = w->tally.polls;
        pass(w, 2500);
        if (w->tally.polls > before)
            pending(w, "a1");
    }
    expect(w, "[ 65000] poll a1 task T1\n"
              "[ 70000] poll a1 task T1\n"
              "[ 75000] poll a1 task T1\n"
              "[ 82500] poll a1 task T1\n"
              "[ 93750] poll a1 task T1\n"
              "[112500] poll a1 task T1\n");
}

static void what_the_vendor_gave_up_is_not_asked_for_again(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    pass(w, 5000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    pass(w, 600000);
    expect(w, "[ 65000] poll a1 task T1\n");
}

static void a_task_accepted_when_its_flight_was_over_is_fetched_too(void **state)
{
    (void)state;
    struct world *w = poll_world(false);
    ask(w, "ann", .key = "K", .is_told = true);
    pass(w, 60000);
    skip_lines(w);
    accepted(w, "a1", "T1");
    pass(w, 5000);
    solved(w, "a1", "LATE");
    ask(w, "bob", .key = "K");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void a_poll_under_way_at_the_deadline_is_no_end(void **state)
{
    (void)state;
    struct world *w = poll_world(false);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    pending(w, "a1");
    pass(w, 5000);
    solved(w, "a1", "LATE");
    expect(w, "[ 65000] poll a1 task T1\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
}

static void a_crash_does_not_forget_it(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(true);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    pass(w, 5000);
    assert_int_equal(w->tally.polls, 2);
    solved(w, "a1", "LATE");
    crash(w, ALL_RECORDS);
    pass(w, 10000);
    assert_int_equal(w->tally.polls, 2);
    ask(w, "bob", .key = "K");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void what_the_vendor_gave_up_stays_given_up_after_a_crash(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    options.fallback_after_ms = 5000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 179000);
    pending(w, "a1");
    pass(w, 10000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    crash(w, ALL_RECORDS);
    const unsigned before = w->tally.polls;
    pass(w, 100000);
    assert_int_equal(w->tally.polls, before);
    skip_lines(w);
}

static void one_of_long_ago_is_not_asked_for_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(true);
    w->now_ms += 150000;
    crash(w, ALL_RECORDS);
    const unsigned before = w->tally.polls;
    pass(w, 600000);
    assert_int_equal(w->tally.polls, before);
    skip_lines(w);
}

static void where_callbacks_come_they_are_waited_for_first(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.fallback_after_ms = 90000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 179000);
    pending(w, "a1");
    pass(w, 1000);
    skip_lines(w);
    pass(w, 89000);
    expect(w, "");
    pass(w, 1000);
    expect(w, "[270000] poll a1 task T1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_comes_after_the_deadline_is_fetched_and_kept),
        STORY(whoever_waits_for_the_same_gets_it),
        STORY(it_is_asked_for_less_and_less_often_and_not_for_ever),
        STORY(what_the_vendor_gave_up_is_not_asked_for_again),
        STORY(a_task_accepted_when_its_flight_was_over_is_fetched_too),
        STORY(a_poll_under_way_at_the_deadline_is_no_end),
        STORY(a_crash_does_not_forget_it),
        STORY(what_the_vendor_gave_up_stays_given_up_after_a_crash),
        STORY(one_of_long_ago_is_not_asked_for_after_a_restart),
        STORY(where_callbacks_come_they_are_waited_for_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
