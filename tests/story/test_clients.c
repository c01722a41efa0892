/* Clients and what is whose: a digest that two of them share opens nothing (docs/design.md 5.1). */
#include "world.h"

static void a_cached_solution_is_its_clients(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_false(explain(w, .key = "K", .client = SHOP).would_hit);
    ask(w, "shop", .key = "K", .client = SHOP);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    expect(w, "[  6000] submit a2 K of client 1\n"
              "[  6000] answer crawler r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_remembered_mistake_is_its_clients(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    skip_lines(w);
    ask(w, "shop", .key = "K", .client = SHOP);
    expect(w, "[     0] submit a2 K of client 1\n");
}

static void a_flight_is_joined_by_its_client_only(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    ask(w, "shop", .key = "K", .client = SHOP);
    ask(w, "again", .key = "K", .client = CRAWLER);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K of client 1\n");
    assert_int_equal(stats_of(w)->flights, 2);
}

static void what_is_banked_for_one_is_its_clients(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    gone(w, "crawler");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    ask(w, "shop", .key = "K", .client = SHOP, .reuse = REUSE_SINGLE);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    expect(w, "[  6000] submit a2 K of client 1\n"
              "[  6000] answer crawler r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_stray_is_not_for_another_clients_flight(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    accepted(w, "a1", "T1");
    pass(w, 59000);
    pending(w, "a1");
    pass(w, 1000);
    ask(w, "shop", .key = "K", .client = SHOP);
    skip_lines(w);
    pass(w, 5000);
    solved(w, "a1", "LATE");
    expect(w, "[ 65000] poll a1 task T1\n");
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    expect(w, "[ 65000] answer crawler r2 solved \"LATE\" source dedup_cache attempts 0\n");
}

static void an_idempotency_key_is_its_clients_also_where_they_share(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(true, false);
    ask(w, "crawler", .key = "K", .idempotency = "I", .client = CRAWLER, .reuse = REUSE_NONE);
    ask(w, "shop", .key = "K", .idempotency = "I", .client = SHOP, .reuse = REUSE_NONE);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "crawler", .key = "K", .idempotency = "I", .client = CRAWLER, .reuse = REUSE_NONE);
    ask(w, "retry", .key = "K", .idempotency = "I", .client = SHOP, .reuse = REUSE_NONE);
    expect(w,
           "[  6000] answer crawler r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    assert_int_equal(w->tally.submits, 2);
}

static void an_idempotency_key_is_its_clients_after_a_restart(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(true, true);
    ask(w, "shop", .key = "K", .idempotency = "I", .client = SHOP, .reuse = REUSE_NONE);
    solve(w, "a1", "T1", "TOKEN");
    crash(w, ALL_RECORDS);
    ask(w, "shop", .key = "K", .idempotency = "I", .client = SHOP, .reuse = REUSE_NONE);
    assert_int_equal(w->tally.submits, 1);
    ask(w, "crawler", .key = "K", .idempotency = "I", .client = CRAWLER, .reuse = REUSE_NONE);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void clients_that_share_join_and_reuse(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(true, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    ask(w, "shop", .key = "K", .client = SHOP);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "late", .key = "K", .client = SHOP);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer crawler r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer shop r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer late r3 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* A restart finds flights of both under one key. */
static void each_has_its_own_flight_after_a_restart(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    accepted(w, "a1", "T1");
    ask(w, "shop", .key = "K", .client = SHOP, .is_told = true);
    accepted(w, "a2", "T2");
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).flights, 2);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_cached_solution_is_its_clients),
        STORY(a_remembered_mistake_is_its_clients),
        STORY(a_flight_is_joined_by_its_client_only),
        STORY(what_is_banked_for_one_is_its_clients),
        STORY(a_stray_is_not_for_another_clients_flight),
        STORY(an_idempotency_key_is_its_clients_also_where_they_share),
        STORY(an_idempotency_key_is_its_clients_after_a_restart),
        STORY(clients_that_share_join_and_reuse),
        STORY(each_has_its_own_flight_after_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
