/* Shadow mode: everything is paid for as if there were no gateway, and the books say what serving
 * would have saved (docs/design.md 5.11). */
#include "world.h"

#include <solvegate/findings.h>

#include <stdio.h>

#define PRICE 2000

enum { WATCHED, SERVED };

static const struct client_options watched_and_served[] = {
    {.weight = 1, .budget_per_day = UINT64_MAX, .is_shadow = true},
    {.weight = 1, .budget_per_day = UINT64_MAX},
};

static struct engine_options shadow_options(void)
{
    struct engine_options options = world_options();
    options.client_count = 2;
    options.clients = watched_and_served;
    for (size_t type = 0; type < TYPE_COUNT; type++)
        options.price_micro[type] = PRICE;
    return options;
}

static struct world *shadow_world(void)
{
    const struct engine_options options = shadow_options();
    return world_new(&options);
}

static const struct tally *tally_of(const struct world *w, enum type type)
{
    return engine_tally(w->engine, 0, WATCHED, type);
}

static uint64_t duplicates(const struct world *w)
{
    const struct stats *stats = stats_of(w);
    return stats->shadow_dedup_wait + stats->shadow_dedup_cache + stats->shadow_idempotent -
           stats->shadow_retried;
}

static void expect_day(const struct world *w, uint64_t paid, uint64_t doubled)
{
    const struct shadow_hour day =
        engine_shadow_day(w->engine, WORLD_START_WALL_MS + (int64_t)w->now_ms);
    assert_int_equal(day.paid, paid);
    assert_int_equal(day.duplicates, doubled);
    assert_int_equal(day.saved_micro, doubled * PRICE);
}

/* ---- nothing changes for the worker ------------------------------------------------------- */

static void identical_requests_are_each_paid_for_and_answered(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[5000..6000] poll a2 task T2\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TWO\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->shadow_paid, 2);
    assert_int_equal(stats_of(w)->shadow_dedup_wait, 1);
    expect_day(w, 2, 1);
}

static void a_fresh_solution_is_not_handed_out_but_counted(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "ONE");
    skip_lines(w);
    ask(w, "bob", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a2", "T2", "TWO");
    expect(w, "[  6000] submit a2 K\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] answer bob r2 solved \"TWO\" source api attempts 1\n");
    assert_int_equal(tally_of(w, TYPE_TURNSTILE)->shadow_cache, 1);
    assert_int_equal(tally_of(w, TYPE_TURNSTILE)->shadow_cache_micro, PRICE);
    assert_int_equal(tally_of(w, TYPE_TURNSTILE)->shadow_paid, 2);
    assert_int_equal(tally_of(w, TYPE_TURNSTILE)->shadow_spent_micro, 2 * PRICE);
}

static void an_idempotency_key_is_counted_and_changes_nothing(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    ask(w, "again", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    accepted(w, "a3", "T3");
    /* Something else under the same key would be refused. */
    ask(w, "other", .key = "L", .idempotency = "I", .reuse = REUSE_SINGLE);
    accepted(w, "a4", "T4");
    skip_lines(w);
    assert_int_equal(stats_of(w)->shadow_paid, 4);
    assert_int_equal(stats_of(w)->shadow_idempotent, 2);
    assert_int_equal(stats_of(w)->shadow_mismatched, 1);
    assert_int_equal(duplicates(w), 2);
    assert_int_equal(tally_of(w, TYPE_RECAPTCHA_V2)->shadow_idempotent_micro, 2 * PRICE);
}

static void slots_queue_and_breaker_do_not_hold_anybody_up(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    skip_lines(w);
    ask(w, "cat", .key = "M");
    expect(w, "[     0] submit a3 M\n");
    ask(w, "served", .key = "N", .client = SERVED);
    expect(w, "[     0] answer served refused: vendor account unavailable (breaker open),"
              " ERROR_KEY_DOES_NOT_EXIST, retry after 15000\n");
}

static void a_budget_refuses_nobody_in_shadow_mode(void **state)
{
    (void)state;
    static const struct client_options poor[] = {
        {.weight = 1, .budget_per_day = 1, .is_shadow = true}};
    struct engine_options options = shadow_options();
    options.client_count = 1;
    options.clients = poor;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n");
}

static void a_failure_is_told_and_not_tried_again(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    skip_lines(w);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[  6000] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 1\n");
    ask(w, "bob", .key = "L");
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 60000);
    expect(w, "[  6000] submit a2 L\n"
              "[  6000] answer bob r2 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 1\n");
}

static void an_unconfirmed_submit_is_not_sent_again(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[ 45000] answer ann r1 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n");
}

static void in_php_waits_for_the_vendors_word(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n");
    accepted(w, "a1", "T1");
    tick(w);
    expect(w, "[     0] answer ann r1 solving\n");
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    expect(w, "[     0] answer bob r2 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 1\n");
}

static void a_callers_mistake_is_sent_each_time(void **state)
{
    (void)state;
    struct world *w = shadow_world();
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "bob", .key = "K");
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[     0] submit a2 K\n"
              "[     0] answer bob r2 failed ERROR_PAGEURL (caller) attempts 1\n");
    /* Nothing was paid, so nothing can be saved. */
    expect_day(w, 0, 0);
}

/* ---- nothing is shared -------------------------------------------------------------------- */

static void a_watched_and_a_served_client_never_share(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.clients_share = true;
    struct world *w = world_new(&options);
    ask(w, "watched", .key = "K");
    ask(w, "served", .key = "K", .client = SERVED);
    solve(w, "a2", "T2", "TWO");
    accepted(w, "a1", "T1");
    ask(w, "watched too", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K of client 1\n"
              "[5000..6000] poll a2 task T2 of client 1\n"
              "[  6000] answer served r1 solved \"TWO\" source api attempts 1\n"
              "[  6000] submit a3 K\n");
    /* What a watched client paid for and left is nobody's. */
    gone(w, "watched");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    pass(w, 80000);
    skip_lines(w);
    ask(w, "served again", .key = "K", .client = SERVED);
    expect(w, "[ 92000] submit a4 K of client 1\n");
    assert_int_equal(gauges_of(w).solutions, 0);
}

static void a_mistake_of_a_watched_client_is_not_remembered_for_others(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.clients_share = true;
    struct world *w = world_new(&options);
    ask(w, "watched", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    skip_lines(w);
    ask(w, "served", .key = "K", .client = SERVED);
    expect(w, "[     0] submit a2 K of client 1\n");
}

static void one_word_switches_to_serving(void **state)
{
    (void)state;
    struct client_options served[] = {watched_and_served[0], watched_and_served[1]};
    struct engine_options options = shadow_options();
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    served[WATCHED].is_shadow = false;
    options.clients = served;
    engine_configure(w->engine, &options);
    skip_lines(w);
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    solve(w, "a2", "T2", "TWO");
    expect(w, "[     0] submit a2 K\n"
              "[5000..6000] poll a2 task T2\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer bob r1 solved \"TWO\" source api attempts 1\n"
              "[  6000] answer cat r2 solved \"TWO\" source dedup_wait attempts 1\n");
}

static void letters_of_a_watched_client_are_not_replayed_by_themselves(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.letter_retry_every_ms = 10000;
    options.letter_retry_classes = 1u << CLASS_BUSY;
    options.letter_retry_max = 3;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    skip_lines(w);
    pass(w, 60000);
    expect(w, "");
}

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

static void a_crash_loses_no_paid_solution_of_a_known_id(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    w->hides_records = true;
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K", .is_told = true);
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    tick(w);
    durable(w, w->seq);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 100);
    solved(w, "a1", "ONE");
    solved(w, "a2", "TWO");
    durable(w, w->seq);
    look(w, "ann", "r1", 0);
    look(w, "bob", "r2", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] poll a2 task T2\n"
              "[   100] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[   100] answer bob r2 solved \"TWO\" source api attempts 1\n");
    assert_int_equal(w->tally.submits, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(identical_requests_are_each_paid_for_and_answered),
        STORY(a_fresh_solution_is_not_handed_out_but_counted),
        STORY(an_idempotency_key_is_counted_and_changes_nothing),
        STORY(slots_queue_and_breaker_do_not_hold_anybody_up),
        STORY(a_budget_refuses_nobody_in_shadow_mode),
        STORY(a_failure_is_told_and_not_tried_again),
        STORY(an_unconfirmed_submit_is_not_sent_again),
        STORY(in_php_waits_for_the_vendors_word),
        STORY(a_callers_mistake_is_sent_each_time),
        STORY(a_watched_and_a_served_client_never_share),
        STORY(a_mistake_of_a_watched_client_is_not_remembered_for_others),
        STORY(one_word_switches_to_serving),
        STORY(letters_of_a_watched_client_are_not_replayed_by_themselves),
        STORY(lifetimes_are_those_of_the_solution),
        STORY(single_and_none_and_one_time_are_not_duplicates),
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
        STORY(a_crash_loses_no_paid_solution_of_a_known_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
