/* Clients that are no longer configured, or are again: what they paid for (docs/design.md 5.9). */
#include "world.h"

static const struct client_options without_the_crawler[CLIENTS] = {
    [CRAWLER] = {.weight = 1, .budget_per_day = UINT64_MAX, .is_gone = true},
    [SHOP] = {.weight = 1, .budget_per_day = UINT64_MAX},
};

/* A configuration without the crawler is read, after a crash or while it runs. */
static void lose_the_crawler(struct world *w, bool is_crash)
{
    w->options.clients = without_the_crawler;
    if (is_crash)
        crash(w, ALL_RECORDS);
    else
        engine_configure(w->engine, &w->options);
}

static struct letter_view only_letter(const struct world *w)
{
    struct letter_view view;
    uint64_t number = 1;
    assert_int_equal(gauges_of(w).letters, 1);
    while (!engine_find_letter(w->engine, number, &view))
        number++;
    return view;
}

static void replay_into(struct world *w, client_id client)
{
    struct event event = {.kind = EVENT_LETTERS,
                          .now_ms = WORLD_START_MS + w->now_ms,
                          .wall_ms = WORLD_START_WALL_MS + (int64_t)w->now_ms};
    event.letters = (struct letter_order){.verb = LETTER_REPLAY,
                                          .filter = every_letter(),
                                          .has_into = true,
                                          .into = client,
                                          .into_key = {{'N'}}};
    engine_step(w->engine, &event);
    tick(w);
}

static struct world *world_with_an_orphan(bool is_crash)
{
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    accepted(w, "a1", "T1");
    lose_the_crawler(w, is_crash);
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    return w;
}

static void the_task_of_a_client_that_is_gone_becomes_a_letter(void **state)
{
    (void)state;
    for (int is_crash = 0; is_crash < 2; is_crash++) {
        struct world *w = world_with_an_orphan(is_crash);
        const struct letter_view letter = only_letter(w);
        assert_int_equal(letter.kind, LETTER_OF_ORPHAN);
        assert_int_equal(letter.client, CRAWLER);
        assert_true(slice_equals(letter.text, SLICE_OF("TOKEN")));
        assert_true(letter.params->len > 0);
        assert_int_equal(gauges_of(w).solutions, 0);
        assert_int_equal(w->tally.submits, 1);
    }
}

static void nobody_solves_an_orphan_again_before_it_is_somebodys(void **state)
{
    (void)state;
    struct world *w = world_with_an_orphan(true);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 5000);
    assert_int_equal(w->tally.submits, 1);
    assert_false(only_letter(w).is_replaying);
    skip_lines(w);
}

static void a_fresh_orphan_is_its_new_clients_for_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_an_orphan(true);
    crash(w, ALL_RECORDS);
    replay_into(w, SHOP);
    skip_lines(w);
    assert_int_equal(gauges_of(w).letters, 0);
    ask(w, "shop", .key = "N", .client = SHOP);
    assert_int_equal(stats_of(w)->answered_dedup_cache, 1);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void a_stale_orphan_is_solved_again_for_its_new_client(void **state)
{
    (void)state;
    struct world *w = world_with_an_orphan(true);
    pass(w, HOURS_MS(2));
    skip_lines(w);
    replay_into(w, SHOP);
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(only_letter(w).client, SHOP);
    skip_lines(w);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a2", "NEW");
    assert_int_equal(gauges_of(w).letters, 0);
    skip_lines(w);
}

/* Its time ran out before it was solved, so that nobody knows its parameters any more. */
static void a_stray_of_a_client_that_is_gone_becomes_a_letter_to_look_at(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    accepted(w, "a1", "T1");
    pass(w, 59000);
    pending(w, "a1");
    pass(w, 1000);
    order_letters(w, LETTER_DROP, every_letter());
    lose_the_crawler(w, false);
    pass(w, 5000);
    solved(w, "a1", "LATE");
    skip_lines(w);
    assert_int_equal(only_letter(w).kind, LETTER_OF_ORPHAN);
    assert_int_equal(only_letter(w).params->len, 0);
    replay_into(w, SHOP);
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

static void a_caller_that_waits_when_its_client_goes_is_answered(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    accepted(w, "a1", "T1");
    lose_the_crawler(w, false);
    pass(w, 6000);
    skip_lines(w);
    solved(w, "a1", "TOKEN");
    expect(w, "[  6000] answer crawler r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

static void nothing_is_paid_again_for_a_client_that_is_gone(void **state)
{
    (void)state;
    for (int is_crash = 0; is_crash < 2; is_crash++) {
        struct world *w = crawler_and_shop(false, true);
        ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
        accepted(w, "a1", "T1");
        lose_the_crawler(w, is_crash);
        pass(w, 6000);
        failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
        pass(w, 100000);
        assert_int_equal(w->tally.submits, 1);
        skip_lines(w);
    }
}

static void what_was_banked_for_one_becomes_a_letter(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    gone(w, "crawler");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    lose_the_crawler(w, true);
    assert_int_equal(only_letter(w).kind, LETTER_OF_ORPHAN);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

static void bring_the_crawler_back(struct world *w)
{
    static const struct client_options both[CLIENTS] = {
        {.weight = 1, .budget_per_day = UINT64_MAX}, {.weight = 1, .budget_per_day = UINT64_MAX}};
    w->options.clients = both;
    engine_configure(w->engine, &w->options);
}

/* Only told its id, and with an idempotency key; solved while its client was not configured. */
static struct world *world_with_a_client_that_came_back(enum reuse reuse)
{
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .idempotency = "I", .client = CRAWLER, .reuse = reuse,
        .is_told = true);
    accepted(w, "a1", "T1");
    lose_the_crawler(w, false);
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    bring_the_crawler_back(w);
    skip_lines(w);
    return w;
}

/* Nobody reads its requests, and yet what it paid for is its own as long as nobody else was given it. */
static void a_client_that_is_back_gets_its_orphan_for_nothing(void **state)
{
    (void)state;
    const enum reuse reuses[] = {REUSE_SINGLE, REUSE_SHARED};
    for (int i = 0; i < 2; i++) {
        struct world *w = world_with_a_client_that_came_back(reuses[i]);
        assert_int_equal(only_letter(w).kind, LETTER_OF_ORPHAN);
        assert_int_equal(gauges_of(w).requests, 0);
        assert_true(explain(w, .key = "K", .client = CRAWLER, .reuse = reuses[i]).would_hit);
        ask(w, "retry", .key = "K", .idempotency = "I", .client = CRAWLER, .reuse = reuses[i]);
        assert_int_equal(w->tally.submits, 1);
        assert_int_equal(stats_of(w)->answered_dedup_cache, 1);
        assert_int_equal(gauges_of(w).letters, 0);
        /* There is nothing left that another could have. */
        replay_into(w, SHOP);
        ask(w, "shop", .key = "N", .client = SHOP, .reuse = reuses[i]);
        assert_int_equal(w->tally.submits, 2);
        skip_lines(w);
    }
}

static void an_orphan_that_is_anothers_by_now_is_not_its_old_clients(void **state)
{
    (void)state;
    struct world *w = world_with_a_client_that_came_back(REUSE_SINGLE);
    replay_into(w, SHOP);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    ask(w, "shop", .key = "N", .client = SHOP, .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(stats_of(w)->answered_dedup_cache, 1);
    skip_lines(w);
}

static void an_orphan_is_given_back_to_its_client_only_and_only_if_it_suits(void **state)
{
    (void)state;
    struct world *w = world_with_a_client_that_came_back(REUSE_SHARED);
    ask(w, "shop", .key = "K", .client = SHOP);
    ask(w, "strict", .key = "K", .client = CRAWLER, .min_ttl_ms = HOURS_MS(2));
    ask(w, "alone", .key = "K", .client = CRAWLER, .reuse = REUSE_NONE);
    assert_int_equal(w->tally.submits, 4);
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

static void an_orphan_is_given_back_also_when_solutions_live_shorter_by_now(void **state)
{
    (void)state;
    struct world *w = world_with_a_client_that_came_back(REUSE_SHARED);
    for (int type = 0; type < TYPE_COUNT; type++)
        w->options.ttl_ms[type] = 5000;
    engine_configure(w->engine, &w->options);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
    pass(w, 6000);
    ask(w, "late", .key = "K", .client = CRAWLER);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void bring_the_crawler_back_by_a_restart(struct world *w, uint64_t kept)
{
    static const struct client_options both[CLIENTS] = {
        {.weight = 1, .budget_per_day = UINT64_MAX}, {.weight = 1, .budget_per_day = UINT64_MAX}};
    w->options.clients = both;
    crash(w, kept);
    skip_lines(w);
}

static void a_client_that_missed_one_restart_does_not_pay_again(void **state)
{
    (void)state;
    struct world *w = world_with_an_orphan(true);
    bring_the_crawler_back_by_a_restart(w, ALL_RECORDS);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    ask(w, "again", .key = "K", .client = CRAWLER);
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(stats_of(w)->answered_dedup_cache, 2);
    skip_lines(w);
}

/* It has another place then: that of its rows was given away when the start did not find it. */
static void a_client_that_a_reload_brings_back_has_what_its_name_paid_for(void **state)
{
    (void)state;
    static const struct client_options with_heir[] = {
        [CRAWLER] = {.weight = 1,
                     .budget_per_day = UINT64_MAX,
                     .is_gone = true,
                     .has_heir = true,
                     .heir = CLIENTS},
        [SHOP] = {.weight = 1, .budget_per_day = UINT64_MAX},
        [CLIENTS] = {.weight = 1, .budget_per_day = UINT64_MAX},
    };
    for (int is_solved = 0; is_solved < 2; is_solved++) {
        struct engine_options options = crawler_and_shop(false, true)->options;
        options.max_clients = CLIENTS + 1;
        struct world *w = world_new(&options);
        ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
        accepted(w, "a1", "T1");
        lose_the_crawler(w, true);
        pass(w, 6000);
        if (is_solved)
            solved(w, "a1", "TOKEN");
        w->options.clients = with_heir;
        w->options.client_count = CLIENTS + 1;
        engine_configure(w->engine, &w->options);
        ask(w, "shop", .key = "K", .client = SHOP);
        assert_int_equal(w->tally.submits, 2);
        ask(w, "crawler", .key = "K", .client = CLIENTS);
        if (!is_solved)
            solved(w, "a1", "TOKEN");
        assert_int_equal(w->tally.submits, 2);
        assert_int_equal(w->tally.solved, 1);
        assert_int_equal(gauges_of(w).letters, 0);
        skip_lines(w);
    }
}

/* The crash comes after each of the records with which a letter is made, or gives its solution back. */
static void a_crash_does_not_make_two_of_an_orphan(void **state)
{
    (void)state;
    for (uint64_t lost = 0; lost < 6; lost++) {
        struct world *w = crawler_and_shop(false, true);
        ask(w, "crawler", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE, .is_told = true);
        accepted(w, "a1", "T1");
        lose_the_crawler(w, true);
        pass(w, 6000);
        solved(w, "a1", "TOKEN");
        const bool is_at_the_end = lost >= 3;
        if (is_at_the_end) {
            bring_the_crawler_back_by_a_restart(w, ALL_RECORDS);
            ask(w, "early", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE, .is_told = true);
        }
        const unsigned before = w->tally.submits;
        bring_the_crawler_back_by_a_restart(w, w->seq - lost % 3);
        const uint64_t had = stats_of(w)->answered_dedup_cache;
        ask(w, "one", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
        ask(w, "two", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
        assert_true(w->tally.submits > before);
        assert_true(stats_of(w)->answered_dedup_cache - had <= 1);
        assert_int_equal(gauges_of(w).letters, 0);
        skip_lines(w);
    }
}

/* Solved and not yet read when the restart came that no longer knows its client. */
static void what_was_told_and_not_read_becomes_a_letter(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    lose_the_crawler(w, true);
    assert_int_equal(only_letter(w).kind, LETTER_OF_ORPHAN);
    bring_the_crawler_back_by_a_restart(w, ALL_RECORDS);
    ask(w, "again", .key = "K", .client = CRAWLER);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void what_somebody_may_have_read_is_not_for_one_alone(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    look_as(w, "crawler", CRAWLER, "r1");
    lose_the_crawler(w, true);
    bring_the_crawler_back_by_a_restart(w, ALL_RECORDS);
    ask(w, "alone", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 2);
    ask(w, "shared", .key = "K", .client = CRAWLER);
    assert_int_equal(stats_of(w)->answered_dedup_cache, 1);
    ask(w, "alone", .key = "K", .client = CRAWLER, .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

/* Whoever was held has it: there is nothing to look after. */
static void what_was_handed_to_a_held_caller_becomes_no_letter(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER);
    solve(w, "a1", "T1", "TOKEN");
    lose_the_crawler(w, true);
    assert_int_equal(gauges_of(w).letters, 0);
    skip_lines(w);
}

/* A submit that nobody heard of counts, also when the restart that finds it does not find its client. */
static void what_is_spent_while_a_client_is_gone_is_of_its_budget(void **state)
{
    (void)state;
    static const struct client_options of_one[CLIENTS] = {
        {.weight = 1, .budget_per_day = 1}, {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = crawler_and_shop(false, true)->options;
    options.clients = of_one;
    struct world *w = world_new(&options);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    lose_the_crawler(w, true);
    tick(w);
    w->options.clients = of_one;
    crash(w, ALL_RECORDS);
    tick(w);
    skip_lines(w);
    ask(w, "crawler", .key = "L", .client = CRAWLER);
    assert_int_equal(w->tally.refused, 1);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

/* They shared until now. Who is still configured and was only told the id comes back for it. */
static void what_a_client_that_stays_waits_for_is_no_orphan(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(true, true);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    ask(w, "shop", .key = "K", .idempotency = "I", .client = SHOP, .is_told = true);
    accepted(w, "a1", "T1");
    w->options.clients_share = false;
    lose_the_crawler(w, false);
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(gauges_of(w).requests, 1);
    skip_lines(w);
    ask(w, "retry", .key = "K", .idempotency = "I", .client = SHOP);
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

/* Three of its requests wait behind one slot: the task is finished, the rest is never submitted. */
static void what_waits_for_a_slot_is_not_paid_for_when_its_client_goes(void **state)
{
    (void)state;
    struct engine_options options = crawler_and_shop(false, false)->options;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "crawler", .key = "K", .client = CRAWLER, .is_told = true);
    ask(w, "told", .key = "L", .idempotency = "I", .client = CRAWLER, .is_told = true);
    ask(w, "held", .key = "M", .client = CRAWLER);
    ask(w, "shop", .key = "N", .client = SHOP);
    accepted(w, "a1", "T1");
    lose_the_crawler(w, false);
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    assert_int_equal(only_letter(w).kind, LETTER_OF_ORPHAN);
    skip_lines(w);
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    tick(w);
    expect(w, "[  6000] answer shop r3 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[  6000] answer held r4 failed ERROR_CLIENT_GONE (caller) attempts 0\n");
    assert_int_equal(gauges_of(w).queued, 0);
    assert_int_equal(gauges_of(w).letters, 1);
    assert_int_equal(w->tally.submits, 2);
}

/* A batch of the queue is ended in each step, and the loop is told that there is more. */
static void a_long_queue_of_a_client_that_is_gone_ends_over_several_steps(void **state)
{
    (void)state;
    struct engine_options options = crawler_and_shop(false, false)->options;
    options.slots = 1;
    options.step_batch = 2;
    struct world *w = world_new(&options);
    ask(w, "first", .key = "K", .client = CRAWLER);
    ask(w, "second", .key = "L", .client = CRAWLER);
    ask(w, "third", .key = "M", .client = CRAWLER);
    ask(w, "fourth", .key = "N", .client = CRAWLER);
    ask(w, "fifth", .key = "O", .client = CRAWLER);
    lose_the_crawler(w, false);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    assert_int_equal(gauges_of(w).queued, 3);
    for (uint32_t left = 3; left > 0; left--) {
        assert_int_equal(engine_next_deadline(w->engine), WORLD_START_MS + w->now_ms);
        tick(w);
        assert_int_equal(gauges_of(w).queued, left - 1);
    }
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

/* They share: whoever is still configured waits for the same solve, and gets it. */
static void what_another_waits_for_as_well_is_solved_for_that_one(void **state)
{
    (void)state;
    struct engine_options options = crawler_and_shop(true, true)->options;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "first", .key = "K", .client = SHOP);
    ask(w, "crawler", .key = "L", .client = CRAWLER, .is_told = true);
    ask(w, "shop", .key = "L", .client = SHOP);
    ask(w, "alone", .key = "M", .client = CRAWLER, .is_told = true);
    accepted(w, "a1", "T1");
    lose_the_crawler(w, false);
    pass(w, 6000);
    solved(w, "a1", "ONE");
    skip_lines(w);
    solve(w, "a2", "T2", "TWO");
    pass(w, 100000);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(the_task_of_a_client_that_is_gone_becomes_a_letter),
        STORY(nobody_solves_an_orphan_again_before_it_is_somebodys),
        STORY(a_fresh_orphan_is_its_new_clients_for_nothing),
        STORY(a_stale_orphan_is_solved_again_for_its_new_client),
        STORY(a_stray_of_a_client_that_is_gone_becomes_a_letter_to_look_at),
        STORY(a_caller_that_waits_when_its_client_goes_is_answered),
        STORY(nothing_is_paid_again_for_a_client_that_is_gone),
        STORY(what_was_banked_for_one_becomes_a_letter),
        STORY(a_client_that_is_back_gets_its_orphan_for_nothing),
        STORY(an_orphan_that_is_anothers_by_now_is_not_its_old_clients),
        STORY(an_orphan_is_given_back_to_its_client_only_and_only_if_it_suits),
        STORY(an_orphan_is_given_back_also_when_solutions_live_shorter_by_now),
        STORY(a_client_that_missed_one_restart_does_not_pay_again),
        STORY(a_client_that_a_reload_brings_back_has_what_its_name_paid_for),
        STORY(a_crash_does_not_make_two_of_an_orphan),
        STORY(what_was_told_and_not_read_becomes_a_letter),
        STORY(what_somebody_may_have_read_is_not_for_one_alone),
        STORY(what_was_handed_to_a_held_caller_becomes_no_letter),
        STORY(what_is_spent_while_a_client_is_gone_is_of_its_budget),
        STORY(what_a_client_that_stays_waits_for_is_no_orphan),
        STORY(what_waits_for_a_slot_is_not_paid_for_when_its_client_goes),
        STORY(a_long_queue_of_a_client_that_is_gone_ends_over_several_steps),
        STORY(what_another_waits_for_as_well_is_solved_for_that_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
