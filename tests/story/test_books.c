/* The books: every request is somewhere, today and in all (docs/design.md 5.10). */
#include "world.h"

static uint64_t booked(const struct stats *s)
{
    return s->answered_api + s->answered_dedup_wait + s->answered_dedup_cache +
           s->answered_idempotent + s->answered_pool + s->failed + s->rejected + s->detached;
}

static const struct stats *day_of(const struct world *w, unsigned days_ago)
{
    int64_t day = 0;
    const struct stats *stats = engine_stats_of_day(w->engine, days_ago, &day);
    if (stats != NULL)
        assert_true(day > 0);
    return stats;
}

/* One of each: solved, joined, cached, replayed, failed, refused, gone, waiting. */
static struct world *busy_day(void)
{
    struct engine_options options = world_options();
    options.max_per_flight = 2;
    struct world *w = world_new(&options);
    ask(w, "api", .key = "K", .idempotency = "I");
    ask(w, "joins", .key = "K");
    ask(w, "too many", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cached", .key = "K");
    ask(w, "replayed", .key = "K", .idempotency = "I");
    ask(w, "fails", .key = "L");
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "fails too", .key = "L");
    ask(w, "leaves", .key = "M");
    gone(w, "leaves");
    ask(w, "waits", .key = "N");
    skip_lines(w);
    return w;
}

static void every_request_is_somewhere(void **state)
{
    (void)state;
    struct world *w = busy_day();
    const struct stats *s = stats_of(w);
    assert_int_equal(s->requests, 9);
    assert_int_equal(s->answered_api, 1);
    assert_int_equal(s->answered_dedup_wait, 1);
    assert_int_equal(s->answered_dedup_cache, 1);
    assert_int_equal(s->answered_idempotent, 1);
    assert_int_equal(s->failed, 2);
    assert_int_equal(s->rejected, 1);
    assert_int_equal(s->detached, 1);
    assert_int_equal(gauges_of(w).waiting, 1);
    assert_int_equal(s->requests, booked(s) + gauges_of(w).waiting);
    assert_memory_equal(s, day_of(w, 0), sizeof *s);
    assert_null(day_of(w, 1));
}

static void looking_reporting_and_asking_for_money_are_no_requests(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    look(w, "ann", "r1", 0);
    account(w, "ann", PROBE_BALANCE);
    detach(w, "ann", "r1");
    detach(w, "ann", "r0");
    assert_int_equal(stats_of(w)->requests, 1);
    assert_int_equal(stats_of(w)->rejected, 0);
    skip_lines(w);
}

static void a_day_carries_what_waits_over_to_the_next(void **state)
{
    (void)state;
    struct world *w = busy_day();
    const uint64_t waiting_at_midnight = gauges_of(w).waiting;
    w->now_ms = HOURS_MS(12) - 1;
    tick(w);
    skip_lines(w);
    assert_null(day_of(w, 1));
    w->now_ms = HOURS_MS(12);
    ask(w, "today", .key = "O");
    accepted(w, "a5", "T5");
    pass(w, 6000);
    solved(w, "a5", "TOKEN");
    skip_lines(w);
    const struct stats *today = day_of(w, 0);
    const struct stats *yesterday = day_of(w, 1);
    assert_non_null(yesterday);
    /* The one that waited hit its deadline in the last second before midnight. */
    assert_int_equal(waiting_at_midnight, 1);
    assert_int_equal(yesterday->requests, 9);
    assert_int_equal(booked(yesterday), 9);
    assert_int_equal(today->requests, 1);
    assert_int_equal(booked(today), 1);
    assert_int_equal(today->answered_api, 1);
    assert_int_equal(stats_of(w)->requests, 10);
    assert_int_equal(booked(stats_of(w)), 10);
}

static void what_is_answered_after_midnight_is_booked_on_the_new_day(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->now_ms = HOURS_MS(12) - 3000;
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_int_equal(day_of(w, 1)->requests, 2);
    assert_int_equal(booked(day_of(w, 1)), 0);
    assert_int_equal(day_of(w, 0)->requests, 0);
    assert_int_equal(booked(day_of(w, 0)), 2);
    assert_int_equal(day_of(w, 1)->submits, 1);
    assert_int_equal(day_of(w, 0)->solves, 1);
}

static void seven_days_are_kept_besides_today(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    for (unsigned day = 0; day < 10; day++) {
        for (unsigned i = 0; i <= day; i++)
            ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .at_once = true);
        w->now_ms += HOURS_MS(24);
        pass(w, 0);
    }
    tick(w);
    skip_lines(w);
    assert_int_equal(day_of(w, 0)->requests, 0);
    assert_int_equal(day_of(w, 1)->requests, 10);
    assert_int_equal(day_of(w, STATS_DAYS)->requests, 4);
    assert_null(day_of(w, STATS_DAYS + 1));
}

static void what_a_hit_saves_is_what_its_solve_cost(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "K");
    skip_lines(w);
    assert_int_equal(stats_of(w)->slot_ms_used, 6000);
    assert_int_equal(stats_of(w)->slot_ms_saved, 12000);
}

static void completions_for_the_dead_are_counted(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    w->attempts[0].is_submitting = true;
    accepted(w, "a1", "T1");
    w->attempts[0].is_polling = true;
    solved(w, "a1", "TOKEN");
    assert_int_equal(stats_of(w)->late_completions, 2);
    assert_int_equal(gauges_of(w).solutions, 0);
}

static void every_submit_ends_in_one_column(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    not_sent(w, "a1");
    pass(w, 1000);
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 1000);
    ambiguous(w, "a3");
    pass(w, 45000);
    accepted(w, "a4", "T4");
    const struct stats *s = stats_of(w);
    assert_int_equal(s->submits, 4);
    assert_int_equal(s->submits_not_sent, 1);
    assert_int_equal(s->submits_rejected, 1);
    assert_int_equal(s->submits_ambiguous, 1);
    assert_int_equal(s->submits_accepted, 1);
    assert_int_equal(s->retries, 3);
    assert_int_equal(s->flights, 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(every_request_is_somewhere),
        STORY(looking_reporting_and_asking_for_money_are_no_requests),
        STORY(a_day_carries_what_waits_over_to_the_next),
        STORY(what_is_answered_after_midnight_is_booked_on_the_new_day),
        STORY(seven_days_are_kept_besides_today),
        STORY(what_a_hit_saves_is_what_its_solve_cost),
        STORY(completions_for_the_dead_are_counted),
        STORY(every_submit_ends_in_one_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
