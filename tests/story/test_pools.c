/* Pools: solved ahead, handed out once each, replaced before they run out, asleep when nobody asks. */
#include "pool_world.h"

#include "lines.h"

static uint32_t plan = 10;
static bool has_callbacks = false;

static struct world *world_of(struct engine_options options, struct pool_options pool,
                              bool has_journal)
{
    options.has_journal = has_journal;
    options.slots = plan;
    options.has_callbacks = has_callbacks;
    return pool_world(options, pool);
}

static struct world *world_with_pool(struct pool_options pool, bool has_journal)
{
    return world_of(world_options(), pool, has_journal);
}

static void it_is_filled_at_start_and_hands_out_each_solution_once(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 2}, false);
    tick(w);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    assert_int_equal(pool_view_of(w).ready, 2);
    ask(w, "ann", .key = "K", .pool = 1);
    ask(w, "bob", .key = "K", .pool = 1);
    ask(w, "cat", .key = "K", .pool = 1);
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n"
              "[5000..6000] poll a2 task T2\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"ONE\" source pool attempts 1\n"
              "[  6000] submit a3 P\n"
              "[  6000] answer bob r2 solved \"TWO\" source pool attempts 1\n"
              "[  6000] submit a4 P\n"
              "[  6000] submit a5 K\n");
    assert_int_equal(pool_view_of(w).served, 2);
}

static void it_comes_last_in_the_queue(void **state)
{
    (void)state;
    plan = 1;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, false);
    plan = 10;
    ask(w, "ann", .key = "A");
    ask(w, "bob", .key = "B");
    solve(w, "a1", "T1", "TOKEN A");
    assert_int_equal(pool_view_of(w).solving, 0);
    solve(w, "a2", "T2", "TOKEN B");
    assert_int_equal(pool_view_of(w).solving, 1);
    skip_lines(w);
}

static void what_would_run_out_is_replaced_before_and_then_dropped(void **state)
{
    (void)state;
    struct world *w =
        world_with_pool((struct pool_options){.size = 1, .idle_after_ms = HOURS_MS(1)}, false);
    tick(w);
    solve(w, "a1", "T1", "ONE");
    /* Born with its submit, good for 250 s, of which 10 must be left: 30 s before, the next. */
    pass(w, 203999);
    skip_lines(w);
    pass(w, 1);
    expect(w, "[210000] submit a2 P\n");
    solve(w, "a2", "T2", "TWO");
    assert_int_equal(pool_view_of(w).ready, 2);
    pass(w, 30000);
    assert_int_equal(pool_view_of(w).ready, 1);
    assert_int_equal(pool_view_of(w).expired, 1);
    skip_lines(w);
}

static void it_sleeps_when_nobody_asks_and_wakes_on_demand(void **state)
{
    (void)state;
    struct world *w =
        world_with_pool((struct pool_options){.size = 1, .idle_after_ms = 60000}, false);
    tick(w);
    solve(w, "a1", "T1", "ONE");
    skip_lines(w);
    pass(w, 300000);
    assert_true(pool_view_of(w).is_asleep);
    assert_int_equal(pool_view_of(w).ready, 0);
    expect(w, "");
    ask(w, "ann", .key = "K", .pool = 1);
    assert_false(pool_view_of(w).is_asleep);
    expect(w, "[306000] submit a2 K\n"
              "[306000] submit a3 P\n");
}

static void it_sleeps_after_too_much_waste(void **state)
{
    (void)state;
    struct world *w = world_with_pool(
        (struct pool_options){.size = 1, .max_waste = 2, .idle_after_ms = HOURS_MS(9)}, false);
    tick(w);
    solve(w, "a1", "T1", "ONE");
    pass(w, 204000);
    solve(w, "a2", "T2", "TWO");
    pass(w, 204000);
    solve(w, "a3", "T3", "THREE");
    pass(w, 60000);
    assert_true(pool_view_of(w).is_asleep);
    skip_lines(w);
}

static void a_vendor_that_refuses_is_asked_again_only_later(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, false);
    tick(w);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] submit a1 P\n");
    pass(w, 1000);
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    pass(w, 2000);
    expect(w, "[  1000] submit a2 P\n"
              "[  3000] submit a3 P\n");
}

static void each_solution_is_handed_out_once_also_after_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 2}, true);
    tick(w);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    ask(w, "ann", .key = "K", .pool = 1);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    assert_int_equal(pool_view_of(w).ready, 0);
    assert_int_equal(pool_view_of(w).solving, 2);
    pass(w, 0);
    solved(w, "a2", "TWO");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    assert_int_equal(pool_view_of(w).ready, 1);
    ask(w, "bob", .key = "K", .pool = 1);
    skip_lines(w);
    assert_int_equal(pool_view_of(w).served, 1);
}

static void a_refill_that_failed_lets_newcomers_go_first(void **state)
{
    (void)state;
    plan = 1;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, false);
    plan = 10;
    tick(w);
    ask(w, "ann", .key = "A");
    rejected(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 A\n");
}

static void a_solution_that_comes_late_is_kept_where_it_is_looked_for(void **state)
{
    (void)state;
    has_callbacks = true;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, false);
    has_callbacks = false;
    tick(w);
    ambiguous(w, "a1");
    pass(w, 45000);
    callback(w, "a1", "T1", "LATE");
    assert_int_equal(pool_view_of(w).ready, 1);
    skip_lines(w);
    ask(w, "ann", .key = "K", .pool = 1);
    expect(w, "[ 45000] answer ann r1 solved \"LATE\" source pool attempts 0\n");
}

static void a_callers_own_solve_does_not_become_the_pools_in_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, true);
    tick(w);
    ask(w, "ann", .key = "P", .reuse = REUSE_SINGLE, .is_told = true, .pool = 1);
    accepted(w, "a2", "T2");
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a2", "TOKEN");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    assert_int_equal(pool_view_of(w).ready, 0);
    skip_lines(w);
}

static void what_an_idempotency_key_has_is_nobody_elses_after_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, true);
    tick(w);
    solve(w, "a1", "T1", "ONE");
    const journal_seq before = w->seq;
    ask(w, "ann", .key = "K", .pool = 1, .idempotency = "I");
    crash(w, before + 1);
    skip_lines(w);
    ask(w, "bob", .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 1);
    ask(w, "ann again", .key = "K", .pool = 1, .idempotency = "I");
    assert_int_equal(w->tally.solved, 2);
    assert_int_equal(pool_view_of(w).ready, 0);
    skip_lines(w);
}

static void what_waits_for_a_retry_is_not_handed_out_by_a_pool(void **state)
{
    (void)state;
    struct world *w = world_with_pool((struct pool_options){.size = 1}, false);
    tick(w);
    ask(w, "ann", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .idempotency = "I");
    gone(w, "ann");
    solve(w, "a2", "T2", "OF ANN");
    ask(w, "bob", .key = "P", .reuse = REUSE_SINGLE, .pool = 1);
    assert_int_equal(w->tally.solved, 0);
    ask(w, "ann again", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .idempotency = "I");
    assert_int_equal(w->tally.solved, 1);
    skip_lines(w);
}

/* Four callers ask under the pool's own key and leave: with the pool's own that is five, of which it holds two. */
static struct world *world_with_too_many(bool has_journal)
{
    struct world *w = world_with_pool((struct pool_options){.size = 1}, has_journal);
    tick(w);
    static const char *const callers[] = {"ann", "bob", "cat", "dan"};
    for (size_t i = 0; i < 4; i++)
        ask(w, callers[i], .key = "P", .reuse = REUSE_SINGLE, .pool = 1);
    for (size_t i = 0; i < 4; i++)
        gone(w, callers[i]);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5"};
    static const char *const tokens[] = {"ONE", "TWO", "THREE", "FOUR", "FIVE"};
    for (size_t i = 0; i < 5; i++)
        accepted(w, attempts[i], attempts[i]);
    pass(w, 6000);
    for (size_t i = 0; i < 5; i++)
        solved(w, attempts[i], tokens[i]);
    if (has_journal)
        durable(w, w->seq);
    assert_int_equal(pool_view_of(w).ready, 2);
    assert_int_equal(pool_view_of(w).banked, 3);
    assert_int_equal(w->tally.submits, 5);
    skip_lines(w);
    return w;
}

static void what_it_has_no_room_for_is_handed_out_before_another_is_paid_for(void **state)
{
    (void)state;
    struct world *w = world_with_too_many(false);
    static const char *const callers[] = {"eve", "fay", "gus", "hal"};
    for (size_t i = 0; i < 4; i++)
        ask(w, callers[i], .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 4);
    assert_int_equal(w->tally.submits, 5);
    assert_int_equal(pool_view_of(w).served, 4);
    assert_int_equal(pool_view_of(w).ready, 1);
    assert_int_equal(pool_view_of(w).banked, 0);
    ask(w, "ida", .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 5);
    assert_int_equal(w->tally.submits, 6);
    skip_lines(w);
}

/* Somebody who wants a fresh one and leaves before it comes. */
static void leave_one_behind(struct world *w, const char *caller, const char *attempt)
{
    ask(w, caller, .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .max_age_ms = 1,
        .type = TYPE_TURNSTILE);
    gone(w, caller);
    accepted(w, attempt, attempt);
    pass(w, 6000);
    solved(w, attempt, attempt);
}

static void what_it_has_no_room_for_replaces_what_runs_out(void **state)
{
    (void)state;
    struct world *w =
        world_with_pool((struct pool_options){.size = 1, .idle_after_ms = 600000}, false);
    tick(w);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    leave_one_behind(w, "ann", "a2");
    pass(w, 40000);
    leave_one_behind(w, "bob", "a3");
    assert_int_equal(pool_view_of(w).ready, 2);
    assert_int_equal(pool_view_of(w).banked, 1);
    while (pool_view_of(w).banked == 1)
        pass(w, 1000);
    assert_true(pool_view_of(w).ready > 0);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void what_it_has_no_room_for_is_found_also_when_nothing_may_be_refilled(void **state)
{
    (void)state;
    struct world *w = world_with_too_many(false);
    /* An open breaker, so that no step looks for refills. */
    ask(w, "zoe", .key = "Z");
    rejected(w, "a6", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    skip_lines(w);
    static const char *const callers[] = {"eve", "fay", "gus", "hal", "ida"};
    for (size_t i = 0; i < 5; i++)
        ask(w, callers[i], .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 5);
    skip_lines(w);
}

/* Each hand-out is one record: of those that are not on disk nobody was told, and they come back. */
static void what_it_has_no_room_for_is_handed_out_once_wherever_a_crash_cuts(void **state)
{
    (void)state;
    for (unsigned kept = 0; kept <= 4; kept++) {
        struct world *w = world_with_too_many(true);
        static const char *const callers[] = {"eve", "fay", "gus", "hal"};
        const journal_seq before = w->seq;
        for (size_t i = 0; i < 4; i++)
            ask(w, callers[i], .key = "K", .pool = 1);
        assert_int_equal(w->tally.solved, 4);
        assert_int_equal(w->seq - before, 4);
        crash(w, before + kept);
        assert_int_equal(pool_view_of(w).ready + pool_view_of(w).banked, 5 - kept);
        for (size_t i = 0; i < 4; i++)
            ask(w, callers[i], .key = "K", .pool = 1);
        assert_int_equal(w->tally.solved, kept < 2 ? 8 : 9 - kept);
        skip_lines(w);
    }
}

static void what_it_has_no_room_for_but_an_idempotency_key_has_is_not_given_away(void **state)
{
    (void)state;
    struct world *w = world_with_too_many(false);
    ask(w, "liz", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .min_ttl_ms = 249000,
        .idempotency = "I");
    gone(w, "liz");
    solve(w, "a6", "T6", "OF LIZ");
    assert_int_equal(pool_view_of(w).banked, 3);
    static const char *const callers[] = {"eve", "fay", "gus", "hal", "ida"};
    for (size_t i = 0; i < 5; i++)
        ask(w, callers[i], .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 5);
    skip_lines(w);
    ask(w, "mia", .key = "K", .pool = 1);
    ask(w, "liz again", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .idempotency = "I");
    assert_int_equal(w->tally.solved, 6);
    skip_lines(w);
}

static void of_two_pools_for_one_target_each_keeps_its_own(void **state)
{
    (void)state;
    static const struct client_options clients[] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                    {.weight = 1, .budget_per_day = UINT64_MAX}};
    static struct pool_options pools[2];
    struct blob *params = blob_new(SLICE_OF("P"));
    for (client_id i = 0; i < 2; i++)
        pools[i] = (struct pool_options){.size = 1,
                                         .idle_after_ms = 120000,
                                         .client = i,
                                         .type = TYPE_TURNSTILE,
                                         .key = key_named("P"),
                                         .params = params};
    struct engine_options options = world_options();
    options.has_journal = true;
    options.clients = clients;
    options.client_count = 2;
    options.pools = pools;
    options.pool_count = 2;
    struct world *w = world_new(&options);
    w->pool_params = params;
    tick(w);
    solve(w, "a2", "T2", "OF CLIENT 1");
    crash(w, ALL_RECORDS);
    struct pool_view views[2];
    assert_int_equal(engine_list_pools(w->engine, views, 2), 2);
    assert_int_equal(views[0].ready, 0);
    assert_int_equal(views[1].ready, 1);
    /* Nor is what the other has no room for. */
    static const char *const callers[] = {"ann", "bob"};
    for (size_t i = 0; i < 2; i++)
        ask(w, callers[i], .key = "P", .client = 1, .reuse = REUSE_SINGLE, .max_age_ms = 1);
    for (size_t i = 0; i < 2; i++)
        gone(w, callers[i]);
    solve(w, "a3", "T3", "ALSO OF CLIENT 1");
    solve(w, "a4", "T4", "ALSO OF CLIENT 1");
    assert_int_equal(engine_list_pools(w->engine, views, 2), 2);
    assert_int_equal(views[1].ready, 2);
    assert_int_equal(views[1].banked, 1);
    assert_int_equal(views[0].banked, 0);
    const unsigned solved_before = w->tally.solved;
    ask(w, "cat", .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, solved_before);
    for (size_t i = 0; i < 3; i++)
        ask(w, "dan", .key = "L", .client = 1, .pool = 2);
    assert_int_equal(w->tally.solved, solved_before + 3);
    skip_lines(w);
}

static void there_is_a_place_for_all_it_holds(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_solutions = options.max_requests = options.max_flights = 1;
    options.max_idempotency = 1;
    struct world *w = world_of(options, (struct pool_options){.size = 9}, false);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"};
    tick(w);
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        solve(w, attempts[i], attempts[i], "TOKEN");
    assert_int_equal(pool_view_of(w).ready, 9);
    skip_lines(w);
}

static void what_is_too_old_when_it_comes_is_not_asked_for_again_at_once(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.ttl_ms[TYPE_TURNSTILE] = 12000;
    struct world *w = world_of(options, (struct pool_options){.size = 1}, false);
    tick(w);
    solve(w, "a1", "T1", "OLD");
    assert_int_equal(pool_view_of(w).expired, 1);
    pass(w, 999);
    assert_int_equal(w->tally.submits, 1);
    pass(w, 1);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(it_is_filled_at_start_and_hands_out_each_solution_once),
        STORY(it_comes_last_in_the_queue),
        STORY(what_would_run_out_is_replaced_before_and_then_dropped),
        STORY(it_sleeps_when_nobody_asks_and_wakes_on_demand),
        STORY(it_sleeps_after_too_much_waste),
        STORY(a_vendor_that_refuses_is_asked_again_only_later),
        STORY(each_solution_is_handed_out_once_also_after_a_crash),
        STORY(a_refill_that_failed_lets_newcomers_go_first),
        STORY(a_solution_that_comes_late_is_kept_where_it_is_looked_for),
        STORY(a_callers_own_solve_does_not_become_the_pools_in_a_crash),
        STORY(what_an_idempotency_key_has_is_nobody_elses_after_a_crash),
        STORY(what_waits_for_a_retry_is_not_handed_out_by_a_pool),
        STORY(what_it_has_no_room_for_is_handed_out_before_another_is_paid_for),
        STORY(what_it_has_no_room_for_replaces_what_runs_out),
        STORY(what_it_has_no_room_for_is_found_also_when_nothing_may_be_refilled),
        STORY(what_it_has_no_room_for_is_handed_out_once_wherever_a_crash_cuts),
        STORY(what_it_has_no_room_for_but_an_idempotency_key_has_is_not_given_away),
        STORY(of_two_pools_for_one_target_each_keeps_its_own),
        STORY(there_is_a_place_for_all_it_holds),
        STORY(what_is_too_old_when_it_comes_is_not_asked_for_again_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
