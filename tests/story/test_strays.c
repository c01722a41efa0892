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
    expect(w, "[ 60000] poll a1 task T1\n"
              "[ 65000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n");
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

/* ---- riding on what is paid for ---------------------------------------------------------- */

static void whoever_asks_for_the_same_meanwhile_joins_it_by_the_outlook_too(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    const struct outlook shared = explain(w, .key = "K");
    assert_true(shared.would_join && shared.source == SOURCE_DEDUP_WAIT);
    assert_true(explain(w, .key = "K", .reuse = REUSE_SINGLE).would_join);
    assert_false(explain(w, .key = "K", .reuse = REUSE_NONE).would_join);
    assert_false(explain(w, .key = "L").would_join);
}

static void others_join_whoever_rides(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    pass(w, 4000);
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] poll a1 task T1\n"
              "[ 64000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n"
              "[ 64000] answer cat r3 solved \"LATE\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->rides, 1);
}

static void what_the_vendor_gives_up_under_a_rider_is_paid_for_once_more(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    ask(w, "bob", .key = "K");
    pass(w, 4000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a2", "FRESH");
    expect(w, "[ 60000] poll a1 task T1\n"
              "[ 64000] submit a2 K\n"
              "[69000..70000] poll a2 task T2\n"
              "[ 70000] answer bob r2 solved \"FRESH\" source api attempts 2\n");
}

static void retries_that_are_turned_off_do_not_keep_a_rider_from_its_own_first_attempt(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 60000;
    options.retry_unsolvable = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    ask(w, "bob", .key = "K");
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void when_the_tasks_life_is_over_a_rider_pays_for_another(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    pass(w, 30000);
    pending(w, "a1");
    ask(w, "bob", .key = "K");
    while (w->now_ms < 125000 && w->tally.submits < 2) {
        const unsigned before = w->tally.polls;
        pass(w, 1000);
        if (w->tally.polls > before)
            pending(w, "a1");
    }
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(w->now_ms, 120000);
    skip_lines(w);
}

static void what_may_be_stale_is_no_good_to_a_rider(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 70000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 100000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    pass(w, 0);
    solved(w, "a1", "OLD");
    expect(w, "[100000] poll a1 task T1\n"
              "[100000] submit a2 K\n");
}

static void nothing_is_spent_twice_and_no_budget_is_asked_of_a_rider(void **state)
{
    (void)state;
    static const struct client_options poor = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.solve_timeout_ms = 60000;
    options.clients = &poor;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "L");
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] answer cat refused: this client's budget for today is used up, retry after "
              "43140000\n"
              "[ 60000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n");
}

static void an_open_breaker_does_not_keep_a_rider_out(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    ask(w, "cat", .key = "L");
    rejected(w, "a2", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    skip_lines(w);
    ask(w, "bob", .key = "K");
    pass(w, 4000);
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] poll a1 task T1\n"
              "[ 64000] answer bob r3 solved \"LATE\" source dedup_wait attempts 1\n");
}

static void a_stray_for_one_serves_one(void **state)
{
    (void)state;
    struct world *w = poll_world(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] submit a2 K\n"
              "[ 60000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n");
}

static void who_wants_nothing_to_do_with_others_does_not_ride(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    ask(w, "bob", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[ 60000] submit a2 K\n");
}

static void a_retry_by_idempotency_key_rides_too(void **state)
{
    (void)state;
    struct world *w = poll_world(false);
    ask(w, "ann", .key = "K", .idempotency = "I");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "K", .idempotency = "I");
    solved(w, "a1", "LATE");
    ask(w, "cat", .key = "K", .idempotency = "I");
    expect(w, "[ 60000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n"
              "[ 60000] answer cat r3 solved \"LATE\" source idempotent attempts 1 replayed\n");
}

static void the_letter_of_a_stray_is_replayed_by_its_own_task(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(false);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 4000);
    solved(w, "a1", "LATE");
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(stats_of(w)->letters_settled, 1);
    skip_lines(w);
}

static void after_a_crash_it_is_still_ridden_on(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(true);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    ask(w, "bob", .key = "K", .is_told = true);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a1", "LATE");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r2"), "solved");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void a_rider_that_a_crash_interrupted_goes_on_when_the_task_fails(void **state)
{
    (void)state;
    struct world *w = world_with_a_stray(true);
    ask(w, "bob", .key = "K", .is_told = true);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    assert_int_equal(w->tally.submits, 2);
    solve(w, "a2", "T2", "FRESH");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r2"), "solved");
    skip_lines(w);
}

static struct world *world_with_an_unheard_stray(void)
{
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 30000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    pass(w, 10000);
    ambiguous(w, "a1");
    pass(w, 20000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    return w;
}

static void a_submit_nobody_heard_of_is_not_repeated_for_another(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_stray();
    pass(w, 14000);
    callback(w, "a1", "T1", "LATE");
    expect(w, "[ 44000] ack a1\n"
              "[ 44000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n");
}

static void after_the_window_it_is_resent_for_whoever_asked_since(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_stray();
    pass(w, 15000);
    accepted(w, "a2", "T2");
    expect(w, "[ 45000] submit a2 K\n");
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    assert_int_equal(w->last_paid.number, 2);
}

static void a_submit_on_the_wire_at_the_deadline_is_ridden_on(void **state)
{
    (void)state;
    static const struct client_options poor = {.weight = 1, .budget_per_day = 2};
    struct engine_options options = world_options();
    options.solve_timeout_ms = 60000;
    options.clients = &poor;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    /* What was set aside for it comes back: two may still be paid for. */
    rejected(w, "a1", CLASS_UNKNOWN, "ERROR_ODD");
    accepted(w, "a2", "T2");
    ask(w, "cat", .key = "L");
    expect(w, "[ 60000] submit a2 K\n"
              "[ 60000] submit a3 L\n");
}

/* ---- callbacks without a solution ------------------------------------------------------------ */

static void a_callback_that_only_names_the_task_calls_off_the_resend(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L", .priority = 5);
    ambiguous(w, "a1");
    pass(w, 45000);
    skip_lines(w);
    callback_empty(w, "a1", "T1");
    accepted(w, "a2", "T2");
    callback(w, "a2", "T2", "OF BOB");
    solved(w, "a1", "LATE");
    expect(w, "[ 45000] poll a1 task T1\n"
              "[ 45000] ack a1\n"
              "[ 45000] ack a2\n"
              "[ 45000] answer bob r1 solved \"OF BOB\" source api attempts 1\n"
              "[ 45000] answer ann r2 solved \"LATE\" source api attempts 1\n");
}

static void a_callback_that_only_names_the_task_is_remembered_after_a_crash(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    callback_empty(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    skip_lines(w);
    pass(w, 0);
    expect(w, "[     0] poll a1 task T1\n");
}

static void a_stray_that_a_callback_named_is_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 30000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 50000);
    skip_lines(w);
    callback_empty(w, "a1", "T1");
    ask(w, "bob", .key = "K");
    solved(w, "a1", "LATE");
    expect(w, "[ 50000] poll a1 task T1\n"
              "[ 50000] ack a1\n"
              "[ 50000] answer bob r2 solved \"LATE\" source dedup_wait attempts 1\n");
}

/* ---- slots ------------------------------------------------------------------------------- */

static void a_stray_keeps_its_slot_while_the_vendor_may_work_on_it(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    options.solve_timeout_ms = 60000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "L");
    assert_int_equal(gauges_of(w).slots_used, 1);
    expect(w, "");
    solved(w, "a1", "LATE");
    expect(w, "[ 60000] submit a2 L\n");
}

static void strays_do_not_keep_the_slots_for_ever(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    options.has_callbacks = true;
    options.solve_timeout_ms = 60000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 70000);
    skip_lines(w);
    ask(w, "bob", .key = "L");
    pass(w, 50000);
    expect(w, "[120000] submit a2 L\n");
}

static void a_rider_needs_no_slot_besides_the_strays(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    options.solve_timeout_ms = 60000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 60000);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    assert_int_equal(gauges_of(w).slots_used, 1);
    solved(w, "a1", "LATE");
    assert_int_equal(gauges_of(w).slots_used, 0);
    skip_lines(w);
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
        STORY(whoever_asks_for_the_same_meanwhile_joins_it_by_the_outlook_too),
        STORY(others_join_whoever_rides),
        STORY(what_the_vendor_gives_up_under_a_rider_is_paid_for_once_more),
        STORY(retries_that_are_turned_off_do_not_keep_a_rider_from_its_own_first_attempt),
        STORY(when_the_tasks_life_is_over_a_rider_pays_for_another),
        STORY(what_may_be_stale_is_no_good_to_a_rider),
        STORY(nothing_is_spent_twice_and_no_budget_is_asked_of_a_rider),
        STORY(an_open_breaker_does_not_keep_a_rider_out),
        STORY(a_stray_for_one_serves_one),
        STORY(who_wants_nothing_to_do_with_others_does_not_ride),
        STORY(a_retry_by_idempotency_key_rides_too),
        STORY(the_letter_of_a_stray_is_replayed_by_its_own_task),
        STORY(after_a_crash_it_is_still_ridden_on),
        STORY(a_rider_that_a_crash_interrupted_goes_on_when_the_task_fails),
        STORY(a_submit_nobody_heard_of_is_not_repeated_for_another),
        STORY(after_the_window_it_is_resent_for_whoever_asked_since),
        STORY(a_submit_on_the_wire_at_the_deadline_is_ridden_on),
        STORY(a_callback_that_only_names_the_task_calls_off_the_resend),
        STORY(a_callback_that_only_names_the_task_is_remembered_after_a_crash),
        STORY(a_stray_that_a_callback_named_is_asked_for),
        STORY(a_stray_keeps_its_slot_while_the_vendor_may_work_on_it),
        STORY(strays_do_not_keep_the_slots_for_ever),
        STORY(a_rider_needs_no_slot_besides_the_strays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
