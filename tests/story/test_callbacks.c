/* Callbacks: early, duplicate, late, different, with an error; and what they spare us (docs/design.md 5.7). */
#include "usual_worlds.h"

#include <stdio.h>

#define UNSOLVABLE "ERROR_CAPTCHA_UNSOLVABLE"

/* ---- early, duplicate, different --------------------------------------------------------- */

static void an_early_callback_solves_and_the_reply_only_confirms(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    callback(w, "a1", "T1", "TOKEN");
    accepted(w, "a1", "T1");
    pass(w, 300000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->submits_accepted, 1);
    assert_int_equal(stats_of(w)->duplicates_proven, 0);
    assert_int_equal(stats_of(w)->slot_ms_used, 0);
}

static void a_callback_may_come_without_a_task_id(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    callback(w, "a1", "", "TOKEN");
    accepted(w, "a1", "T1");
    callback(w, "a1", "", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
}

static void an_early_callback_and_a_lost_reply_are_one_solve(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    callback(w, "a1", "T1", "TOKEN");
    ambiguous(w, "a1");
    pass(w, 300000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void equal_repeats_are_acknowledged_and_counted(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 1000);
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] ack a1\n"
              "[  1000] ack a1\n");
    assert_int_equal(stats_of(w)->callbacks_ok, 1);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 2);
    assert_int_equal(stats_of(w)->solves, 1);
    assert_int_equal(gauges_of(w).solutions, 1);
}

static void a_different_second_solution_is_an_alert_and_the_first_wins(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "FIRST");
    callback(w, "a1", "T1", "SECOND");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"FIRST\" source api attempts 1\n"
              "[     0] alert other solution a1\n"
              "[     0] ack a1\n"
              "[     0] answer bob r2 solved \"FIRST\" source dedup_cache attempts 1\n");
}

/* ---- without end --------------------------------------------------------------------------- */

/* Somebody who knows one nonce calls so often, each time with something else. */
static void call_without_end(struct world *world, const char *attempt, const char *task,
                             bool is_task_new)
{
    for (unsigned i = 0; i < 50; i++) {
        char name[TASK_ID_MAX];
        char text[32];
        (void)snprintf(name, sizeof name, is_task_new ? "%s%u" : "%s", task, i);
        (void)snprintf(text, sizeof text, "OTHER%u", i);
        callback(world, attempt, name, text);
    }
}

static void one_nonce_makes_a_few_letters_and_no_more(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "FIRST");
    call_without_end(w, "a1", "T1", false);
    assert_int_equal(gauges_of(w).letters, 3);
    assert_int_equal(w->tally.alerts, 3);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 50);
    assert_int_equal(w->tally.acks, 51);
    /* What other attempts bring is as new as ever. */
    accepted(w, "a2", "T2");
    callback(w, "a2", "T2", "FIRST");
    callback(w, "a2", "T2", "SECOND");
    assert_int_equal(gauges_of(w).letters, 4);
    skip_lines(w);
}

static void one_nonce_with_ever_new_tasks_makes_a_few_letters_and_no_more(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "FIRST");
    callback(w, "a1", "T2", "SECOND");
    call_without_end(w, "a1", "X", true);
    assert_int_equal(gauges_of(w).letters, 3);
    assert_int_equal(stats_of(w)->solutions_banked, 1);
    skip_lines(w);
}

static void a_forgotten_attempts_nonce_makes_a_few_letters_and_no_more(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    const uint32_t before = gauges_of(w).letters;
    call_without_end(w, "a1", "T", true);
    assert_int_equal(gauges_of(w).letters, before + 3);
    assert_int_equal(stats_of(w)->callbacks_unknown, 50);
    callback(w, "a2", "T2", "TOKEN");
    assert_int_equal(gauges_of(w).letters, before + 4);
    skip_lines(w);
}

static void forgotten_attempts_make_so_many_letters_an_hour(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.max_letters = 5000;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    for (unsigned i = 1; i <= 1025; i++) {
        char attempt[16];
        (void)snprintf(attempt, sizeof attempt, "a%u", i);
        ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
        rejected(w, attempt, CLASS_PROXY, "ERROR_BAD_PROXY");
    }
    const uint32_t before = gauges_of(w).letters;
    for (unsigned i = 1; i <= 1025; i++) {
        char attempt[16];
        (void)snprintf(attempt, sizeof attempt, "a%u", i);
        callback(w, attempt, attempt, "TOKEN");
    }
    assert_int_equal(gauges_of(w).letters, before + 1024);
    pass(w, HOURS_MS(1));
    callback(w, "a1025", "a1025", "TOKEN");
    assert_int_equal(gauges_of(w).letters, before + 1025);
}

/* ---- late -------------------------------------------------------------------------------- */

static void a_late_callback_is_banked(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 30000);
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[ 20000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 30000] ack a1\n"
              "[ 30000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 0\n");
    assert_int_equal(stats_of(w)->callbacks_late, 1);
}

static void a_callback_after_the_fallback_poll_is_a_repeat(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 121000);
    solved(w, "a1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[120000..121000] poll a1 task T1\n"
              "[121000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[121000] ack a1\n");
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
}

static void a_poll_that_ends_after_the_callback_is_no_news(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 121000);
    callback(w, "a1", "T1", "TOKEN");
    solved(w, "a1", "TOKEN");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[120000..121000] poll a1 task T1\n"
              "[121000] ack a1\n"
              "[121000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->solves, 1);
}

static void a_callback_for_what_was_forgotten_is_counted_and_acknowledged(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->callbacks_unknown, 1);
}

static void an_attempt_is_listened_for_one_hour(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.ttl_ms[TYPE_IMAGE] = HOURS_MS(9);
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .type = TYPE_IMAGE);
    ask(w, "bob", .key = "L", .type = TYPE_IMAGE);
    ambiguous(w, "a1");
    ambiguous(w, "a2");
    gone(w, "ann");
    gone(w, "bob");
    pass(w, 45000 + HOURS_MS(1) - 1);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(stats_of(w)->callbacks_late, 1);
    pass(w, 1);
    callback(w, "a2", "T2", "TOKEN");
    assert_int_equal(stats_of(w)->callbacks_unknown, 1);
    skip_lines(w);
}

static void listeners_are_bounded_and_the_oldest_goes_first(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.max_flights = 1;
    struct world *w = world_new(&options);
    static const char *const attempts[] = {"a1", "a2", "a3"};
    for (int i = 0; i < 3; i++) {
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
        accepted(w, attempts[i], attempts[i]);
        callback(w, attempts[i], attempts[i], "TOKEN");
    }
    skip_lines(w);
    callback(w, "a1", "a1", "TOKEN");
    assert_int_equal(stats_of(w)->callbacks_unknown, 1);
    callback(w, "a2", "a2", "TOKEN");
    callback(w, "a3", "a3", "TOKEN");
    assert_int_equal(stats_of(w)->callbacks_duplicate, 2);
    skip_lines(w);
}

/* ---- errors ------------------------------------------------------------------------------ */

static void an_error_called_back_drives_the_failure_path(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 1000);
    callback_failed(w, "a1", "T1", CLASS_UNSOLVABLE, UNSOLVABLE);
    /* Before the reply this time. */
    callback_failed(w, "a2", "T2", CLASS_UNSOLVABLE, UNSOLVABLE);
    accepted(w, "a2", "T2");
    accepted(w, "a3", "T3");
    callback_failed(w, "a3", "T3", CLASS_UNSOLVABLE, UNSOLVABLE);
    callback_failed(w, "a3", "T3", CLASS_UNSOLVABLE, UNSOLVABLE);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] ack a1\n"
              "[  1000] submit a2 K\n"
              "[  1000] ack a2\n"
              "[  1000] submit a3 K\n"
              "[  1000] ack a3\n"
              "[  1000] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n"
              "[  1000] ack a3\n");
    assert_int_equal(stats_of(w)->callbacks_ok, 3);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
}

static void a_solution_after_an_error_is_not_thrown_away(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback_failed(w, "a1", "T1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    /* Its flight backs off; what comes now ends that. */
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->callbacks_late, 1);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
}

static void a_poll_that_ends_with_a_solution_after_an_error_is_not_thrown_away(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 121000);
    callback_failed(w, "a1", "T1", CLASS_PROXY, "ERROR_BAD_PROXY");
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    assert_int_equal(stats_of(w)->solutions_banked, 1);
}

/* ---- polls and callbacks ----------------------------------------------------------------- */

static void with_callbacks_polling_is_only_the_fallback(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 121000);
    pending(w, "a1");
    pass(w, 5000);
    pending(w, "a1");
    pass(w, 4999);
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[120000..121000] poll a1 task T1\n"
              "[126000] poll a1 task T1\n"
              "[130999] ack a1\n"
              "[130999] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_poll_under_way_at_the_deadline_still_brings_its_solution(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 10000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 10000);
    skip_lines(w);
    solved(w, "a1", "TOKEN");
    pending(w, "a2");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "L");
    expect(w, "[ 10000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 0\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
    assert_int_equal(stats_of(w)->late_completions, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_early_callback_solves_and_the_reply_only_confirms),
        STORY(a_callback_may_come_without_a_task_id),
        STORY(an_early_callback_and_a_lost_reply_are_one_solve),
        STORY(equal_repeats_are_acknowledged_and_counted),
        STORY(a_different_second_solution_is_an_alert_and_the_first_wins),
        STORY(one_nonce_makes_a_few_letters_and_no_more),
        STORY(one_nonce_with_ever_new_tasks_makes_a_few_letters_and_no_more),
        STORY(a_forgotten_attempts_nonce_makes_a_few_letters_and_no_more),
        STORY(forgotten_attempts_make_so_many_letters_an_hour),
        STORY(a_late_callback_is_banked),
        STORY(a_callback_after_the_fallback_poll_is_a_repeat),
        STORY(a_poll_that_ends_after_the_callback_is_no_news),
        STORY(a_callback_for_what_was_forgotten_is_counted_and_acknowledged),
        STORY(an_attempt_is_listened_for_one_hour),
        STORY(listeners_are_bounded_and_the_oldest_goes_first),
        STORY(an_error_called_back_drives_the_failure_path),
        STORY(a_solution_after_an_error_is_not_thrown_away),
        STORY(a_poll_that_ends_with_a_solution_after_an_error_is_not_thrown_away),
        STORY(with_callbacks_polling_is_only_the_fallback),
        STORY(a_poll_under_way_at_the_deadline_still_brings_its_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
