/* What the books of shadow mode say: what serving would have done, and what that would have saved
 * (docs/design.md 5.11). */
#include "shadow_world.h"

#include <stdio.h>

/* ---- what serving would have done --------------------------------------------------------- */

static void lifetimes_are_those_of_the_solution(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "ONE");
    /* Born at 0 at the earliest, so it lives until 80 s. */
    ask(w, "picky", .key = "K", .min_ttl_ms = 75000);
    accepted(w, "a2", "T2");
    assert_int_equal(duplicates(w), 0);
    ask(w, "patient", .key = "K");
    accepted(w, "a3", "T3");
    assert_int_equal(stats_of(w)->shadow_dedup_cache, 1);
    /* The picky one's would be under way now, too; it is not solved before the first one ends. */
    pass(w, 73999);
    ask(w, "last", .key = "K");
    accepted(w, "a4", "T4");
    assert_int_equal(stats_of(w)->shadow_dedup_cache, 2);
    pass(w, 1);
    ask(w, "late", .key = "K");
    accepted(w, "a5", "T5");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_dedup_cache, 2);
    assert_int_equal(stats_of(w)->shadow_dedup_wait, 1);
}

static void single_and_none_and_one_time_are_not_duplicates(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "single", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "single too", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "none", .key = "L", .reuse = REUSE_NONE);
    ask(w, "none too", .key = "L", .reuse = REUSE_NONE);
    ask(w, "once", .key = "M", .is_one_time = true);
    for (int i = 1; i <= 4; i++)
        accepted(w, (char[]){'a', (char)('0' + i), 0}, (char[]){'T', (char)('0' + i), 0});
    solve(w, "a5", "T5", "ONCE");
    ask(w, "once more", .key = "M", .is_one_time = true);
    accepted(w, "a6", "T6");
    assert_int_equal(duplicates(w), 0);
    /* But a one-time input would be joined while it is in flight. */
    ask(w, "joins", .key = "M", .is_one_time = true);
    accepted(w, "a7", "T7");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_dedup_wait, 1);
}

static void what_is_too_old_for_who_asks_is_no_duplicate(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "ONE");
    pass(w, 20000);
    ask(w, "picky", .key = "K", .max_age_ms = 10000);
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(duplicates(w), 0);
}

static void a_single_request_joins_nobody(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(duplicates(w), 0);
}

static const struct client_options both_watched[2] = {
    {.weight = 1, .budget_per_day = UINT64_MAX, .is_shadow = true},
    {.weight = 1, .budget_per_day = UINT64_MAX, .is_shadow = true},
};

static void clients_that_do_not_share_have_no_duplicates_of_one_another(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.clients = both_watched;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .client = 0);
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "K", .client = 1);
    accepted(w, "a2", "T2");
    assert_int_equal(duplicates(w), 0);
    ask(w, "cat", .key = "K", .client = 1);
    accepted(w, "a3", "T3");
    skip_lines(w);
    assert_int_equal(duplicates(w), 1);
}

static void an_idempotency_key_is_forgotten_in_time(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "ONE");
    pass(w, w->options.idempotency_ttl_ms + 10000);
    /* It may stand for something else now. */
    ask(w, "bob", .key = "L", .idempotency = "I");
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_mismatched, 0);
}

static void a_single_solve_without_its_caller_is_offered_once(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    gone(w, "ann");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T2");
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a3", "T3");
    assert_int_equal(stats_of(w)->shadow_dedup_wait, 1);
    /* It is bob's now, also when it is solved. */
    pass(w, 6000);
    solved(w, "a1", "ONE");
    ask(w, "dan", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a4", "T4");
    skip_lines(w);
    assert_int_equal(duplicates(w), 1);
}

static void only_what_was_paid_for_can_be_saved(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    accepted(w, "a1", "T1");
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    assert_int_equal(duplicates(w), 0);
    accepted(w, "a3", "T3");
    skip_lines(w);
    assert_int_equal(duplicates(w), 1);
    expect_day(w, 2, 1);
}

static void a_retry_of_ours_would_have_cost_one_of_the_duplicates(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    accepted(w, "a3", "T3");
    expect_day(w, 3, 2);
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    /* Serving would have tried again, once for all: bob's own solve shows how that goes. */
    assert_int_equal(stats_of(w)->shadow_retried, 1);
    expect_day(w, 3, 1);
    solved(w, "a2", "TWO");
    ask(w, "dan", .key = "K");
    accepted(w, "a4", "T4");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_dedup_cache, 1);
    expect_day(w, 4, 2);
}

static void after_a_failure_nothing_is_there_to_join(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .idempotency = "I");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    ask(w, "ann again", .key = "K", .idempotency = "I");
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(duplicates(w), 0);
}

static void a_bad_solution_would_not_have_been_handed_out(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "ONE");
    report_bad(w, "ann", "r1");
    ask(w, "bob", .key = "K");
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(duplicates(w), 0);
}

static void what_a_pool_hands_out_is_paid_for_one_by_one(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .pool = 1);
    ask(w, "bob", .key = "K", .pool = 1);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(duplicates(w), 0);
}

/* ---- bounds and survival ------------------------------------------------------------------ */

static void the_oldest_key_gives_way(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.max_shadow_keys = 2;
    struct world *w = world_new(&options);
    ask(w, "k", .key = "K", .idempotency = "1");
    ask(w, "l", .key = "L", .idempotency = "2");
    ask(w, "m", .key = "M", .idempotency = "3");
    for (int i = 1; i <= 3; i++)
        accepted(w, (char[]){'a', (char)('0' + i), 0}, (char[]){'T', (char)('0' + i), 0});
    ask(w, "m too", .key = "M");
    accepted(w, "a4", "T4");
    assert_int_equal(stats_of(w)->shadow_dedup_wait, 1);
    ask(w, "k too", .key = "K", .idempotency = "1");
    accepted(w, "a5", "T5");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_idempotent, 0);
    assert_int_equal(duplicates(w), 1);
}

static void the_keys_that_repeat_most_are_listed(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.max_shadow_top = 2;
    struct world *w = world_new(&options);
    static const char *const keys[] = {"K", "K", "K", "K", "L", "L", "M", "M"};
    char name[16];
    char task[16];
    for (int i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof name, "a%d", i + 1);
        (void)snprintf(task, sizeof task, "T%d", i + 1);
        ask(w, "somebody", .key = keys[i], .type = TYPE_TURNSTILE, .host = "example.com");
        accepted(w, name, task);
    }
    skip_lines(w);
    struct repeat_view views[4];
    assert_int_equal(engine_list_repeats(w->engine, views, 4), 2);
    assert_int_equal(views[0].times, 3);
    assert_int_equal(views[0].uncertain, 0);
    assert_int_equal(views[0].saved_micro, 3 * PRICE);
    assert_int_equal(views[0].type, TYPE_TURNSTILE);
    assert_true(slice_equals(views[0].host, SLICE_OF("example.com")));
    /* M took L's place and may have been asked for as often as L was. */
    assert_int_equal(views[1].times, 2);
    assert_int_equal(views[1].uncertain, 1);
    assert_int_equal(views[1].saved_micro, PRICE);
}

static void the_books_of_the_shadow_survive_a_crash(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 2000);
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    const struct tally *tally = tally_of(w, TYPE_RECAPTCHA_V2);
    assert_int_equal(tally->shadow_paid, 2);
    assert_int_equal(tally->shadow_wait, 1);
    assert_int_equal(tally->shadow_wait_micro, PRICE);
    expect_day(w, 2, 1);
}

static void the_last_day_reaches_over_midnight_and_no_further(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, HOURS_MS(13));
    skip_lines(w);
    expect_day(w, 2, 1);
    pass(w, HOURS_MS(10));
    expect_day(w, 2, 1);
    pass(w, HOURS_MS(1));
    expect_day(w, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(lifetimes_are_those_of_the_solution),
        STORY(single_and_none_and_one_time_are_not_duplicates),
        STORY(what_is_too_old_for_who_asks_is_no_duplicate),
        STORY(a_single_request_joins_nobody),
        STORY(clients_that_do_not_share_have_no_duplicates_of_one_another),
        STORY(an_idempotency_key_is_forgotten_in_time),
        STORY(a_single_solve_without_its_caller_is_offered_once),
        STORY(only_what_was_paid_for_can_be_saved),
        STORY(a_retry_of_ours_would_have_cost_one_of_the_duplicates),
        STORY(after_a_failure_nothing_is_there_to_join),
        STORY(a_bad_solution_would_not_have_been_handed_out),
        STORY(what_a_pool_hands_out_is_paid_for_one_by_one),
        STORY(the_oldest_key_gives_way),
        STORY(the_keys_that_repeat_most_are_listed),
        STORY(the_books_of_the_shadow_survive_a_crash),
        STORY(the_last_day_reaches_over_midnight_and_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
