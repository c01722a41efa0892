/* What waits in a queue of the shell is taken back when nobody is served by it any more. */
#include "world.h"

static struct world *withdrawing_world(uint64_t budget, bool has_callbacks, bool has_journal)
{
    /* The world restarts with them, so they must outlive this call. */
    static struct client_options clients[1];
    clients[0] = (struct client_options){.weight = 1, .budget_per_day = budget};
    struct engine_options options = world_options();
    options.clients = clients;
    options.has_callbacks = has_callbacks;
    options.has_journal = has_journal;
    options.solve_timeout_ms = 60000;
    struct world *w = world_new(&options);
    w->shows_withdrawals = true;
    return w;
}

static void a_deadline_takes_its_submit_back(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, false, false);
    ask(w, "ann", .key = "K");
    pass(w, 60000);
    withdrawn(w, "a1");
    /* Nothing was paid, so that the budget of one is still there. */
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[ 60000] withdraw submit a1\n"
              "[ 60000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 60000] submit a2 L\n");
    assert_int_equal(stats_of(w)->submits_not_sent, 1);
    assert_int_equal(stats_of(w)->late_completions, 0);
}

static void what_had_left_already_is_listened_for_as_ever(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, true, false);
    ask(w, "ann", .key = "K");
    pass(w, 60000);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "LATE");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[ 60000] withdraw submit a1\n"
              "[ 60000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 60000] ack a1\n"
              "[ 60000] answer bob r2 solved \"LATE\" source dedup_cache attempts 0\n");
}

static void the_last_caller_takes_the_submit_along(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, false, false);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    withdrawn(w, "a1");
    assert_int_equal(gauges_of(w).flights, 0);
    assert_int_equal(gauges_of(w).slots_used, 0);
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] withdraw submit a1\n"
              "[     0] submit a2 L\n");
    assert_int_equal(stats_of(w)->failures_transient, 0);
    assert_int_equal(gauges_of(w).letters, 0);
}

static void whoever_joins_before_it_is_back_has_it_sent_after_all(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, false, false);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    ask(w, "bob", .key = "K");
    withdrawn(w, "a1");
    solve(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] withdraw submit a1\n"
              "[     0] submit a2 K\n"
              "[5000..6000] poll a2 task T2\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->retries, 0);
}

/* ann's first submit stays unheard of, and the second one is taken back before it left. */
static void whoever_rode_on_a_withdrawn_resend_resends_with_its_reason(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, false, false);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 60000);
    ask(w, "bob", .key = "K");
    withdrawn(w, "a2");
    accepted(w, "a3", "T3");
    assert_int_equal(w->last_paid.number, 2);
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    assert_string_equal(w->last_paid.code, "ERROR_AMBIGUOUS_SUBMIT");
    callback(w, "a3", "T3", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 60000] withdraw submit a2\n"
              "[ 60000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 2\n"
              "[ 60000] submit a3 K\n"
              "[ 60000] ack a3\n"
              "[ 60000] answer bob r2 solved \"TOKEN\" source api attempts 2\n");
}

/* What others tried is none of its retries. */
static void the_attempts_of_a_ride_are_not_the_riders_retries(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, true, false);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 50000);
    ambiguous(w, "a2");
    pass(w, 10000);
    ask(w, "bob", .key = "K", .has_max_retries = true, .max_retries = 1);
    pass(w, 30000);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void a_rider_without_budget_does_not_submit_what_was_withdrawn(void **state)
{
    (void)state;
    static struct client_options clients[2];
    clients[0] = clients[1] = (struct client_options){.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = 2;
    options.clients_share = true;
    options.solve_timeout_ms = 60000;
    struct world *w = world_new(&options);
    ask(w, "bob", .key = "L", .client = 1);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "ann", .key = "K");
    pass(w, 60000);
    ask(w, "bob", .key = "K", .client = 1);
    skip_lines(w);
    withdrawn(w, "a2");
    expect(w, "[ 66000] answer bob r3 failed ERROR_ZERO_BALANCE (account) attempts 0\n");
    assert_int_equal(w->tally.submits, 2);
}

static void a_late_solution_takes_back_the_submit_that_replaced_it(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, true, false);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    callback(w, "a1", "T1", "TOKEN");
    withdrawn(w, "a2");
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 45000] withdraw submit a2\n"
              "[ 45000] ack a1\n"
              "[ 45000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
    pass(w, 3700000);
    expect(w, "");
}

static void a_callback_takes_its_poll_back(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, true, false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 59000);
    callback_empty(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    poll_withdrawn(w, "a1");
    skip_lines(w);
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[ 59000] ack a1\n");
    assert_int_equal(w->tally.withdrawals, 1);
    assert_int_equal(stats_of(w)->polls_unheard, 0);
}

static void a_deadline_leaves_the_poll_of_a_paid_task_alone(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, false, false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    assert_int_equal(w->tally.withdrawals, 0);
    solved(w, "a1", "LATE");
    skip_lines(w);
}

static void what_waits_when_everything_ends_is_submitted_by_the_next_start_at_once(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(2, true, true);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    engine_stop_submits(w->engine);
    engine_forgo_submit(w->engine, w->attempts[0].id);
    engine_forgo_submit(w->engine, w->attempts[0].id);
    /* Connections close and records become durable meanwhile. */
    tick(w);
    skip_lines(w);
    const unsigned before = w->tally.submits;
    assert_int_equal(before, 2);
    crash(w, ALL_RECORDS);
    tick(w);
    /* Of the other one nobody knows, so that its window must pass. */
    assert_int_equal(w->tally.submits, before + 1);
    skip_lines(w);
}

/* The action itself, as one that waited for the disk. */
static bool wants(struct world *w, enum action_kind kind, const char *attempt)
{
    struct action action = {.kind = kind};
    action.call.attempt = w->attempts[attempt[1] - '1'].id;
    return engine_wants(w->engine, &action);
}

static void a_submit_that_waited_for_the_disk_is_looked_at_again(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, false, true);
    ask(w, "ann", .key = "K");
    assert_true(wants(w, ACTION_SUBMIT, "a1"));
    pass(w, 60000);
    assert_false(wants(w, ACTION_SUBMIT, "a1"));
    withdrawn(w, "a1");
    assert_false(wants(w, ACTION_SUBMIT, "a1"));
    skip_lines(w);
    /* After a crash nobody takes it for one that may have been sent. */
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_submit_that_nobody_waits_for_is_not_sent_after_the_disk_is_done(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(1, false, true);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    assert_false(wants(w, ACTION_SUBMIT, "a1"));
    ask(w, "bob", .key = "K");
    assert_true(wants(w, ACTION_SUBMIT, "a1"));
    skip_lines(w);
}

static void a_poll_is_wanted_until_its_task_ends(void **state)
{
    (void)state;
    struct world *w = withdrawing_world(UINT64_MAX, true, false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    assert_false(wants(w, ACTION_POLL, "a1"));
    callback_empty(w, "a1", "T1");
    assert_true(wants(w, ACTION_POLL, "a1"));
    callback(w, "a1", "T1", "TOKEN");
    assert_false(wants(w, ACTION_POLL, "a1"));
    skip_lines(w);
}

static bool wants_notice(struct world *w)
{
    struct action action = {.kind = ACTION_NOTIFY};
    action.notify.request = w->requests[0];
    return engine_wants(w->engine, &action);
}

static void a_notice_that_was_cancelled_is_not_sent(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = "http://ann/");
    solve(w, "a1", "T1", "TOKEN");
    assert_true(wants_notice(w));
    told(w, "r1", NOTICE_REFUSED);
    assert_false(wants_notice(w));
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    assert_true(wants_notice(w));
    order_letters(w, LETTER_DROP, every_letter());
    assert_false(wants_notice(w));
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        STORY(a_deadline_takes_its_submit_back),
        STORY(what_had_left_already_is_listened_for_as_ever),
        STORY(the_last_caller_takes_the_submit_along),
        STORY(whoever_joins_before_it_is_back_has_it_sent_after_all),
        STORY(whoever_rode_on_a_withdrawn_resend_resends_with_its_reason),
        STORY(the_attempts_of_a_ride_are_not_the_riders_retries),
        STORY(a_rider_without_budget_does_not_submit_what_was_withdrawn),
        STORY(a_late_solution_takes_back_the_submit_that_replaced_it),
        STORY(a_callback_takes_its_poll_back),
        STORY(a_deadline_leaves_the_poll_of_a_paid_task_alone),
        STORY(what_waits_when_everything_ends_is_submitted_by_the_next_start_at_once),
        STORY(a_submit_that_waited_for_the_disk_is_looked_at_again),
        STORY(a_submit_that_nobody_waits_for_is_not_sent_after_the_disk_is_done),
        STORY(a_poll_is_wanted_until_its_task_ends),
        STORY(a_notice_that_was_cancelled_is_not_sent),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
