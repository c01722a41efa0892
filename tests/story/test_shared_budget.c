/* Budgets of gateways that share a store: no unit is spent that was not drawn there, and nobody is refused before the
 * store says that the day is spent. */
#include "shared_world.h"

#include <solvegate/budgets.h>

static struct client_options client = {.weight = 1};

static struct world *world_with_budget(uint64_t budget, uint32_t slots)
{
    struct engine_options options = world_options();
    client.budget_per_day = budget;
    options.clients = &client;
    options.slots = slots;
    return shared_world(&options);
}

static void reload(struct world *w, uint64_t budget)
{
    struct engine_options options = w->options;
    client.budget_per_day = budget;
    options.clients = &client;
    engine_configure(w->engine, &options);
}

#define OUT_OF_BUDGET "refused: this client's budget for today is used up"

/* ---- the store's rule ------------------------------------------------------------------------ */

static void decide(uint64_t others, uint64_t used, uint64_t need, uint64_t held, uint64_t left)
{
    const struct draw draw = {.budget = 100, .used = used, .need = need, .block = 4};
    struct drawn drawn = {.is_known = false};
    budget_decide(&draw, others, &drawn);
    assert_true(drawn.is_known);
    assert_int_equal(drawn.held, held);
    assert_int_equal(drawn.left, left);
}

static void the_store_gives_what_is_left_and_a_part_of_the_rest_in_advance(void **state)
{
    (void)state;
    decide(0, 0, 1, 5, 95);  /* the block is as large as was asked for */
    decide(50, 0, 2, 5, 45); /* a sixteenth of 48 */
    decide(84, 0, 1, 1, 15); /* less than sixteen: one by one */
    decide(98, 0, 5, 2, 0);  /* only two are left */
    decide(98, 5, 0, 5, 0);  /* what is used is a fact */
    decide(120, 0, 1, 0, 0); /* others have more than there is */
    decide(0, 7, 0, 11, 89);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void a_unit_is_drawn_before_the_first_submit_and_a_block_serves_the_next(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[     0] draw used 0 need 1\n");
    drawn(w, 3, 97);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    expect(w, "[     0] claim f2 L\n"
              "[     0] submit a2 L\n"
              "[     0] draw used 3 need 0\n"
              "[     0] submit a3 M\n");
}

static void the_next_block_is_drawn_before_the_last_unit_is_used(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    ask(w, "dan", .key = "N", .reuse = REUSE_NONE);
    skip_lines(w);
    ask(w, "eve", .key = "O", .reuse = REUSE_NONE);
    expect(w, "[     0] draw used 5 need 1\n"
              "[     0] submit a5 O\n");
}

static void everybody_who_waits_is_served_by_one_draw(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    drawn(w, 1, 99);
    expect(w, "[     0] draw used 0 need 1\n"
              "[     0] submit a1 K\n"
              "[     0] draw used 1 need 2\n");
    drawn(w, 3, 97);
    expect(w, "[     0] submit a2 L\n"
              "[     0] submit a3 M\n");
}

static void a_day_that_is_spent_takes_what_is_paid_for(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 0);
    accepted(w, "a1", "T1");
    skip_lines(w);
    ask(w, "bob", .key = "L", .reuse = REUSE_SINGLE);
    took(w, "f1", "TOKEN");
    ask(w, "cat", .key = "L", .reuse = REUSE_SINGLE);
    won(w, "f2");
    expect(w, "[     0] claim f1 L or nothing\n"
              "[     0] tell n3: L was taken\n"
              "[     0] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] claim f2 L or nothing\n"
              "[     0] answer cat " OUT_OF_BUDGET ", retry after 43200000\n");
}

static void expect_left(const struct world *w, uint64_t used, uint64_t reserved, uint64_t left)
{
    struct budget_view view;
    assert_true(engine_budget(w->engine, 0, &view));
    assert_int_equal(view.limit, 100);
    assert_int_equal(view.used, used);
    assert_int_equal(view.reserved, reserved);
    assert_int_equal(view.left, left);
}

static void what_is_left_is_what_it_drew_and_what_the_store_said(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    expect_left(w, 0, 0, 100);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 4, 36); /* others have 60 */
    expect_left(w, 0, 1, 39);
    accepted(w, "a1", "T1");
    expect_left(w, 1, 0, 39);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    ask(w, "dan", .key = "N", .reuse = REUSE_NONE);
    drawn(w, 4, 0);
    expect_left(w, 1, 3, 0);
    skip_lines(w);
}

static void what_is_left_of_a_new_day_nobody_has_said_yet(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 4, 36);
    solve(w, "a1", "T1", "TOKEN");
    expect_left(w, 1, 0, 39);
    w->now_ms = HOURS_MS(12);
    tick(w);
    expect_left(w, 0, 0, 100);
    skip_lines(w);
}

static void a_client_without_a_budget_draws_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_budget(UINT64_MAX, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drain(w);
    expect(w, "[     0] submit a1 K\n");
}

static void an_answer_that_does_not_come_is_asked_for_with_the_next_beat(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    not_drawn(w);
    expect(w, "[     0] draw used 0 need 1\n");
    beat(w, 0);
    expect(w, "[     0] draw used 0 need 1\n");
    drawn(w, 1, 99);
    expect(w, "[     0] submit a1 K\n");
}

/* ---- a day that is spent --------------------------------------------------------------------- */

static void who_asks_is_refused_when_the_store_says_that_the_day_is_spent(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K");
    won(w, "f1");
    drawn(w, 0, 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] draw used 0 need 1\n"
              "[     0] release f1 K\n"
              "[     0] answer ann " OUT_OF_BUDGET ", retry after 43200000\n"
              "[     0] answer bob " OUT_OF_BUDGET ", retry after 43200000\n");
    assert_int_equal(gauges_of(w).flights, 0);
    assert_int_equal(stats_of(w)->rejected, 2);
}

static void for_a_second_the_store_is_not_asked_again(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 0, 0);
    pass(w, 999);
    ask(w, "bob", .key = "K", .reuse = REUSE_NONE);
    skip_lines(w);
    pass(w, 1);
    ask(w, "cat", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[  1000] draw used 0 need 1\n");
    drawn(w, 1, 0);
    expect(w, "[  1000] submit a1 K\n");
}

static void a_retry_waits_for_its_unit_and_fails_as_it_would_alone(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 5);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[     0] draw used 0 need 1\n"
              "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] draw used 1 need 1\n");
    pass(w, 5000);
    expect(w, "");
    drawn(w, 2, 4);
    expect(w, "[ 11000] submit a2 K\n");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    drawn(w, 2, 0);
    expect(w, "[16000..17000] poll a2 task T2\n"
              "[ 17000] draw used 2 need 1\n"
              "[ 17000] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 2\n");
}

static void a_follower_that_wins_waits_for_its_unit(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    woken(w, "K");
    skip_lines(w);
    won(w, "f1");
    expect(w, "[     0] draw used 0 need 1\n");
    drawn(w, 0, 0);
    expect(w, "[     0] release f1 K\n");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 failed ERROR_ZERO_BALANCE (account) attempts 0,"
              " retry after 43200000\n");
}

static void who_leaves_while_he_waits_for_a_unit_costs_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    gone(w, "ann");
    assert_int_equal(gauges_of(w).flights, 0);
    drawn(w, 1, 99);
    expect(w, "[     0] claim f1 K\n"
              "[     0] draw used 0 need 1\n"
              "[     0] release f1 K\n");
}

static void a_store_that_does_not_answer_is_away(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .hold_ms = HOURS_MS(1));
    pass(w, w->options.solve_timeout_ms);
    assert_int_equal(w->tally.refused, 1);
    assert_int_equal(w->tally.submits, 0);
    skip_lines(w);
}

/* ---- giving back ----------------------------------------------------------------------------- */

static void units_that_nobody_used_for_ten_seconds_go_back(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    pass(w, 9999);
    beat(w, 0);
    skip_lines(w);
    pass(w, 1);
    beat(w, 0);
    expect(w, "[ 10000] draw used 1 need 0 alone\n");
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    expect(w, "");
    drawn(w, 1, 99);
    expect(w, "[ 10000] draw used 1 need 1\n");
}

static void a_gateway_that_ends_gives_back_what_it_will_not_use(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 1);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    expect(w, "[     0] draw used 0 need 1\n"
              "[     0] submit a1 K\n");
    drain(w);
    expect(w, "[     0] draw used 2 need 0 alone\n");
    drawn(w, 2, 98);
    /* The submit on its way may be accepted; the one in the queue is not sent any more. */
    engine_stop_submits(w->engine);
    engine_give_back_units(w->engine);
    tick(w);
    expect(w, "[     0] draw used 1 need 0 alone\n");
}

/* ---- restarts and deaths --------------------------------------------------------------------- */

static void after_a_restart_what_was_spent_before_is_told(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    /* One was accepted, the other one may have been. */
    expect(w, "[     0] draw used 0 need 0 before 2\n");
}

static void a_dead_nodes_submit_was_drawn_by_that_one(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    client.budget_per_day = 100;
    options.clients = &client;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .is_told = true);
    drawn(w, 1, 5);
    dies(w, NULL, NULL);
    skip_lines(w);
    const struct member me = {.id = DEAD_NODE + 1, .beat = 1, .is_self = true};
    members(w, me, ((struct member){.id = DEAD_NODE, .beat = 1, .is_leaving = true}));
    expect(w, "[     0] adopt node 7\n");
    adopted(w, 100);
    skip_lines(w);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    expect(w, "[     1] draw used 0 need 1\n");
    drawn(w, 1, 4);
    expect(w, "[     1] submit a2 L\n");
}

static void a_queued_flight_waits_for_a_new_unit_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 1);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .is_told = true);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE, .is_told = true);
    drawn(w, 2, 98);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    accepted(w, "a2", "T2");
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE, .is_told = true);
    drawn(w, 3, 97);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    expect(w, "[     0] draw used 0 need 0 before 1\n");
    drawn(w, 0, 97);
    tick(w);
    expect(w, "[     0] draw used 0 need 1 before 1\n"
              "[     0] poll a2 task T2\n");
    solved(w, "a2", "TOKEN");
    drawn(w, 1, 96);
    expect(w, "[     0] submit a3 M\n");
}

/* ---- midnight -------------------------------------------------------------------------------- */

static void at_midnight_whoever_is_queued_needs_a_unit_of_the_new_day(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 1);
    pass(w, HOURS_MS(12) - 5);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    ask(w, "cat", .key = "M", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    skip_lines(w);
    pass(w, 5);
    tick(w);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    tick(w);
    /* What was on its way is not: others may have drawn all of the new day meanwhile. */
    expect(w, "[43200000] draw used 1 need 2\n"
              "[43200000] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[43200000] draw used 0 need 2\n");
    drawn(w, 1, 0);
    expect(w, "[43200000] answer cat r2 failed ERROR_ZERO_BALANCE (account) attempts 0,"
              " retry after 86400000\n"
              "[43200000] submit a2 L\n");
}

static void
a_submit_that_is_refused_after_midnight_is_repeated_with_a_unit_of_the_new_day(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    pass(w, HOURS_MS(12) - 5);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 99);
    pass(w, 5);
    tick(w);
    skip_lines(w);
    drawn(w, 1, 0);
    pass(w, 2000);
    skip_lines(w);
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    expect(w, "[43202000] draw used 0 need 1\n");
    pass(w, 100);
    drawn(w, 0, 0);
    expect(w, "[43202100] answer ann r1 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 1\n");
}

static void a_submit_that_is_accepted_after_midnight_is_a_fact(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    pass(w, HOURS_MS(12) - 5);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 99);
    pass(w, 5);
    tick(w);
    skip_lines(w);
    accepted(w, "a1", "T1");
    drawn(w, 1, 0);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    expect(w, "[43200000] answer bob " OUT_OF_BUDGET ", retry after 86400000\n");
}

static void what_was_drawn_yesterday_is_not_todays(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    pass(w, HOURS_MS(12) - 5);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    const struct draw yesterday = w->last_draw;
    pass(w, 5);
    tick(w);
    expect(w, "[43199995] draw used 0 need 1\n"
              "[43200000] draw used 0 need 1\n");
    const struct draw today = w->last_draw;
    assert_int_equal(today.day, yesterday.day + 1);
    w->last_draw = yesterday;
    drawn(w, 6, 94);
    expect(w, "");
    w->last_draw = today;
    drawn(w, 1, 99);
    expect(w, "[43200000] submit a1 K\n");
}

/* ---- reloads --------------------------------------------------------------------------------- */

static void a_lower_budget_is_drawn_anew_before_anything_else_is_spent(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 6, 94);
    skip_lines(w);
    reload(w, 3);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    expect(w, "[     0] draw used 1 need 1 alone\n");
    assert_int_equal(w->last_draw.budget, 3);
    drawn(w, 1, 0);
    expect(w, "[     0] answer bob " OUT_OF_BUDGET ", retry after 43200000\n");
}

static void a_draw_that_was_sent_before_the_reload_gives_nobody_anything(void **state)
{
    (void)state;
    struct world *w = world_with_budget(100, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 99);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    skip_lines(w);
    reload(w, 2);
    tick(w);
    drawn(w, 8, 90);
    expect(w, "[     0] draw used 1 need 1 alone\n");
    assert_int_equal(w->last_draw.budget, 2);
    drawn(w, 2, 0);
    expect(w, "[     0] submit a2 L\n");
}

static void a_higher_budget_counts_at_once(void **state)
{
    (void)state;
    struct world *w = world_with_budget(1, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    drawn(w, 1, 0);
    ask(w, "bob", .key = "L", .reuse = REUSE_NONE);
    skip_lines(w);
    reload(w, 2);
    tick(w);
    drawn(w, 1, 1);
    ask(w, "cat", .key = "L", .reuse = REUSE_NONE);
    drawn(w, 2, 0);
    expect(w, "[     0] draw used 1 need 0 alone\n"
              "[     0] draw used 1 need 1\n"
              "[     0] submit a2 L\n");
}

static void a_new_budget_counts_what_was_spent_without_one(void **state)
{
    (void)state;
    struct world *w = world_with_budget(UINT64_MAX, 50);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    accepted(w, "a1", "T1");
    skip_lines(w);
    reload(w, 10);
    tick(w);
    expect(w, "[     0] draw used 1 need 0 alone\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(the_store_gives_what_is_left_and_a_part_of_the_rest_in_advance),
        STORY(a_unit_is_drawn_before_the_first_submit_and_a_block_serves_the_next),
        STORY(the_next_block_is_drawn_before_the_last_unit_is_used),
        STORY(everybody_who_waits_is_served_by_one_draw),
        STORY(a_day_that_is_spent_takes_what_is_paid_for),
        STORY(what_is_left_is_what_it_drew_and_what_the_store_said),
        STORY(what_is_left_of_a_new_day_nobody_has_said_yet),
        STORY(a_client_without_a_budget_draws_nothing),
        STORY(an_answer_that_does_not_come_is_asked_for_with_the_next_beat),
        STORY(who_asks_is_refused_when_the_store_says_that_the_day_is_spent),
        STORY(for_a_second_the_store_is_not_asked_again),
        STORY(a_retry_waits_for_its_unit_and_fails_as_it_would_alone),
        STORY(a_follower_that_wins_waits_for_its_unit),
        STORY(who_leaves_while_he_waits_for_a_unit_costs_nothing),
        STORY(a_store_that_does_not_answer_is_away),
        STORY(units_that_nobody_used_for_ten_seconds_go_back),
        STORY(a_gateway_that_ends_gives_back_what_it_will_not_use),
        STORY(after_a_restart_what_was_spent_before_is_told),
        STORY(a_dead_nodes_submit_was_drawn_by_that_one),
        STORY(a_queued_flight_waits_for_a_new_unit_after_a_restart),
        STORY(at_midnight_whoever_is_queued_needs_a_unit_of_the_new_day),
        STORY(a_submit_that_is_refused_after_midnight_is_repeated_with_a_unit_of_the_new_day),
        STORY(a_submit_that_is_accepted_after_midnight_is_a_fact),
        STORY(what_was_drawn_yesterday_is_not_todays),
        STORY(a_lower_budget_is_drawn_anew_before_anything_else_is_spent),
        STORY(a_draw_that_was_sent_before_the_reload_gives_nobody_anything),
        STORY(a_higher_budget_counts_at_once),
        STORY(a_new_budget_counts_what_was_spent_without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
