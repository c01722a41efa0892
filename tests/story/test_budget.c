/* Budgets: so many accepted submits a day, exactly, whatever becomes of them (docs/design.md 5.5). */
#include "world.h"

/* Ends an attempt as cheaply as can be, so that its slot goes to the next. */
static void end(struct world *w, const char *attempt)
{
    rejected(w, attempt, CLASS_PROXY, "ERROR_BAD_PROXY");
}

static struct world *world_with_budget(uint64_t budget, bool has_callbacks)
{
    const struct client_options clients[] = {{.weight = 1, .budget_per_day = budget}};
    struct engine_options options = world_options();
    options.clients = clients;
    options.has_callbacks = has_callbacks;
    return world_new(&options);
}

#define OUT_OF_BUDGET "refused: this client's budget for today is used up"

static void a_budget_is_spent_to_the_last_submit_and_not_beyond(void **state)
{
    (void)state;
    struct world *w = world_with_budget(2, false);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    ask(w, "dan", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    ask(w, "eve", .key = "M");
    ask(w, "fay", .key = "K");
    expect(w, "[  6000] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TWO\" source api attempts 1\n"
              "[  6000] answer dan r3 solved \"TWO\" source dedup_wait attempts 1\n"
              "[  6000] answer eve " OUT_OF_BUDGET ", retry after 43194000\n"
              "[  6000] answer fay r4 solved \"ONE\" source dedup_cache attempts 1\n");
    assert_int_equal(stats_of(w)->submits, 2);
}

static void expect_budget(const struct world *w, uint64_t used, uint64_t reserved, uint64_t left)
{
    struct budget_view view;
    assert_true(engine_budget(w->engine, 0, &view));
    assert_int_equal(view.used, used);
    assert_int_equal(view.reserved, reserved);
    assert_int_equal(view.left, left);
}

static void used_reserved_and_left_make_up_the_budget_that_is_shown(void **state)
{
    (void)state;
    struct world *w = world_with_budget(3, false);
    expect_budget(w, 0, 0, 3);
    ask(w, "ann", .key = "K");
    expect_budget(w, 0, 1, 2);
    accepted(w, "a1", "T1");
    expect_budget(w, 1, 0, 2);
    ask(w, "bob", .key = "L");
    end(w, "a2");
    expect_budget(w, 1, 0, 2);
    w->now_ms = HOURS_MS(12);
    tick(w);
    expect_budget(w, 0, 0, 3);
    skip_lines(w);
}

static void a_client_without_a_budget_has_none_to_show(void **state)
{
    (void)state;
    struct budget_view view;
    const struct world *w = world_with_budget(UINT64_MAX, false);
    assert_false(engine_budget(w->engine, 0, &view));
}

static void midnight_brings_a_new_budget_once(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, false);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    w->now_ms = HOURS_MS(12) - 1;
    ask(w, "bob", .key = "L");
    w->now_ms = HOURS_MS(12);
    ask(w, "cat", .key = "L");
    accepted(w, "a2", "T2");
    skip_lines(w);
    /* The clock is set back by an hour: it is yesterday again, but not yesterday's budget. */
    w->wall_skew_ms = -HOURS_MS(1);
    ask(w, "dan", .key = "M");
    w->wall_skew_ms = 0;
    ask(w, "dan", .key = "M");
    expect(w, "[43200000] answer dan " OUT_OF_BUDGET ", retry after 3600000\n"
              "[43200000] answer dan " OUT_OF_BUDGET ", retry after 86400000\n");
}

/* Forward by days and right again: the day goes on, with what it had spent, and its page with it. */
static void a_clock_that_is_set_right_again_brings_its_day_back(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, false);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    int64_t day = 0;
    (void)engine_stats_of_day(w->engine, 0, &day);
    w->wall_skew_ms = HOURS_MS(72);
    tick(w);
    w->wall_skew_ms = 0;
    tick(w);
    int64_t again = 0;
    const struct stats *page = engine_stats_of_day(w->engine, 0, &again);
    assert_int_equal(again, day);
    assert_int_equal(page->requests, 1);
    ask(w, "bob", .key = "L");
    pass(w, HOURS_MS(12));
    assert_int_equal(w->tally.submits, 1);
    ask(w, "cat", .key = "L");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void what_was_cancelled_rejected_or_never_sent_costs_nothing(void **state)
{
    (void)state;
    const struct client_options clients[] = {{.weight = 1, .budget_per_day = 2}};
    struct engine_options options = world_options();
    options.clients = clients;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    gone(w, "bob");
    not_sent(w, "a1");
    pass(w, 1000);
    rejected(w, "a2", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 2000);
    end(w, "a3");
    ask(w, "dan", .key = "N");
    ask(w, "eve", .key = "O");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer cat " OUT_OF_BUDGET ", retry after 43200000\n"
              "[  1000] submit a2 K\n"
              "[  3000] submit a3 K\n"
              "[  3000] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 3\n"
              "[  3000] submit a4 N\n");
    end(w, "a4");
    skip_lines(w);
}

static void a_retry_of_what_was_accepted_costs_again(void **state)
{
    (void)state;
    struct world *w = world_with_budget(2, false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] submit a2 K\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 2\n");
}

static void an_ambiguous_submit_counts_and_its_resend_too(void **state)
{
    (void)state;
    struct world *w = world_with_budget(2, true);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    ambiguous(w, "a2");
    ask(w, "bob", .key = "L");
    pass(w, 45000);
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 45000] answer bob " OUT_OF_BUDGET ", retry after 43155000\n"
              "[ 90000] answer ann r1 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 2\n");
}

static void a_callback_before_the_reply_proves_that_it_was_paid(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, true);
    ask(w, "ann", .key = "K");
    callback(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    ask(w, "cat", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[     0] answer bob " OUT_OF_BUDGET ", retry after 43200000\n"
              "[     0] answer cat " OUT_OF_BUDGET ", retry after 43200000\n");
}

static void a_failure_called_back_before_the_reply_was_paid_for_too(void **state)
{
    (void)state;
    struct world *w = world_with_budget(2, true);
    ask(w, "ann", .key = "K");
    callback_failed(w, "a1", "T1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] ack a1\n"
              "[     0] submit a2 K\n"
              "[     0] answer bob " OUT_OF_BUDGET ", retry after 43200000\n");
}

static void what_the_deadline_cut_off_on_the_wire_counts_until_it_is_proven_void(void **state)
{
    (void)state;
    struct world *w = world_with_budget(2, false);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    pass(w, 180000);
    skip_lines(w);
    ask(w, "cat", .key = "M");
    accepted(w, "a1", "T1");
    ask(w, "cat", .key = "M");
    not_sent(w, "a2");
    ask(w, "cat", .key = "M");
    ask(w, "dan", .key = "N");
    expect(w, "[180000] answer cat " OUT_OF_BUDGET ", retry after 43020000\n"
              "[180000] answer cat " OUT_OF_BUDGET ", retry after 43020000\n"
              "[180000] submit a3 M\n"
              "[180000] answer dan " OUT_OF_BUDGET ", retry after 43020000\n");
}

static void yesterdays_void_submit_gives_nothing_back_today(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, false);
    w->now_ms = HOURS_MS(12) - 200000;
    ask(w, "ann", .key = "K");
    pass(w, 180000);
    pass(w, 20000);
    ask(w, "bob", .key = "L");
    accepted(w, "a2", "T2");
    not_sent(w, "a1");
    skip_lines(w);
    ask(w, "cat", .key = "M");
    expect(w, "[43200000] answer cat " OUT_OF_BUDGET ", retry after 86400000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_budget_is_spent_to_the_last_submit_and_not_beyond),
        STORY(used_reserved_and_left_make_up_the_budget_that_is_shown),
        STORY(a_client_without_a_budget_has_none_to_show),
        STORY(midnight_brings_a_new_budget_once),
        STORY(a_clock_that_is_set_right_again_brings_its_day_back),
        STORY(what_was_cancelled_rejected_or_never_sent_costs_nothing),
        STORY(a_retry_of_what_was_accepted_costs_again),
        STORY(an_ambiguous_submit_counts_and_its_resend_too),
        STORY(a_callback_before_the_reply_proves_that_it_was_paid),
        STORY(a_failure_called_back_before_the_reply_was_paid_for_too),
        STORY(what_the_deadline_cut_off_on_the_wire_counts_until_it_is_proven_void),
        STORY(yesterdays_void_submit_gives_nothing_back_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
