/* Reuse: who may get which solution, and how long it is fresh (docs/design.md 5.2). */
#include "usual_worlds.h"

/* A world in which K was solved for ann, who got TOKEN at 6000; it was born at 0 at the earliest. */
static struct world *world_with_token(enum reuse reuse)
{
    struct world *w = world_new(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .reuse = reuse);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    return w;
}

/* ---- freshness --------------------------------------------------------------------------- */

static void a_shared_solution_serves_everybody_until_too_little_of_it_remains(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    ask(w, "bob", .key = "K", .min_ttl_ms = 10000);
    pass(w, 64000);
    ask(w, "cat", .key = "K", .min_ttl_ms = 10000);
    pass(w, 1);
    ask(w, "dan", .key = "K", .min_ttl_ms = 10000);
    ask(w, "eve", .key = "K", .min_ttl_ms = 5000);
    expect(w, "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 6000 left 74000\n"
              "[ 70000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 70000 left 10000\n"
              "[ 70001] submit a2 K\n"
              "[ 70001] answer eve r4 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 70001 left 9999\n");
    assert_int_equal(stats_of(w)->cache_hits, 3);
    assert_int_equal(stats_of(w)->cache_misses, 2);
}

static void a_solution_is_gone_when_its_time_is_over(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    pass(w, 73999);
    ask(w, "bob", .key = "K");
    assert_int_equal(gauges_of(w).solutions, 1);
    pass(w, 1);
    assert_int_equal(gauges_of(w).solutions, 0);
    ask(w, "cat", .key = "K");
    expect(w, "[ 79999] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 79999 left 1\n"
              "[ 80000] submit a2 K\n");
}

static void who_minds_its_age_gets_a_younger_one(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    pass(w, 4000);
    ask(w, "bob", .key = "K", .max_age_ms = 10000);
    pass(w, 1);
    ask(w, "cat", .key = "K", .max_age_ms = 10000);
    expect(w, "[ 10000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 10000 left 70000\n"
              "[ 10001] submit a2 K\n");
}

static void each_type_has_its_own_time_to_live(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .type = TYPE_IMAGE);
    solve(w, "a1", "T1", "TEXT");
    ask(w, "bob", .key = "L", .type = TYPE_OTHER);
    solve(w, "a2", "T2", "OTHER");
    expect(w,
           "[     0] submit a1 K\n"
           "[5000..6000] poll a1 task T1\n"
           "[  6000] answer ann r1 solved \"TEXT\" source api attempts 1 age 6000 left 3594000\n"
           "[  6000] submit a2 L\n"
           "[11000..12000] poll a2 task T2\n"
           "[ 12000] answer bob r2 solved \"OTHER\" source api attempts 1 age 6000 left 54000\n");
}

static void age_counts_from_the_last_poll_that_found_nothing(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K");
    pass(w, 2000);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    pending(w, "a1");
    pass(w, 5300);
    pending(w, "a1");
    pass(w, 5000);
    pass(w, 500);
    solved(w, "a1", "TOKEN");
    /* When the poll was asked at 13000 there was nothing; what happened while the answer was on its
     * way nobody knows. So it is at most 5800 old. */
    expect(w,
           "[     0] submit a1 K\n"
           "[7000..8000] poll a1 task T1\n"
           "[ 13000] poll a1 task T1\n"
           "[ 18300] poll a1 task T1\n"
           "[ 18800] answer ann r1 solved \"TOKEN\" source api attempts 1 age 5800 left 74200\n");
}

static void two_solutions_of_one_key_expire_each_at_its_own_time(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    pass(w, 54000);
    ask(w, "bob", .key = "K", .max_age_ms = 1000);
    solve(w, "a2", "T2", "YOUNGER");
    assert_int_equal(gauges_of(w).solutions, 2);
    skip_lines(w);
    pass(w, 14000);
    assert_int_equal(gauges_of(w).solutions, 1);
    ask(w, "cat", .key = "K");
    expect(w, "[ 80000] answer cat r3 solved \"YOUNGER\" source dedup_cache attempts 1"
              " age 20000 left 60000\n");
    pass(w, 60000);
    assert_int_equal(gauges_of(w).solutions, 0);
    assert_int_equal(stats_of(w)->solutions_expired_unused, 0);
}

/* The birth is only known to lie after the submit, and the lifetime is never overrated; but whoever
 * waited for this very solve still gets it, however late. */
static void a_solve_that_took_longer_than_its_life_still_reaches_those_who_waited(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    w->shows_ages = true;
    ask(w, "held", .key = "K");
    ask(w, "told", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 100000);
    callback(w, "a1", "T1", "TOKEN");
    pass(w, 5000);
    look(w, "told", "r1", 0);
    /* It is no solution for anybody else, and was none of those that nobody used. */
    ask(w, "new", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer told r1 solving\n"
              "[100000] ack a1\n"
              "[100000] answer held r2 solved \"TOKEN\" source api attempts 1 age 100000 left 0\n"
              "[105000] answer told r1 solved \"TOKEN\" source dedup_wait attempts 1"
              " age 105000 left 0\n"
              "[105000] submit a2 K\n");
    assert_int_equal(stats_of(w)->solutions_expired_unused, 0);
}

/* ---- single and none --------------------------------------------------------------------- */

static void under_single_everybody_gets_a_flight_and_a_solution_of_their_own(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n");
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a2", "TWO");
    solved(w, "a1", "ONE");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] answer bob r1 solved \"TWO\" source api attempts 1\n"
              "[  6000] answer ann r2 solved \"ONE\" source api attempts 1\n"
              "[  6000] submit a3 K\n");
}

static void a_single_solution_that_was_handed_out_serves_nobody_else(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SHARED);
    ask(w, "dan", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[  6000] submit a2 K\n"
              "[  6000] submit a3 K\n"
              "[  6000] submit a4 K\n");
}

static void shared_single_and_none_do_not_join_each_other(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "single", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "none", .key = "K", .reuse = REUSE_NONE);
    ask(w, "shared", .key = "K");
    ask(w, "single too", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "none too", .key = "K", .reuse = REUSE_NONE);
    ask(w, "shared too", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[     0] submit a3 K\n"
              "[     0] submit a4 K\n"
              "[     0] submit a5 K\n");
    solve(w, "a3", "T3", "SHARED");
    expect(w, "[5000..6000] poll a3 task T3\n"
              "[  6000] answer shared r1 solved \"SHARED\" source api attempts 1\n"
              "[  6000] answer shared too r2 solved \"SHARED\" source dedup_wait attempts 1\n");
}

static void single_after_shared_gets_its_own_and_shared_goes_on(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    ask(w, "single", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "shared", .key = "K");
    solve(w, "a2", "T2", "OWN");
    ask(w, "shared too", .key = "K");
    expect(w, "[  6000] submit a2 K\n"
              "[  6000] answer shared r2 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 6000 left 74000\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] answer single r3 solved \"OWN\" source api attempts 1 age 6000 left 74000\n"
              "[ 12000] answer shared too r4 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 12000 left 68000\n");
}

static void none_bypasses_the_cache_in_both_directions(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    ask(w, "none", .key = "K", .reuse = REUSE_NONE);
    solve(w, "a2", "T2", "OWN");
    pass(w, 70000);
    /* TOKEN is gone by now, and OWN was never there. */
    ask(w, "shared", .key = "K");
    expect(w, "[  6000] submit a2 K\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] answer none r2 solved \"OWN\" source api attempts 1 age 6000 left 74000\n"
              "[ 82000] submit a3 K\n");
    assert_int_equal(stats_of(w)->cache_hits, 0);
}

/* ---- one-time inputs --------------------------------------------------------------------- */

static void one_time_inputs_join_but_are_never_cached(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_one_time = true);
    ask(w, "bob", .key = "K", .is_one_time = true);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "K", .is_one_time = true);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] submit a2 K\n");
    gone(w, "cat");
    solve(w, "a2", "T2", "WASTE");
    assert_int_equal(gauges_of(w).solutions, 0);
    assert_int_equal(stats_of(w)->solutions_expired_unused, 1);
    skip_lines(w);
}

/* ---- mistakes ---------------------------------------------------------------------------- */

static void a_callers_mistake_is_remembered_for_a_while(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    pass(w, 29999);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "dan", .key = "K", .reuse = REUSE_NONE);
    pass(w, 1);
    ask(w, "eve", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[ 29999] answer bob r2 failed ERROR_PAGEURL (caller) attempts 0\n"
              "[ 29999] answer cat r3 failed ERROR_PAGEURL (caller) attempts 0\n"
              "[ 29999] submit a2 K\n"
              "[ 30000] submit a3 K\n");
    assert_int_equal(stats_of(w)->solutions_expired_unused, 0);
    assert_int_equal(stats_of(w)->failed, 3);
}

static void a_remembered_mistake_demands_no_freshness_and_can_be_switched_off(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    skip_lines(w);
    ask(w, "bob", .key = "K", .min_ttl_ms = 60000);
    expect(w, "[     0] answer bob r2 failed ERROR_PAGEURL (caller) attempts 0\n");

    struct engine_options options = world_options();
    options.caller_error_ttl_ms = 0;
    w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    skip_lines(w);
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a2 K\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_shared_solution_serves_everybody_until_too_little_of_it_remains),
        STORY(a_solution_is_gone_when_its_time_is_over),
        STORY(who_minds_its_age_gets_a_younger_one),
        STORY(each_type_has_its_own_time_to_live),
        STORY(age_counts_from_the_last_poll_that_found_nothing),
        STORY(two_solutions_of_one_key_expire_each_at_its_own_time),
        STORY(a_solve_that_took_longer_than_its_life_still_reaches_those_who_waited),
        STORY(under_single_everybody_gets_a_flight_and_a_solution_of_their_own),
        STORY(a_single_solution_that_was_handed_out_serves_nobody_else),
        STORY(shared_single_and_none_do_not_join_each_other),
        STORY(single_after_shared_gets_its_own_and_shared_goes_on),
        STORY(none_bypasses_the_cache_in_both_directions),
        STORY(one_time_inputs_join_but_are_never_cached),
        STORY(a_callers_mistake_is_remembered_for_a_while),
        STORY(a_remembered_mistake_demands_no_freshness_and_can_be_switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
