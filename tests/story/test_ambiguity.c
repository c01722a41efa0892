/* A submit whose reply was lost: the decision table of docs/reliability.md 5.4, row by row (docs/design.md 5.6). */
#include "usual_worlds.h"

/* ---- the window -------------------------------------------------------------------------- */

static void the_callback_that_proves_the_task_ends_the_wait(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    pass(w, 15000);
    ambiguous(w, "a1");
    assert_int_equal(gauges_of(w).slots_used, 1);
    pass(w, 10000);
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[ 25000] ack a1\n"
              "[ 25000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->submits_ambiguous, 1);
    assert_int_equal(stats_of(w)->resends, 0);
    assert_int_equal(stats_of(w)->callbacks_ok, 1);
}

static void unheard_of_for_the_whole_window_it_is_sent_again(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    pass(w, 15000);
    ambiguous(w, "a1");
    /* The window counts from the submit, not from the moment it was given up. */
    pass(w, 30000);
    accepted(w, "a2", "T2");
    callback(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 45000] ack a2\n"
              "[ 45000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
    assert_int_equal(stats_of(w)->resends, 1);
}

static void without_callbacks_it_is_sent_again_too(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    solve(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[50000..51000] poll a2 task T2\n"
              "[ 51000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
}

static void a_resend_goes_on_until_the_deadline_and_no_further(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    ambiguous(w, "a2");
    pass(w, 45000);
    ambiguous(w, "a3");
    pass(w, 45000);
    ambiguous(w, "a4");
    /* Window and deadline end in the same millisecond. */
    pass(w, 45000);
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 90000] submit a3 K\n"
              "[135000] submit a4 K\n"
              "[180000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 4\n");
}

static void without_a_window_a_resend_waits_as_long_as_a_retry(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.ambiguity_window_ms = 0;
    options.retry_base_ms = 2000;
    options.retry_jitter_ms = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 2000);
    ambiguous(w, "a2");
    pass(w, 3000);
    callback(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[  2000] submit a2 K\n"
              "[  5000] ack a2\n"
              "[  5000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
}

static void who_must_not_pay_twice_is_never_resent(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.resend_ambiguous = false;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    assert_int_equal(stats_of(w)->failures_ambiguous, 1);
    assert_int_equal(stats_of(w)->letters, 1);
    /* The attempt is still listened for, and what it brings is banked. */
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] answer ann r1 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n"
              "[ 45000] ack a1\n"
              "[ 45000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 0\n");
    assert_int_equal(stats_of(w)->callbacks_late, 1);
    assert_int_equal(stats_of(w)->solutions_banked, 1);
}

static void with_nobody_waiting_it_is_parked_and_banked_if_it_comes(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    gone(w, "ann");
    pass(w, 60000);
    assert_int_equal(gauges_of(w).flights, 0);
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[ 60000] ack a1\n"
              "[ 60000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 0\n");
    assert_int_equal(stats_of(w)->resends, 0);
}

/* ---- late solutions ---------------------------------------------------------------------- */

static void a_late_solution_is_delivered_and_the_resent_one_banked(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    accepted(w, "a2", "T2");
    pass(w, 1000);
    callback(w, "a1", "T1", "LATE");
    pass(w, 1000);
    callback(w, "a2", "T2", "RESENT");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 46000] ack a1\n"
              "[ 46000] answer ann r1 solved \"LATE\" source api attempts 2\n"
              "[ 47000] ack a2\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
    /* The late one may be as old as its submit; the resent one has more life in it. */
    pass(w, 40000);
    ask(w, "bob", .key = "K");
    expect(w, "[ 87000] answer bob r2 solved \"RESENT\" source dedup_cache attempts 0\n");
}

static void under_single_a_late_solution_reaches_the_flight_that_made_it(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T2");
    ambiguous(w, "a1");
    pass(w, 45000);
    callback(w, "a1", "T1", "LATE");
    accepted(w, "a3", "T3");
    callback(w, "a3", "T3", "RESENT");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[ 45000] submit a3 K\n"
              "[ 45000] ack a1\n"
              "[ 45000] answer ann r1 solved \"LATE\" source api attempts 2\n"
              "[ 45000] ack a3\n"
              "[ 45000] answer cat r2 solved \"RESENT\" source dedup_cache attempts 0\n"
              "[ 45000] submit a4 K\n");
}

static void a_late_solution_answers_those_who_wait_for_the_same_thing_now(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    /* Nobody would have expected anything of it any more. */
    pass(w, 40000);
    ask(w, "bob", .key = "K");
    callback(w, "a1", "T1", "LATE");
    expect(w, "[     0] submit a1 K\n"
              "[ 20000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 40000] submit a2 K\n"
              "[ 40000] ack a1\n"
              "[ 40000] answer bob r2 solved \"LATE\" source api attempts 1\n");
}

static void what_may_be_stale_is_not_given_to_others(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 80000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    callback(w, "a1", "T1", "STALE");
    expect(w, "[ 80000] submit a2 K\n"
              "[ 80000] ack a1\n");
    assert_int_equal(stats_of(w)->solutions_expired_unused, 1);
    assert_int_equal(gauges_of(w).solutions, 0);
}

static void a_banked_late_solution_is_as_old_as_its_submit(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    w->shows_ages = true;
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    ambiguous(w, "a1");
    pass(w, 60000);
    callback(w, "a1", "T1", "LATE");
    skip_lines(w);
    pass(w, 1000);
    ask(w, "bob", .key = "K");
    expect(w, "[ 61000] answer bob r1 solved \"LATE\" source dedup_cache attempts 0"
              " age 61000 left 19000\n");
}

/* ---- proof of a doubled submit ----------------------------------------------------------- */

static void two_tasks_on_one_nonce_are_both_used_and_told_to_the_operator(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback(w, "a1", "T2", "TWO");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[     0] alert duplicate proven a1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->duplicates_proven, 1);
    assert_int_equal(gauges_of(w).solutions, 2);
}

static void the_other_task_may_be_the_first_to_be_solved(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T2", "TWO");
    callback(w, "a1", "T1", "ONE");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] submit a1 K\n"
              "[     0] alert duplicate proven a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TWO\" source api attempts 1\n"
              "[     0] ack a1\n"
              "[     0] answer bob r2 solved \"ONE\" source dedup_cache attempts 0\n"
              "[     0] submit a2 K\n");
}

static void the_other_tasks_repeats_are_not_banked_again(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback(w, "a1", "T2", "TWO");
    callback(w, "a1", "T2", "TWO");
    callback(w, "a1", "T2", "TWO");
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] answer bob r2 solved \"TWO\" source dedup_cache attempts 0\n"
              "[     0] submit a2 K\n");
    assert_int_equal(stats_of(w)->duplicates_proven, 1);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 2);
}

static void the_reply_may_prove_it_too(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    callback(w, "a1", "T2", "TWO");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback(w, "a1", "T1", "ONE");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TWO\" source api attempts 1\n"
              "[     0] alert duplicate proven a1\n"
              "[     0] ack a1\n"
              "[     0] ack a1\n"
              "[     0] answer bob r2 solved \"ONE\" source dedup_cache attempts 0\n"
              "[     0] submit a2 K\n");
    assert_int_equal(stats_of(w)->duplicates_proven, 1);
}

static void the_reply_may_name_another_task_than_an_early_callback(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    callback_empty(w, "a1", "T2");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback(w, "a1", "T2", "TWO");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] alert duplicate proven a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->duplicates_proven, 1);
    assert_int_equal(gauges_of(w).solutions, 2);
}

static void a_third_task_is_told_and_not_believed(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    callback_failed(w, "a1", "T2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    callback(w, "a1", "T3", "THREE");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[     0] alert duplicate proven a1\n"
              "[     0] ack a1\n"
              "[     0] alert other solution a1\n"
              "[     0] ack a1\n");
    assert_int_equal(gauges_of(w).solutions, 1);
}

static void a_task_that_a_callback_named_is_not_paid_for_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    callback_empty(w, "a1", "T1");
    ask(w, "bob", .key = "L");
    callback_empty(w, "a2", "T2");
    ambiguous(w, "a2");
    pass(w, 45000);
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(stats_of(w)->submits_proven, 1);
    assert_int_equal(stats_of(w)->submits_accepted, 1);
    solved(w, "a1", "TOKEN");
    assert_int_equal(w->tally.solved, 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(the_callback_that_proves_the_task_ends_the_wait),
        STORY(unheard_of_for_the_whole_window_it_is_sent_again),
        STORY(without_callbacks_it_is_sent_again_too),
        STORY(a_resend_goes_on_until_the_deadline_and_no_further),
        STORY(without_a_window_a_resend_waits_as_long_as_a_retry),
        STORY(who_must_not_pay_twice_is_never_resent),
        STORY(with_nobody_waiting_it_is_parked_and_banked_if_it_comes),
        STORY(a_late_solution_is_delivered_and_the_resent_one_banked),
        STORY(under_single_a_late_solution_reaches_the_flight_that_made_it),
        STORY(a_late_solution_answers_those_who_wait_for_the_same_thing_now),
        STORY(what_may_be_stale_is_not_given_to_others),
        STORY(a_banked_late_solution_is_as_old_as_its_submit),
        STORY(two_tasks_on_one_nonce_are_both_used_and_told_to_the_operator),
        STORY(the_other_task_may_be_the_first_to_be_solved),
        STORY(the_other_tasks_repeats_are_not_banked_again),
        STORY(the_reply_may_prove_it_too),
        STORY(the_reply_may_name_another_task_than_an_early_callback),
        STORY(a_third_task_is_told_and_not_believed),
        STORY(a_task_that_a_callback_named_is_not_paid_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
