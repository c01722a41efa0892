/* Pools in tight spots: little room, little money, few slots, short lives, and what a crash makes of it. */
#include "pool_world.h"

#include "lines.h"

/* ---- room -------------------------------------------------------------------------------- */

/* Two refills were given up and a third is on its way: all of them may still bring something. */
static struct world *world_with_two_given_up(void)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    options.ambiguity_window_ms = 10000;
    options.retry_base_ms = 1;
    struct world *w =
        pool_world(options, (struct pool_options){.size = 1, .idle_after_ms = HOURS_MS(1)});
    tick(w);
    ambiguous(w, "a1");
    pass(w, 10010);
    ambiguous(w, "a2");
    pass(w, 10010);
    accepted(w, "a3", "T3");
    return w;
}

static void it_holds_twice_its_size_and_not_more(void **state)
{
    (void)state;
    struct world *w = world_with_two_given_up();
    callback(w, "a1", "T1", "ONE");
    callback(w, "a2", "T2", "TWO");
    assert_int_equal(pool_view_of(w).ready, 2);
    callback(w, "a2", "T2 again", "DOUBLED");
    assert_int_equal(pool_view_of(w).ready, 2);
    callback(w, "a3", "T3", "THREE");
    assert_int_equal(pool_view_of(w).ready, 2);
    crash(w, ALL_RECORDS);
    assert_int_equal(pool_view_of(w).ready, 2);
    skip_lines(w);
}

static void nothing_is_solved_for_which_there_is_no_room(void **state)
{
    (void)state;
    struct world *w = world_with_two_given_up();
    callback(w, "a2", "T2", "TWO");
    callback(w, "a3", "T3", "THREE");
    /* Both are about to run out, and both are still there. */
    pass(w, 232000 - w->now_ms);
    assert_int_equal(pool_view_of(w).ready, 2);
    assert_int_equal(w->tally.submits, 3);
    pass(w, 20000);
    assert_int_equal(pool_view_of(w).ready, 1);
    assert_int_equal(w->tally.submits, 4);
    skip_lines(w);
}

static void a_refill_that_was_never_heard_of_is_no_letter(void **state)
{
    (void)state;
    struct world *w = world_with_two_given_up();
    assert_int_equal(gauges_of(w).letters, 0);
    skip_lines(w);
}

static void its_refills_have_no_more_bytes_than_others(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flight_bytes = 2;
    struct world *w = pool_world(options, (struct pool_options){.size = 3});
    tick(w);
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n");
}

/* ---- money and slots --------------------------------------------------------------------- */

static void its_client_pays_for_it_and_not_more_than_it_may(void **state)
{
    (void)state;
    static const struct client_options thrifty = {.weight = 1, .budget_per_day = 2};
    struct engine_options options = world_options();
    options.clients = &thrifty;
    struct world *w = pool_world(options, (struct pool_options){.size = 3});
    tick(w);
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n");
}

/* Its budget went with its client, so that no refill would ever be too many. */
static void nothing_is_paid_for_a_pool_whose_client_is_gone(void **state)
{
    (void)state;
    static const struct client_options without = {
        .weight = 1, .budget_per_day = UINT64_MAX, .is_gone = true};
    static const struct client_options thrifty = {.weight = 1, .budget_per_day = 5};
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        struct engine_options options = world_options();
        options.clients = &thrifty;
        options.clients_share = is_shared;
        struct world *w = pool_world(options, (struct pool_options){.size = 1});
        tick(w);
        solve(w, "a1", "T1", "ONE");
        w->options.clients = &without;
        engine_configure(w->engine, &w->options);
        ask(w, "ann", .key = "P", .pool = 1);
        pass(w, 20000);
        assert_int_equal(pool_view_of(w).ready, 0);
        assert_int_equal(w->tally.submits, 1);
        w->options.clients = &thrifty;
        engine_configure(w->engine, &w->options);
        tick(w);
        assert_int_equal(w->tally.submits, 2);
        skip_lines(w);
    }
}

static void its_client_has_only_so_many_slots_for_it(void **state)
{
    (void)state;
    static const struct client_options narrow = {
        .weight = 1, .budget_per_day = UINT64_MAX, .slots = 2};
    struct engine_options options = world_options();
    options.clients = &narrow;
    struct world *w = pool_world(options, (struct pool_options){.size = 3});
    tick(w);
    expect(w, "[     0] submit a1 P\n"
              "[     0] submit a2 P\n");
}

static void each_of_two_pools_gets_its_share_of_few_slots(void **state)
{
    (void)state;
    struct blob *params = blob_new(SLICE_OF("P"));
    const struct pool_options pools[] = {
        {.size = 2, .idle_after_ms = 120000, .key = key_named("P"), .params = params},
        {.size = 2, .idle_after_ms = 120000, .key = key_named("Q"), .params = params},
    };
    struct engine_options options = world_options();
    options.slots = 2;
    options.pools = pools;
    options.pool_count = 2;
    struct world *w = world_new(&options);
    w->pool_params = params;
    tick(w);
    struct pool_view views[2];
    assert_int_equal(engine_list_pools(w->engine, views, 2), 2);
    assert_int_equal(views[0].solving, 1);
    assert_int_equal(views[1].solving, 1);
    skip_lines(w);
}

/* ---- time -------------------------------------------------------------------------------- */

static void what_lives_for_seconds_is_not_replaced_at_once(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.ttl_ms[TYPE_TURNSTILE] = 26000;
    struct world *w = pool_world(options, (struct pool_options){.size = 1});
    tick(w);
    solve(w, "a1", "T1", "ONE");
    skip_lines(w);
    /* It can be handed out until 16000; half of what is left of that is for its replacement. */
    pass(w, 4999);
    expect(w, "");
    pass(w, 1);
    expect(w, "[ 11000] submit a2 P\n");
}

static void waits_after_failures_grow_to_the_cap_and_end_with_a_success(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_cap_ms = 3000;
    struct world *w = pool_world(options, (struct pool_options){.size = 1});
    tick(w);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    pass(w, 1000);
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    pass(w, 2000);
    rejected(w, "a3", CLASS_PROXY, "ERROR_BAD_PROXY");
    pass(w, 3000);
    solve(w, "a4", "T4", "TOKEN");
    ask(w, "ann", .key = "K", .pool = 1);
    skip_lines(w);
    rejected(w, "a5", CLASS_PROXY, "ERROR_BAD_PROXY");
    pass(w, 1000);
    expect(w, "[ 13000] submit a6 P\n");
}

static void whoever_wakes_it_also_ends_its_wait_in_time(void **state)
{
    (void)state;
    struct world *w =
        pool_world(world_options(), (struct pool_options){.size = 1, .idle_after_ms = 3000});
    tick(w);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    assert_true(pool_view_of(w).is_asleep);
    failed(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    ask(w, "ann", .key = "K", .pool = 1);
    pass(w, 1000);
    expect(w, "[  6000] submit a2 K\n"
              "[  7000] submit a3 P\n");
}

static void waste_counts_in_a_row_only(void **state)
{
    (void)state;
    struct world *w =
        pool_world(world_options(),
                   (struct pool_options){.size = 1, .max_waste = 2, .idle_after_ms = HOURS_MS(9)});
    tick(w);
    solve(w, "a1", "T1", "ONE");
    pass(w, 204000);
    accepted(w, "a2", "T2");
    pass(w, 30000);
    assert_int_equal(pool_view_of(w).expired, 1);
    /* Somebody asks, although there is nothing to be had. */
    ask(w, "ann", .key = "K", .pool = 1);
    solved(w, "a2", "TWO");
    pass(w, 250000);
    assert_int_equal(pool_view_of(w).expired, 2);
    assert_false(pool_view_of(w).is_asleep);
    skip_lines(w);
}

/* ---- whose it is ------------------------------------------------------------------------- */

static void who_wants_nobody_elses_gets_none_of_it(void **state)
{
    (void)state;
    struct world *w = pool_world(world_options(), (struct pool_options){.size = 1});
    tick(w);
    solve(w, "a1", "T1", "ONE");
    skip_lines(w);
    ask(w, "ann", .key = "K", .pool = 1, .reuse = REUSE_NONE);
    expect(w, "[  6000] submit a2 K\n");
}

static void what_waited_for_a_retry_is_the_pools_again_when_its_key_expires(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.idempotency_ttl_ms = 20000;
    struct world *w = pool_world(options, (struct pool_options){.size = 1});
    tick(w);
    ask(w, "ann", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .idempotency = "I");
    gone(w, "ann");
    solve(w, "a2", "T2", "OF ANN");
    pass(w, 20000);
    ask(w, "bob", .key = "K", .pool = 1);
    assert_int_equal(w->tally.solved, 1);
    skip_lines(w);
}

static void a_solve_that_a_key_stands_for_does_not_become_its_own_in_a_crash(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = pool_world(options, (struct pool_options){.size = 2});
    tick(w);
    ask(w, "ann", .key = "P", .reuse = REUSE_SINGLE, .pool = 1, .idempotency = "I");
    accepted(w, "a3", "T3");
    assert_int_equal(pool_view_of(w).solving, 2);
    crash(w, ALL_RECORDS);
    assert_int_equal(pool_view_of(w).solving, 2);
    skip_lines(w);
}

static void a_refill_that_a_crash_kept_from_being_sent_does_not_go_first(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.slots = 1;
    struct world *w = pool_world(options, (struct pool_options){.size = 1});
    tick(w);
    /* Of the two records only that of the flight. */
    crash(w, 1);
    skip_lines(w);
    ask(w, "ann", .key = "K");
    assert_int_equal(pool_view_of(w).solving, 0);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(it_holds_twice_its_size_and_not_more),
        STORY(nothing_is_solved_for_which_there_is_no_room),
        STORY(a_refill_that_was_never_heard_of_is_no_letter),
        STORY(its_refills_have_no_more_bytes_than_others),
        STORY(its_client_pays_for_it_and_not_more_than_it_may),
        STORY(nothing_is_paid_for_a_pool_whose_client_is_gone),
        STORY(its_client_has_only_so_many_slots_for_it),
        STORY(each_of_two_pools_gets_its_share_of_few_slots),
        STORY(what_lives_for_seconds_is_not_replaced_at_once),
        STORY(waits_after_failures_grow_to_the_cap_and_end_with_a_success),
        STORY(whoever_wakes_it_also_ends_its_wait_in_time),
        STORY(waste_counts_in_a_row_only),
        STORY(who_wants_nobody_elses_gets_none_of_it),
        STORY(what_waited_for_a_retry_is_the_pools_again_when_its_key_expires),
        STORY(a_solve_that_a_key_stands_for_does_not_become_its_own_in_a_crash),
        STORY(a_refill_that_a_crash_kept_from_being_sent_does_not_go_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
