/* Shadow mode: everything is paid for as if there were no gateway, and nothing is shared
 * (docs/design.md 5.11). */
#include "shadow_world.h"
#include "shared_world.h"

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

/* Other nodes would be asked for what the key stands for, and there is nothing that may be shared. */
static void with_a_shared_store_nothing_is_claimed(void **state)
{
    (void)state;
    const struct engine_options options = shadow_options();
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "K", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n");
    assert_int_equal(w->tally.claims, 0);
}

static void without_the_lease_nothing_is_submitted_even_in_shadow_mode(void **state)
{
    (void)state;
    const struct engine_options options = shadow_options();
    struct world *w = leased_world(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    expect(w, "");
    beat(w, 0);
    expect(w, "[     0] submit a1 K\n");
    accepted(w, "a1", "T1");
    tick(w);
    expect(w, "[     0] answer ann r1 solving\n");
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
}

static void what_a_watched_client_paid_for_and_left_is_nobodys(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.clients_share = true;
    struct world *w = world_new(&options);
    ask(w, "watched", .key = "K");
    accepted(w, "a1", "T1");
    gone(w, "watched");
    pass(w, 6000);
    solved(w, "a1", "ONE");
    assert_int_equal(gauges_of(w).solutions, 0);
    skip_lines(w);
    ask(w, "served", .key = "K", .client = SERVED);
    expect(w, "[  6000] submit a2 K of client 1\n");
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

/* ---- crashes ------------------------------------------------------------------------------ */

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

/* Its solution is on disk, but not that it was handed out. */
static void a_crash_gives_nobody_what_a_watched_client_paid_for(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.has_journal = options.clients_share = true;
    struct world *w = world_new(&options);
    w->hides_records = true;
    ask(w, "watched", .key = "K");
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    skip_lines(w);
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "ONE");
    crash(w, before + 1);
    skip_lines(w);
    ask(w, "served", .key = "K", .client = SERVED);
    durable(w, w->seq);
    expect(w, "[     0] submit a2 K of client 1\n");
}

/* The vendor's word on it is lost, and nobody knows whether it was paid for. */
static void a_crash_sends_nothing_of_a_watched_client_again(void **state)
{
    (void)state;
    struct engine_options options = shadow_options();
    options.has_journal = true;
    options.has_callbacks = false;
    struct world *w = world_new(&options);
    w->hides_records = true;
    ask(w, "watched", .key = "K", .is_told = true);
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    tick(w);
    durable(w, w->seq);
    skip_lines(w);
    pass(w, 8000);
    const journal_seq before = w->seq;
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    crash(w, before + 1);
    tick(w);
    durable(w, w->seq);
    skip_lines(w);
    look(w, "watched", "r1", 0);
    expect(w, "[  8000] answer watched r1 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n");
    assert_int_equal(w->tally.submits, 1);
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
        STORY(with_a_shared_store_nothing_is_claimed),
        STORY(without_the_lease_nothing_is_submitted_even_in_shadow_mode),
        STORY(a_watched_and_a_served_client_never_share),
        STORY(what_a_watched_client_paid_for_and_left_is_nobodys),
        STORY(a_mistake_of_a_watched_client_is_not_remembered_for_others),
        STORY(one_word_switches_to_serving),
        STORY(letters_of_a_watched_client_are_not_replayed_by_themselves),
        STORY(a_crash_loses_no_paid_solution_of_a_known_id),
        STORY(a_crash_gives_nobody_what_a_watched_client_paid_for),
        STORY(a_crash_sends_nothing_of_a_watched_client_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
