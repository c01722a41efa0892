/* Reports of good and bad solutions, and the bounds of the cache (docs/design.md 5.2). */
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

/* ---- reports ----------------------------------------------------------------------------- */

static void a_bad_solution_is_evicted_and_reported_to_the_vendor(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    report_bad(w, "ann", "r1");
    ask(w, "bob", .key = "K");
    /* Saying it again changes nothing, neither here nor there. */
    report_bad(w, "ann", "r1");
    expect(w,
           "[  6000] report bad task T1\n"
           "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n"
           "[  6000] submit a2 K\n"
           "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n");
    assert_int_equal(stats_of(w)->reports_bad, 2);
}

static void a_bad_solution_that_we_shared_is_evicted_but_not_reported(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    ask(w, "bob", .key = "K");
    skip_lines(w);
    report_bad(w, "ann", "r1");
    ask(w, "cat", .key = "K");
    expect(w, "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n"
              "[  6000] submit a2 K\n");
}

static void a_bad_solution_that_we_let_age_is_evicted_but_not_reported(void **state)
{
    (void)state;
    struct world *w = world_with_banked_token(REUSE_SHARED);
    pass(w, 30000);
    ask(w, "bob", .key = "K");
    skip_lines(w);
    report_bad(w, "bob", "r1");
    ask(w, "cat", .key = "K");
    expect(w, "[ 36000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[ 36000] submit a2 K\n");
}

/* Neither aged nor shared: it came fresh to the only one who was still there. */
static void the_only_one_left_of_a_flight_reports_to_the_vendor(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    report_bad(w, "bob", "r1");
    expect(w, "[  6000] report bad task T1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void a_bad_solution_is_not_replayed_to_its_idempotency_key(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    skip_lines(w);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    solve(w, "a2", "T2", "BETTER");
    expect(w, "[  6000] submit a2 K\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] answer ann r2 solved \"BETTER\" source api attempts 1 renewed\n");
}

static void a_good_solution_is_reported_and_stays(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    report_good(w, "ann", "r1");
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] report good task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 6000 left 74000\n");
    assert_int_equal(stats_of(w)->reports_good, 1);
}

static void who_praised_a_solution_may_still_find_it_bad(void **state)
{
    (void)state;
    struct world *w = world_with_token(REUSE_SHARED);
    report_good(w, "ann", "r1");
    report_bad(w, "ann", "r1");
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] report good task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n"
              "[  6000] submit a2 K\n");
}

static void reports_about_what_is_not_there_are_refused(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    report_bad(w, "ann", "r1");
    report_bad(w, "ann", "r0");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer ann refused: this request has no solution (yet)\n"
              "[     0] answer ann refused: no such request\n");
    assert_int_equal(stats_of(w)->reports_bad, 0);
}

/* ---- bounds ------------------------------------------------------------------------------ */

static void solve_key(struct world *w, const char *key, const char *attempt, const char *text)
{
    ask(w, "somebody", .key = key);
    solve(w, attempt, "T", text);
    skip_lines(w);
}

static void the_cache_is_bounded_by_count_and_forgets_the_oldest(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_solutions = 2;
    struct world *w = world_new(&options);
    solve_key(w, "K", "a1", "ONE");
    solve_key(w, "L", "a2", "TWO");
    solve_key(w, "M", "a3", "THREE");
    assert_int_equal(gauges_of(w).solutions, 2);
    assert_int_equal(stats_of(w)->solutions_evicted, 1);
    ask(w, "ann", .key = "L");
    ask(w, "bob", .key = "M");
    ask(w, "cat", .key = "K");
    expect(w, "[ 18000] answer ann r4 solved \"TWO\" source dedup_cache attempts 1\n"
              "[ 18000] answer bob r5 solved \"THREE\" source dedup_cache attempts 1\n"
              "[ 18000] submit a4 K\n");
}

static void the_cache_is_bounded_by_bytes_and_forgets_the_oldest(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    solve_key(w, "K", "a1", "ONE");
    const uint64_t bytes_of_one = gauges_of(w).solution_bytes;
    assert_true(bytes_of_one > 3);

    struct engine_options options = world_options();
    options.max_solution_bytes = 2 * bytes_of_one + 1;
    w = world_new(&options);
    solve_key(w, "K", "a1", "ONE");
    solve_key(w, "L", "a2", "TWO");
    assert_int_equal(gauges_of(w).solutions, 2);
    /* Two bytes longer than the rest of the room. */
    solve_key(w, "M", "a3", "THREE");
    assert_int_equal(gauges_of(w).solutions, 1);
    assert_int_equal(stats_of(w)->solutions_evicted, 2);
    ask(w, "bob", .key = "M");
    expect(w, "[ 18000] answer bob r4 solved \"THREE\" source dedup_cache attempts 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_bad_solution_is_evicted_and_reported_to_the_vendor),
        STORY(a_bad_solution_that_we_shared_is_evicted_but_not_reported),
        STORY(a_bad_solution_that_we_let_age_is_evicted_but_not_reported),
        STORY(the_only_one_left_of_a_flight_reports_to_the_vendor),
        STORY(a_bad_solution_is_not_replayed_to_its_idempotency_key),
        STORY(a_good_solution_is_reported_and_stays),
        STORY(who_praised_a_solution_may_still_find_it_bad),
        STORY(reports_about_what_is_not_there_are_refused),
        STORY(the_cache_is_bounded_by_count_and_forgets_the_oldest),
        STORY(the_cache_is_bounded_by_bytes_and_forgets_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
