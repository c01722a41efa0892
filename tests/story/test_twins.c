/* One task id on two attempts: it is alerted, and one token never goes to two (docs/reliability.md, threat 24). */
#include "world.h"

static struct world *world_of_twins(bool has_callbacks)
{
    struct engine_options options = world_options();
    options.has_callbacks = has_callbacks;
    return world_new(&options);
}

static void a_single_token_is_not_handed_out_again_with_its_task(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a2", "T1", "TOKEN");
    pass(w, 1000);
    solve(w, "a3", "T3", "OTHER");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] submit a2 K\n"
              "[  6000] alert task twice a2\n"
              "[11000..12000] poll a2 task T1\n"
              "[ 13000] submit a3 K\n"
              "[18000..19000] poll a3 task T3\n"
              "[ 19000] answer bob r2 solved \"OTHER\" source api attempts 2\n");
    assert_int_equal(stats_of(w)->tasks_twice, 1);
}

static void both_at_work_the_first_that_is_solved_has_it(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T1");
    pass(w, 6000);
    solved(w, "a2", "TOKEN");
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[     0] alert task twice a2\n"
              "[5000..6000] poll a2 task T1\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source api attempts 1\n");
}

static void an_id_that_comes_round_with_another_text_is_only_told(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE);
    solve(w, "a2", "T1", "OTHER");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] submit a2 L\n"
              "[  6000] alert task twice a2\n"
              "[11000..12000] poll a2 task T1\n"
              "[ 12000] answer bob r2 solved \"OTHER\" source api attempts 1\n");
}

static void after_an_hour_an_id_is_as_good_as_new(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a1", "T1", "TOKEN");
    pass(w, HOURS_MS(1));
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a2", "T1", "TOKEN");
    assert_int_equal(stats_of(w)->tasks_twice, 0);
    assert_int_equal(stats_of(w)->answered_api, 2);
    skip_lines(w);
}

static void what_is_shared_goes_to_both_who_want_the_same(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 1000);
    ask(w, "bob", .key = "K", .max_age_ms = 1);
    solve(w, "a2", "T1", "TOKEN");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a3", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  7000] submit a2 K\n"
              "[  7000] alert task twice a2\n"
              "[12000..13000] poll a2 task T1\n"
              "[ 13000] answer bob r2 solved \"TOKEN\" source api attempts 1\n"
              "[ 13000] submit a3 K\n"
              "[ 13000] alert task twice a3\n"
              "[18000..19000] poll a3 task T1\n");
}

static void what_holds_a_one_time_input_does_not(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K", .is_one_time = true);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .is_one_time = true);
    solve(w, "a2", "T1", "TOKEN");
    assert_int_equal(stats_of(w)->answered_api, 1);
    skip_lines(w);
}

static void a_poll_brings_another_target_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T1");
    pass(w, 6000);
    /* It was made for ann, whoever asks for it first. */
    solved(w, "a2", "TOKEN");
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] alert task twice a2\n"
              "[5000..6000] poll a2 task T1\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_callback_says_itself_whose_it_is(void **state)
{
    (void)state;
    struct world *w = world_of_twins(true);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "OTHER");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] alert task twice a2\n"
              "[     0] ack a2\n"
              "[     0] answer bob r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] ack a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r2 solved \"OTHER\" source api attempts 1\n");
}

static void a_callback_with_anothers_task_brings_nothing(void **state)
{
    (void)state;
    struct world *w = world_of_twins(true);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    callback(w, "a1", "T2", "TOKEN2");
    callback(w, "a2", "T1", "TOKEN1");
    callback(w, "a2", "T2", "TOKEN2");
    callback(w, "a1", "T1", "TOKEN1");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] alert task twice a1\n"
              "[     0] alert other solution a1\n"
              "[     0] ack a1\n"
              "[     0] alert task twice a2\n"
              "[     0] alert other solution a2\n"
              "[     0] ack a2\n"
              "[     0] ack a2\n"
              "[     0] answer bob r1 solved \"TOKEN2\" source api attempts 1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r2 solved \"TOKEN1\" source api attempts 1\n");
    assert_int_equal(gauges_of(w).letters, 2);
    assert_int_equal(stats_of(w)->duplicates_proven, 0);
}

static void a_restart_remembers_who_has_what(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true, .at_once = true);
    durable(w, w->seq);
    solve(w, "a1", "T1", "TOKEN");
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    durable(w, w->seq);
    solve(w, "a2", "T1", "TOKEN");
    assert_int_equal(stats_of(w)->tasks_twice, 1);
    assert_int_equal(w->tally.solved, 0);
}

static void only_so_many_ids_are_remembered(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flights = 2;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
        solve(w, attempts[i], attempts[i], attempts[i]);
    }
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a9", "a4", "a4");
    assert_int_equal(stats_of(w)->tasks_twice, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a10", "a8", "a8");
    assert_int_equal(stats_of(w)->tasks_twice, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_single_token_is_not_handed_out_again_with_its_task),
        STORY(both_at_work_the_first_that_is_solved_has_it),
        STORY(an_id_that_comes_round_with_another_text_is_only_told),
        STORY(after_an_hour_an_id_is_as_good_as_new),
        STORY(what_is_shared_goes_to_both_who_want_the_same),
        STORY(what_holds_a_one_time_input_does_not),
        STORY(a_poll_brings_another_target_nothing),
        STORY(a_callback_says_itself_whose_it_is),
        STORY(a_callback_with_anothers_task_brings_nothing),
        STORY(a_restart_remembers_who_has_what),
        STORY(only_so_many_ids_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
