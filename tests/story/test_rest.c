/* Answers that are more than a text: a callback brings the text, one poll the rest (docs/design.md 6.1). */
#include "world.h"

#define AGENT "{\"user_agent\":\"UA\"}"

static struct world *world_with(bool has_journal)
{
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.has_journal = has_journal;
    return world_new(&options);
}

static void one_poll_follows_the_callback_before_anybody_is_answered(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    pass(w, 1000);
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .wants_rest = true);
    pass(w, 1000);
    solved_with(w, "a1", "TOKEN", AGENT);
    /* The vendor's repeat is one. */
    callback(w, "a1", "T1", "TOKEN");
    expect(w,
           "[     0] submit a1 K\n"
           "[  1000] poll a1 task T1\n"
           "[  1000] ack a1\n"
           "[  2000] answer ann r1 solved \"TOKEN\" extra " AGENT " source api attempts 1\n"
           "[  2000] answer bob r2 solved \"TOKEN\" extra " AGENT " source dedup_wait attempts 1\n"
           "[  2000] ack a1\n");
    assert_int_equal(stats_of(w)->polls, 1);
    assert_int_equal(stats_of(w)->callbacks_ok, 1);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
    assert_true(gauges_of(w).callbacks_are_healthy);
}

static void a_text_is_answered_at_once(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_poll_that_fails_for_good_leaves_the_text(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    failed(w, "a1", CLASS_UNKNOWN, "ERROR_WRONG_CAPTCHA_ID");
    expect(w, "[     0] submit a1 K\n"
              "[     0] poll a1 task T1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_rest_that_nobody_can_be_given_leaves_the_text_and_is_kept(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    undeliverable(w, "a1", "BYTES");
    expect(w, "[     0] submit a1 K\n"
              "[     0] poll a1 task T1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    const struct letter_filter filter = every_letter();
    struct letter_view views[2];
    uint64_t cursor = 0;
    uint32_t total = 0;
    assert_int_equal(engine_list_letters(w->engine, &filter, &cursor, views, 2, &total), 1);
    assert_int_equal(views[0].kind, LETTER_OF_SOLUTION);
    assert_string_equal(views[0].text.data, "BYTES");
    assert_string_equal(views[0].code.data, "ERROR_BAD_SOLUTION");
    assert_string_equal(views[0].task_id.data, "T1");
}

static void the_rest_is_asked_for_three_times_at_most(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    unheard(w, "a1", 0);
    pass(w, 5000);
    pending(w, "a1");
    pass(w, 5000);
    unheard(w, "a1", 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] poll a1 task T1\n"
              "[     0] ack a1\n"
              "[  5000] poll a1 task T1\n"
              "[ 10000] poll a1 task T1\n"
              "[ 10000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void the_deadline_is_kept_with_what_there_is(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    pass(w, 19000);
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 2000);
    expect(w, "[     0] submit a1 K\n"
              "[ 19000] poll a1 task T1\n"
              "[ 19000] ack a1\n"
              "[ 20000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(gauges_of(w).letters, 0);
    /* The poll's end is no news. */
    solved_with(w, "a1", "TOKEN", AGENT);
}

static void an_early_callback_waits_for_the_submits_reply(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 500);
    accepted(w, "a1", "T1");
    solved_with(w, "a1", "TOKEN", AGENT);
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[   500] poll a1 task T1\n"
              "[   500] answer ann r1 solved \"TOKEN\" extra " AGENT " source api attempts 1\n");
    assert_int_equal(stats_of(w)->submits_accepted, 1);
    assert_int_equal(stats_of(w)->duplicates_proven, 0);
}

static void a_lost_reply_needs_no_second_submit(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    callback(w, "a1", "T1", "TOKEN");
    ambiguous(w, "a1");
    solved_with(w, "a1", "TOKEN", AGENT);
    ask(w, "bob", .key = "L", .wants_rest = true);
    ambiguous(w, "a2");
    pass(w, 1000);
    callback(w, "a2", "T2", "OTHER");
    solved_with(w, "a2", "OTHER", AGENT);
    pass(w, 100000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] poll a1 task T1\n"
              "[     0] answer ann r1 solved \"TOKEN\" extra " AGENT " source api attempts 1\n"
              "[     0] submit a2 L\n"
              "[  1000] poll a2 task T2\n"
              "[  1000] ack a2\n"
              "[  1000] answer bob r2 solved \"OTHER\" extra " AGENT " source api attempts 1\n");
}

static void a_task_without_a_name_cannot_be_asked_for(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    ambiguous(w, "a1");
    callback(w, "a1", "", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void an_error_called_back_afterwards_changes_nothing(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    callback_failed(w, "a1", "T1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    callback(w, "a1", "T1", "OTHER");
    solved_with(w, "a1", "TOKEN", AGENT);
    expect(w, "[     0] submit a1 K\n"
              "[     0] poll a1 task T1\n"
              "[     0] ack a1\n"
              "[     0] ack a1\n"
              "[     0] alert other solution a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" extra " AGENT " source api attempts 1\n");
}

/* A GeeTest answer is an object by poll, and a text by callback. */
static void a_callback_after_the_poll_may_say_it_in_other_words(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    pass(w, 121000);
    solved_with(w, "a1", "OBJECT", AGENT);
    skip_lines(w);
    callback(w, "a1", "T1", "WORDS");
    callback(w, "a1", "T1", "WORDS");
    expect(w, "[121000] ack a1\n"
              "[121000] ack a1\n");
    callback(w, "a1", "T1", "OTHER");
    expect(w, "[121000] alert other solution a1\n"
              "[121000] ack a1\n");
}

static void a_late_one_is_asked_for_the_rest_and_banked(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    options.fallback_after_ms = 600000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    pass(w, 30000);
    skip_lines(w);
    callback(w, "a1", "T1", "TOKEN");
    solved_with(w, "a1", "TOKEN", AGENT);
    ask(w, "bob", .key = "K", .wants_rest = true);
    expect(w, "[ 30000] poll a1 task T1\n"
              "[ 30000] ack a1\n"
              "[ 30000] answer bob r2 solved \"TOKEN\" extra " AGENT
              " source dedup_cache attempts 0\n");
}

/* What was given up as failed is solved after all: at once, for its flight is trying anew. */
static void a_solution_after_an_error_is_taken_as_it_is(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    callback_failed(w, "a1", "T1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] ack a1\n");
    assert_int_equal(stats_of(w)->submits_accepted, 1);
}

/* Wherever the power fails after the callback was acknowledged, the rest is asked for, or the text is given. */
static void a_restart_in_between_asks_for_the_rest(void **state)
{
    (void)state;
    struct world *w = world_with(true);
    ask(w, "ann", .key = "K", .is_told = true, .wants_rest = true);
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    durable(w, w->seq);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 1);
    assert_true(w->attempts[0].is_polling);
    failed(w, "a1", CLASS_UNKNOWN, "ERROR_WRONG_CAPTCHA_ID");
    durable(w, w->seq);
    assert_int_equal(w->tally.submits, 1);
    assert_string_equal(peek(w, "r1"), "solved");
    skip_lines(w);
}

static void a_restart_without_the_tasks_name_gives_the_text(void **state)
{
    (void)state;
    struct world *w = world_with(true);
    ask(w, "ann", .key = "K", .is_told = true, .wants_rest = true);
    durable(w, w->seq);
    callback(w, "a1", "", "TOKEN");
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    pass(w, 300);
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    pass(w, 60000);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void a_replay_wants_the_rest_too(void **state)
{
    (void)state;
    struct world *w = world_with(true);
    ask(w, "ann", .key = "K", .wants_rest = true);
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    pass(w, 180000);
    crash(w, ALL_RECORDS);
    /* Else the replay would ride on the paid task. */
    callback_failed(w, "a1", "T1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    durable(w, w->seq);
    accepted(w, "a2", "T2");
    callback(w, "a2", "T2", "TOKEN");
    assert_true(w->attempts[1].is_polling);
    solved_with(w, "a2", "TOKEN", AGENT);
    skip_lines(w);
}

static void a_rider_whose_text_is_stale_at_the_deadline_ends_there(void **state)
{
    (void)state;
    struct world *w = world_with(false);
    ask(w, "ann", .key = "K", .wants_rest = true);
    accepted(w, "a1", "T1");
    pass(w, 180000);
    ask(w, "bob", .key = "K", .wants_rest = true);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 180000);
    expect(w, "[360000] answer bob r2 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(one_poll_follows_the_callback_before_anybody_is_answered),
        STORY(a_text_is_answered_at_once),
        STORY(a_poll_that_fails_for_good_leaves_the_text),
        STORY(a_rest_that_nobody_can_be_given_leaves_the_text_and_is_kept),
        STORY(the_rest_is_asked_for_three_times_at_most),
        STORY(the_deadline_is_kept_with_what_there_is),
        STORY(an_early_callback_waits_for_the_submits_reply),
        STORY(a_lost_reply_needs_no_second_submit),
        STORY(a_task_without_a_name_cannot_be_asked_for),
        STORY(an_error_called_back_afterwards_changes_nothing),
        STORY(a_callback_after_the_poll_may_say_it_in_other_words),
        STORY(a_late_one_is_asked_for_the_rest_and_banked),
        STORY(a_solution_after_an_error_is_taken_as_it_is),
        STORY(a_restart_in_between_asks_for_the_rest),
        STORY(a_restart_without_the_tasks_name_gives_the_text),
        STORY(a_replay_wants_the_rest_too),
        STORY(a_rider_whose_text_is_stale_at_the_deadline_ends_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
