/* Polling: the first wait, the interval, the spread, and never two questions at once (docs/design.md 5.7). */
#include "usual_worlds.h"

static void the_first_wait_is_the_types_and_the_interval_counts_from_the_answer(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.poll_first_ms[TYPE_IMAGE] = 2000;
    options.poll_first_ms[TYPE_RECAPTCHA_V3] = 15000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .type = TYPE_IMAGE);
    ask(w, "bob", .key = "L", .type = TYPE_RECAPTCHA_V3);
    pass(w, 1000);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 4000);
    pending(w, "a1");
    pass(w, 5000);
    pass(w, 500);
    pending(w, "a1");
    pass(w, 6500);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[3000..4000] poll a1 task T1\n"
              "[ 10000] poll a1 task T1\n"
              "[ 15500] poll a1 task T1\n"
              "[16000..17000] poll a2 task T2\n");
}

static void no_second_question_while_one_is_on_its_way(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 100000);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n");
    pending(w, "a1");
    pass(w, 5000);
    expect(w, "[105000] poll a1 task T1\n");
}

static void a_poll_nobody_answered_is_asked_again_later(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    unheard(w, "a1", 0);
    pass(w, 5000);
    unheard(w, "a1", 9000);
    pass(w, 9000);
    unheard(w, "a1", 100);
    pass(w, 5000);
    solved(w, "a1", "TOKEN");
    /* Silence says nothing about the birth. */
    expect(w,
           "[     0] submit a1 K\n"
           "[5000..6000] poll a1 task T1\n"
           "[ 11000] poll a1 task T1\n"
           "[ 20000] poll a1 task T1\n"
           "[ 25000] poll a1 task T1\n"
           "[ 25000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 25000 left 55000\n");
    assert_int_equal(stats_of(w)->polls, 4);
    assert_int_equal(stats_of(w)->polls_unheard, 3);
}

static void the_vendor_cannot_make_us_wait_for_ever(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    unheard(w, "a1", UINT32_MAX);
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[ 66000] poll a1 task T1\n");
}

static void flights_that_start_together_do_not_poll_together(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 30;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    for (int i = 0; i < 30; i++) {
        static const char *const attempts[] = {
            "a1",  "a2",  "a3",  "a4",  "a5",  "a6",  "a7",  "a8",  "a9",  "a10",
            "a11", "a12", "a13", "a14", "a15", "a16", "a17", "a18", "a19", "a20",
            "a21", "a22", "a23", "a24", "a25", "a26", "a27", "a28", "a29", "a30"};
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
        accepted(w, attempts[i], "T");
    }
    pass(w, 4999);
    assert_int_equal(w->tally.polls, 0);
    unsigned most_at_once = 0;
    for (int i = 0; i < 20; i++) {
        const unsigned before = w->tally.polls;
        pass(w, 50);
        most_at_once =
            w->tally.polls - before > most_at_once ? w->tally.polls - before : most_at_once;
    }
    pass(w, 1);
    assert_int_equal(w->tally.polls, 30);
    /* Of twenty spans of time none has more than a third of them. */
    assert_in_range(most_at_once, 1, 10);
}

static void a_flight_that_ended_is_not_polled_any_more(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 4000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[  4000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
}

/* Whoever drains hears no callbacks any more; those who wait must not wait for them. */
static void draining_asks_for_what_callbacks_would_have_brought(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 20000);
    ask(w, "bob", .key = "L");
    accepted(w, "a2", "T2");
    ask(w, "cat", .key = "M");
    drain(w);
    accepted(w, "a3", "T3");
    pass(w, 10000);
    expect(w, "[     0] submit a1 K\n"
              "[ 20000] submit a2 L\n"
              "[ 20000] submit a3 M\n"
              "[20000..21000] poll a1 task T1\n"
              "[ 25000] poll a2 task T2\n"
              "[25000..26000] poll a3 task T3\n");
}

static void what_outlived_its_deadline_in_a_standstill_is_asked_for_once_more(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L", .is_told = true);
    stand_still(w, 3600000);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    look(w, "ann", "r1", 0);
    look(w, "bob", "r2", 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] submit a2 L\n"
              "[     0] answer bob r2 solving\n"
              "[3600000] poll a1 task T1\n"
              "[3600000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[3600000] answer bob r2 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
}

static void a_poll_that_was_on_its_way_in_a_standstill_is_waited_for(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    stand_still(w, 3600000);
    pass(w, 1000);
    solved(w, "a1", "TOKEN");
    look(w, "ann", "r1", 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[5000..6000] poll a1 task T1\n"
              "[3607000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void standing_still_saves_nobody_twice_and_only_whose_time_is_over(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    pending(w, "a1");
    stand_still(w, 100000);
    pass(w, 0);
    pending(w, "a1");
    stand_still(w, 100000);
    pass(w, 0);
    pending(w, "a1");
    stand_still(w, 100000);
    pass(w, 0);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[106000] poll a1 task T1\n"
              "[206000] poll a1 task T1\n"
              "[306000] poll a1 task T1\n"
              "[306000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(the_first_wait_is_the_types_and_the_interval_counts_from_the_answer),
        STORY(no_second_question_while_one_is_on_its_way),
        STORY(a_poll_nobody_answered_is_asked_again_later),
        STORY(the_vendor_cannot_make_us_wait_for_ever),
        STORY(flights_that_start_together_do_not_poll_together),
        STORY(a_flight_that_ended_is_not_polled_any_more),
        STORY(draining_asks_for_what_callbacks_would_have_brought),
        STORY(what_outlived_its_deadline_in_a_standstill_is_asked_for_once_more),
        STORY(a_poll_that_was_on_its_way_in_a_standstill_is_waited_for),
        STORY(standing_still_saves_nobody_twice_and_only_whose_time_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
