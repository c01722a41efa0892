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

/* The callback brought what is its own; a poll under that id would bring the other one's. */
static void the_rest_of_an_answer_is_not_asked_for_under_anothers_id(void **state)
{
    (void)state;
    struct world *w = world_of_twins(true);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L", .wants_rest = true);
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "OWN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] alert task twice a2\n"
              "[     0] ack a2\n"
              "[     0] answer bob r1 solved \"OWN\" source api attempts 1\n");
}

/* What is handed out again is as old as it was with the first. */
static void a_token_that_comes_again_with_its_task_does_not_live_longer(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    w->shows_ages = true;
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 50000);
    ask(w, "bob", .key = "K", .max_age_ms = 1);
    solve(w, "a2", "T1", "TOKEN");
    expect(w,
           "[ 56000] submit a2 K\n"
           "[ 56000] alert task twice a2\n"
           "[61000..62000] poll a2 task T1\n"
           "[ 62000] answer bob r2 solved \"TOKEN\" source api attempts 1 age 62000 left 18000\n");
    /* After its life it is nobody's. */
    pass(w, 20000);
    ask(w, "cat", .key = "K");
    solve(w, "a3", "T1", "TOKEN");
    pass(w, 1000);
    expect(w, "[ 82000] submit a3 K\n"
              "[ 82000] alert task twice a3\n"
              "[87000..88000] poll a3 task T1\n"
              "[ 89000] submit a4 K\n");
}

/* What a callback brought to the second does not make the first one's news to a third. */
static void a_third_one_does_not_get_what_the_first_had(void **state)
{
    (void)state;
    struct world *w = world_of_twins(true);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "OWN");
    ask(w, "cat", .key = "M", .reuse = REUSE_SINGLE);
    accepted(w, "a3", "T1");
    callback_empty(w, "a3", "T1");
    skip_lines(w);
    solved(w, "a3", "TOKEN");
    pass(w, 1000);
    assert_int_equal(w->tally.solved, 2);
    assert_int_equal(w->tally.submits, 4);
    skip_lines(w);
}

/* After a restart nobody knows what the first one had, so that this may be the same; it is paid for, perhaps. */
static void what_a_callback_brings_under_a_forgotten_task_is_kept_as_a_letter(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 200000);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "OWN");
    struct letter_view letter;
    assert_true(engine_find_letter(w->engine, 1, &letter));
    assert_int_equal(letter.kind, LETTER_OF_SOLUTION);
    assert_true(slice_equals(letter.text, SLICE_OF("OWN")));
    skip_lines(w);
}

/* Its text is another one than the last that is remembered, and yet the first one's. */
static void after_a_restart_a_poll_brings_nothing_to_another_target(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 200000);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "OWN");
    ask(w, "cat", .key = "M", .is_told = true);
    accepted(w, "a3", "T1");
    crash(w, ALL_RECORDS);
    tick(w);
    const unsigned before = w->tally.submits;
    solved(w, "a3", "TOKEN");
    assert_string_equal(peek(w, "r3"), "queued");
    pass(w, 2000);
    assert_int_equal(w->tally.submits, before + 1);
    skip_lines(w);
}

/* Only two texts of a task are remembered, but nobody gets the third either. */
static void after_a_restart_no_poll_brings_what_one_of_many_had(void **state)
{
    static const char *const texts[] = {"TOKEN", "OWN", "MORE"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct engine_options options = world_options();
        options.has_callbacks = options.has_journal = true;
        struct world *w = world_new(&options);
        ask(w, "ann", .key = "K", .is_told = true);
        accepted(w, "a1", "T1");
        callback(w, "a1", "T1", texts[0]);
        ask(w, "bob", .key = "L", .is_told = true);
        accepted(w, "a2", "T1");
        callback(w, "a2", "T1", texts[1]);
        ask(w, "cat", .key = "M", .is_told = true);
        accepted(w, "a3", "T1");
        callback(w, "a3", "T1", texts[2]);
        ask(w, "dan", .key = "N", .is_told = true);
        accepted(w, "a4", "T1");
        crash(w, ALL_RECORDS);
        tick(w);
        solved(w, "a4", texts[i]);
        assert_string_equal(peek(w, "r4"), "queued");
        skip_lines(w);
    }
}

/* The second target's solution was written down before the first one's, whose task it is. */
static void after_a_restart_the_first_that_named_a_task_has_it_still(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE, .is_told = true);
    accepted(w, "a2", "T1");
    callback(w, "a2", "T1", "OWN");
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "L", .reuse = REUSE_SINGLE, .is_told = true);
    accepted(w, "a3", "T1");
    crash(w, ALL_RECORDS);
    tick(w);
    solved(w, "a3", "TOKEN");
    assert_string_equal(peek(w, "r3"), "queued");
    skip_lines(w);
}

static void a_bad_token_does_not_come_again_with_its_task(void **state)
{
    (void)state;
    for (int is_restarted = 0; is_restarted < 2; is_restarted++) {
        struct engine_options options = world_options();
        options.has_journal = true;
        struct world *w = world_new(&options);
        ask(w, "ann", .key = "K", .is_told = true);
        solve(w, "a1", "T1", "TOKEN");
        report_bad(w, "eve", "r1");
        ask(w, "bob", .key = "K", .is_told = true);
        accepted(w, "a2", "T1");
        if (is_restarted)
            crash(w, ALL_RECORDS);
        pass(w, 6000);
        const unsigned before = w->tally.submits;
        solved(w, "a2", "TOKEN");
        pass(w, 2000);
        assert_int_equal(w->tally.submits, before + 1);
        skip_lines(w);
    }
}

static void a_token_of_a_task_that_began_before_is_as_old_as_that(void **state)
{
    (void)state;
    struct world *w = world_of_twins(false);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    pass(w, 4000);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T1");
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a2", "TOKEN");
    expect(w,
           "[ 10000] answer bob r1 solved \"TOKEN\" source api attempts 1 age 10000 left 70000\n");
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

/* Its flight let go of the attempt that had it, unsolved. */
static void a_task_that_failed_is_still_the_first_ones(void **state)
{
    (void)state;
    struct world *w = world_of_twins(true);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    assert_int_equal(stats_of(w)->tasks_twice, 0);
    callback_failed(w, "a1", "T1", CLASS_CALLER, "ERROR_BAD_PARAMETERS");
    ask(w, "bob", .key = "L");
    accepted(w, "a2", "T1");
    assert_int_equal(stats_of(w)->tasks_twice, 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_single_token_is_not_handed_out_again_with_its_task),
        STORY(both_at_work_the_first_that_is_solved_has_it),
        STORY(the_rest_of_an_answer_is_not_asked_for_under_anothers_id),
        STORY(a_token_that_comes_again_with_its_task_does_not_live_longer),
        STORY(a_third_one_does_not_get_what_the_first_had),
        STORY(what_a_callback_brings_under_a_forgotten_task_is_kept_as_a_letter),
        STORY(after_a_restart_a_poll_brings_nothing_to_another_target),
        STORY(after_a_restart_no_poll_brings_what_one_of_many_had),
        STORY(after_a_restart_the_first_that_named_a_task_has_it_still),
        STORY(a_bad_token_does_not_come_again_with_its_task),
        STORY(a_token_of_a_task_that_began_before_is_as_old_as_that),
        STORY(an_id_that_comes_round_with_another_text_is_only_told),
        STORY(after_an_hour_an_id_is_as_good_as_new),
        STORY(what_is_shared_goes_to_both_who_want_the_same),
        STORY(what_holds_a_one_time_input_does_not),
        STORY(a_poll_brings_another_target_nothing),
        STORY(a_callback_says_itself_whose_it_is),
        STORY(a_callback_with_anothers_task_brings_nothing),
        STORY(a_restart_remembers_who_has_what),
        STORY(only_so_many_ids_are_remembered),
        STORY(a_task_that_failed_is_still_the_first_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
