/* Verified advice: what callers report tells whether a target accepts a solution more than once
 * (docs/design.md 5.11). */
#include "world.h"

#include <solvegate/findings.h>

#include <stdio.h>

/* One solve of its own key, handed to `sharers` requests, each of which reports. */
static void solve_and_report(struct world *w, const char *host, unsigned sharers, unsigned bad)
{
    char key[WORLD_NAME_MAX];
    char attempt[WORLD_NAME_MAX];
    char request[WORLD_NAME_MAX];
    (void)snprintf(key, sizeof key, "K%zu", w->attempt_count + 1);
    (void)snprintf(attempt, sizeof attempt, "a%zu", w->attempt_count + 1);
    for (unsigned i = 0; i < sharers; i++)
        ask(w, "somebody", .key = key, .type = TYPE_TURNSTILE, .host = host);
    const size_t first = w->request_count;
    solve(w, attempt, key, "TOKEN");
    for (unsigned i = 0; i < sharers; i++) {
        (void)snprintf(request, sizeof request, "r%zu", first + i + 1);
        if (i < bad)
            report_bad(w, "reporter", request);
        else
            report_good(w, "reporter", request);
    }
    skip_lines(w);
}

static struct target_view target_at(const struct world *w, size_t place)
{
    struct target_view views[8];
    assert_true(engine_list_targets(w->engine, views, 8) > place);
    return views[place];
}

static void shared_solutions_that_are_good_advise_shared(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    for (int i = 0; i < 4; i++)
        solve_and_report(w, "good.example", 2, 0);
    assert_int_equal(target_at(w, 0).advice, REUSE_DEFAULT);
    solve_and_report(w, "good.example", 2, 0);
    const struct target_view target = target_at(w, 0);
    assert_int_equal(target.shared_good, 10);
    assert_int_equal(target.own_good, 0);
    assert_int_equal(target.advice, REUSE_SHARED);
    assert_int_equal(target.type, TYPE_TURNSTILE);
    assert_true(slice_equals(target.host, SLICE_OF("good.example")));
}

static void shared_solutions_that_are_bad_advise_single(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    for (int i = 0; i < 5; i++)
        solve_and_report(w, "once.example", 2, 1);
    assert_int_equal(target_at(w, 0).shared_bad, 5);
    assert_int_equal(target_at(w, 0).advice, REUSE_SINGLE);
}

/* A target where the vendor is often wrong is no reason not to share. */
static void solutions_for_one_request_tell_how_often_the_vendor_is_wrong(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    for (int i = 0; i < 5; i++)
        solve_and_report(w, "hard.example", 2, 1);
    for (int i = 0; i < 10; i++)
        solve_and_report(w, "hard.example", 1, i % 2 == 0);
    assert_int_equal(target_at(w, 0).own_bad, 5);
    assert_int_equal(target_at(w, 0).own_good, 5);
    assert_int_equal(target_at(w, 0).advice, REUSE_SHARED);
}

static void a_request_is_heard_once(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    solve_and_report(w, "one.example", 1, 0);
    report_bad(w, "reporter", "r1");
    skip_lines(w);
    assert_int_equal(target_at(w, 0).own_good, 1);
    assert_int_equal(target_at(w, 0).own_bad, 0);
}

static void the_least_reported_target_gives_way(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_shadow_top = 2;
    struct world *w = world_new(&options);
    solve_and_report(w, "a.example", 2, 0);
    solve_and_report(w, "b.example", 1, 0);
    solve_and_report(w, "c.example", 1, 0);
    struct target_view views[8];
    assert_int_equal(engine_list_targets(w->engine, views, 8), 2);
    assert_true(slice_equals(views[0].host, SLICE_OF("a.example")));
    assert_true(slice_equals(views[1].host, SLICE_OF("c.example")));
    /* Nothing is inherited: reports of one target say nothing about another. */
    assert_int_equal(views[1].own_good, 1);
}

static void a_host_is_the_same_however_it_is_written(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    solve_and_report(w, "Shop.Example", 1, 0);
    solve_and_report(w, "shop.example", 1, 1);
    struct target_view views[2];
    assert_int_equal(engine_list_targets(w->engine, views, 2), 1);
    assert_true(slice_equals(views[0].host, SLICE_OF("shop.example")));
    assert_int_equal(views[0].own_good, 1);
    assert_int_equal(views[0].own_bad, 1);
}

static void without_a_host_there_is_no_target(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    solve_and_report(w, NULL, 1, 0);
    struct target_view view;
    assert_int_equal(engine_list_targets(w->engine, &view, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(shared_solutions_that_are_good_advise_shared),
        STORY(shared_solutions_that_are_bad_advise_single),
        STORY(solutions_for_one_request_tell_how_often_the_vendor_is_wrong),
        STORY(a_request_is_heard_once),
        STORY(the_least_reported_target_gives_way),
        STORY(a_host_is_the_same_however_it_is_written),
        STORY(without_a_host_there_is_no_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
