/* The bank: solutions that nobody waited for, handed out once, and to whom (docs/design.md 5.2, 5.4). */
#include "usual_worlds.h"

/* ---- the bank ---------------------------------------------------------------------------- */

static void a_banked_single_solution_is_handed_out_once(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n");
}

static void a_banked_single_solution_is_handed_out_once_also_to_those_who_would_share(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SINGLE);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n"
              "[  6000] submit a3 K\n");
}

static void a_banked_shared_solution_serves_the_next_and_those_after(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SHARED);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer cat r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n");
}

static void a_banked_shared_solution_that_a_single_request_took_serves_nobody_else(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SHARED);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K");
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] submit a2 K\n");
}

static void a_banked_solution_of_none_is_not_lost_either(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_NONE);
    ask(w, "none", .key = "K", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] submit a2 K\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void of_several_banked_solutions_the_one_to_go_stale_first_is_handed_out(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    pass(w, 1000);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    pass(w, 1000);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "ann");
    gone(w, "bob");
    gone(w, "cat");
    /* It is neither the first nor the last to come. */
    solve(w, "a2", "T2", "OLD");
    solve(w, "a1", "T1", "OLDEST");
    solve(w, "a3", "T3", "YOUNGEST");
    skip_lines(w);
    for (int i = 0; i < 3; i++)
        ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[ 20000] answer dan r1 solved \"OLDEST\" source dedup_cache attempts 1\n"
              "[ 20000] answer dan r2 solved \"OLD\" source dedup_cache attempts 1\n"
              "[ 20000] answer dan r3 solved \"YOUNGEST\" source dedup_cache attempts 1\n");
}

static void a_solution_that_is_being_handed_out_is_not_given_to_a_single_request(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "L");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a1", "K1");
    /* L is solved, but bob is woken first: cat has not got it yet, and yet it is hers. */
    solved(w, "a2", "L1");
    ask(w, "dan", .key = "L", .reuse = REUSE_SINGLE);
    pass(w, 0);
    expect(w, "[  6000] answer ann r1 solved \"K1\" source api attempts 1\n"
              "[  6000] submit a3 L\n"
              "[  6000] answer bob r2 solved \"K1\" source dedup_wait attempts 1\n"
              "[  6000] answer cat r3 solved \"L1\" source api attempts 1\n");
}

static void a_single_solution_whose_request_leaves_during_the_waking_is_banked(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "bea", .key = "K");
    ask(w, "cat", .key = "L", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "K1");
    solved(w, "a2", "L1");
    gone(w, "cat");
    pass(w, 0);
    skip_lines(w);
    ask(w, "dan", .key = "L", .reuse = REUSE_SINGLE);
    ask(w, "eve", .key = "L", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] answer dan r4 solved \"L1\" source dedup_cache attempts 1\n"
              "[  6000] submit a3 L\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
}

static void a_banked_solution_is_kept_for_the_retry_of_its_idempotency_key(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    /* Were it given to bob, then ann's retry would be handed the same one again. */
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[  6000] submit a2 K\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void what_nobody_came_for_is_counted_when_it_expires(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SHARED);
    pass(w, 80000);
    assert_int_equal(stats_of(w)->solutions_expired_unused, 1);
    assert_int_equal(gauges_of(w).solutions, 0);
}

/* ---- solves that lost their caller ------------------------------------------------------- */

static void a_single_solve_that_lost_its_caller_is_the_next_ones(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "ann");
    /* Her retry, and then somebody else's own. */
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void one_that_its_idempotency_key_can_find_is_offered_to_nobody_else(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    gone(w, "ann");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void what_is_asked_for_without_any_reuse_is_offered_to_nobody(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    gone(w, "ann");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "bob");
    ask(w, "cat", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[     0] submit a3 K\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_banked_single_solution_is_handed_out_once),
        STORY(a_banked_single_solution_is_handed_out_once_also_to_those_who_would_share),
        STORY(a_banked_shared_solution_serves_the_next_and_those_after),
        STORY(a_banked_shared_solution_that_a_single_request_took_serves_nobody_else),
        STORY(a_banked_solution_of_none_is_not_lost_either),
        STORY(of_several_banked_solutions_the_one_to_go_stale_first_is_handed_out),
        STORY(a_solution_that_is_being_handed_out_is_not_given_to_a_single_request),
        STORY(a_single_solution_whose_request_leaves_during_the_waking_is_banked),
        STORY(a_banked_solution_is_kept_for_the_retry_of_its_idempotency_key),
        STORY(what_nobody_came_for_is_counted_when_it_expires),
        STORY(a_single_solve_that_lost_its_caller_is_the_next_ones),
        STORY(one_that_its_idempotency_key_can_find_is_offered_to_nobody_else),
        STORY(what_is_asked_for_without_any_reuse_is_offered_to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
