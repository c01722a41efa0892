/* Idempotency: a retry finds the solve it started (docs/design.md 5.3). */
#include "usual_worlds.h"

/* ---- the five sentences ------------------------------------------------------------------ */

static void running_a_retry_joins(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "retry", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    assert_int_equal(stats_of(w)->answered_idempotent, 1);
}

static void solved_and_fresh_a_retry_gets_the_same_solution(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 60000);
    ask(w, "retry", .key = "K", .idempotency = "I");
    expect(w, "[ 66000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1"
              " age 66000 left 14000 replayed\n");
    assert_int_equal(stats_of(w)->cache_hits, 0);
}

static void solved_but_expired_it_is_solved_anew_and_said_so(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 74000);
    ask(w, "retry", .key = "K", .idempotency = "I");
    solve(w, "a2", "T2", "NEW");
    ask(w, "again", .key = "K", .idempotency = "I");
    expect(w, "[ 80000] submit a2 K\n"
              "[85000..86000] poll a2 task T2\n"
              "[ 86000] answer retry r2 solved \"NEW\" source api attempts 1 renewed\n"
              "[ 86000] answer again r3 solved \"NEW\" source idempotent attempts 1 replayed\n");
}

static void failed_the_next_retry_may_submit(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    assert_int_equal(gauges_of(w).idempotency, 0);
    ask(w, "retry", .key = "K", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a2 K\n");
}

static void another_fingerprint_is_refused_without_a_submit(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "L", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "L", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer bob refused: the idempotency key was used for something else\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer cat refused: the idempotency key was used for something else\n");
    assert_int_equal(stats_of(w)->rejected, 2);
    assert_int_equal(stats_of(w)->submits, 1);
}

/* ---- with reuse -------------------------------------------------------------------------- */

static void under_single_a_retry_gets_its_own_solution_and_nobody_else_does(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "J");
    ask(w, "ann again", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a1", "ANN'S");
    solved(w, "a2", "BOB'S");
    ask(w, "bob again", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "J");
    ask(w, "ann, third", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    expect(w,
           "[  6000] answer ann r1 solved \"ANN'S\" source api attempts 1\n"
           "[  6000] answer ann again r2 solved \"ANN'S\" source idempotent attempts 1 replayed\n"
           "[  6000] answer bob r3 solved \"BOB'S\" source api attempts 1\n"
           "[  6000] answer bob again r4 solved \"BOB'S\" source idempotent attempts 1 replayed\n"
           "[  6000] answer ann, third r5 solved \"ANN'S\" source idempotent attempts 1 replayed\n"
           "[  6000] submit a3 K\n");
}

static void under_none_a_retry_finds_its_solve_too(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "retry", .key = "K", .reuse = REUSE_NONE, .idempotency = "I");
    ask(w, "bob", .key = "K", .reuse = REUSE_NONE, .idempotency = "J");
    expect(w, "[  6000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n"
              "[  6000] submit a2 K\n");
}

static void a_solution_from_the_cache_is_remembered_for_the_retry(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    /* Taken out of the cache for good, and yet the retry gets it again. */
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    ask(w, "retry", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* A retry asks as the first one did, so that the same demands would have it pay again. */
static void a_retry_gets_its_solution_as_long_as_it_lives_at_all(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I", .min_ttl_ms = 30000, .max_age_ms = 20000);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 73000);
    ask(w, "retry", .key = "K", .idempotency = "I", .min_ttl_ms = 30000, .max_age_ms = 20000);
    expect(w, "[ 79000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* With callbacks a solution counts from its submit, since nobody knows better: 71 s of 80 are gone. */
static void a_slow_solve_is_not_paid_for_again_by_its_retry(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    ask(w, "ann", .key = "K", .idempotency = "I", .hold_ms = 50000, .min_ttl_ms = 10000);
    accepted(w, "a1", "T1");
    pass(w, 71000);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "retry", .key = "K", .idempotency = "I", .min_ttl_ms = 10000);
    expect(w, "[ 71000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* As the request itself stays readable for a while, however long the solve took. */
static void what_came_too_old_is_there_for_its_retry_for_a_while(void **state)
{
    (void)state;
    struct world *w = world_with_callbacks();
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .idempotency = "I", .hold_ms = 50000);
    accepted(w, "a1", "T1");
    pass(w, 90000);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 29999);
    assert_true(explain(w, .key = "K", .idempotency = "I").would_hit);
    assert_int_equal(explain(w, .key = "K", .idempotency = "I").expires_in_ms, 0);
    ask(w, "retry", .key = "K", .idempotency = "I");
    pass(w, 1);
    ask(w, "late", .key = "K", .idempotency = "I");
    expect(w, "[119999] answer retry r2 solved \"TOKEN\" source idempotent attempts 1"
              " age 119999 left 0 replayed\n"
              "[120000] submit a2 K\n");
}

/* ---- leaving ----------------------------------------------------------------------------- */

static void a_retry_after_a_disconnect_finds_the_paid_solve(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void a_cancelled_flight_leaves_no_record(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "first", .key = "L");
    ask(w, "ann", .key = "K", .idempotency = "I");
    assert_int_equal(gauges_of(w).idempotency, 1);
    gone(w, "ann");
    assert_int_equal(gauges_of(w).idempotency, 0);
    ask(w, "ann", .key = "M", .idempotency = "I", .at_once = true);
    expect(w, "[     0] submit a1 L\n"
              "[     0] answer ann r1 queued\n");
}

static void a_remembered_mistake_is_not_tied_to_the_key(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "bob", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "L", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[     0] answer bob r2 failed ERROR_PAGEURL (caller) attempts 0\n"
              "[     0] submit a2 L\n");
}

/* ---- time and room ----------------------------------------------------------------------- */

static void a_record_expires_some_time_after_the_solve(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 299999);
    ask(w, "bob", .key = "L", .idempotency = "I");
    pass(w, 1);
    assert_int_equal(gauges_of(w).idempotency, 0);
    ask(w, "cat", .key = "L", .idempotency = "I");
    expect(w, "[305999] answer bob refused: the idempotency key was used for something else\n"
              "[306000] submit a2 L\n");
}

static void a_record_outlives_its_time_while_its_flight_runs(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.idempotency_ttl_ms = 1000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = "I");
    accepted(w, "a1", "T1");
    pass(w, 4000);
    /* Before any retry could tie the key to the flight anew. */
    ask(w, "other", .key = "L", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[  4000] answer other refused: the idempotency key was used for something else\n");
}

static void a_record_outlives_its_time_and_a_crash_while_its_flight_runs(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.idempotency_ttl_ms = 1000;
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    accepted(w, "a1", "T1");
    pass(w, 4000);
    crash(w, ALL_RECORDS);
    tick(w);
    skip_lines(w);
    ask(w, "other", .key = "L", .idempotency = "I");
    expect(w, "[  4000] answer other refused: the idempotency key was used for something else\n");
    solved(w, "a1", "TOKEN");
    pass(w, 1000);
    assert_int_equal(gauges_of(w).idempotency, 0);
    skip_lines(w);
}

static void a_table_full_of_solves_under_way_refuses_new_keys_but_knows_the_old(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_idempotency = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    ask(w, "bob", .key = "L", .idempotency = "J");
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    ask(w, "cat", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer bob refused: too many requests are waiting, retry after 5000\n"
              "[     0] answer ann r2 solving replayed\n"
              "[     0] submit a2 L\n");
    /* The flight is over, and its key gives way. */
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "M", .idempotency = "J");
    expect(w, "[  6000] submit a3 M\n");
}

static void retries_count_against_the_cap_per_flight(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_per_flight = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "ann", .key = "K", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann refused: too many requests wait for this very solve,"
              " retry after 5000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(running_a_retry_joins),
        STORY(solved_and_fresh_a_retry_gets_the_same_solution),
        STORY(solved_but_expired_it_is_solved_anew_and_said_so),
        STORY(failed_the_next_retry_may_submit),
        STORY(another_fingerprint_is_refused_without_a_submit),
        STORY(under_single_a_retry_gets_its_own_solution_and_nobody_else_does),
        STORY(under_none_a_retry_finds_its_solve_too),
        STORY(a_solution_from_the_cache_is_remembered_for_the_retry),
        STORY(a_retry_gets_its_solution_as_long_as_it_lives_at_all),
        STORY(a_slow_solve_is_not_paid_for_again_by_its_retry),
        STORY(what_came_too_old_is_there_for_its_retry_for_a_while),
        STORY(a_retry_after_a_disconnect_finds_the_paid_solve),
        STORY(a_cancelled_flight_leaves_no_record),
        STORY(a_remembered_mistake_is_not_tied_to_the_key),
        STORY(a_record_expires_some_time_after_the_solve),
        STORY(a_record_outlives_its_time_while_its_flight_runs),
        STORY(a_record_outlives_its_time_and_a_crash_while_its_flight_runs),
        STORY(a_table_full_of_solves_under_way_refuses_new_keys_but_knows_the_old),
        STORY(retries_count_against_the_cap_per_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
