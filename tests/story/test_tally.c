/* The books by client and type, the money in them, the audit trail and the durations (docs/design.md 5.10). */
#include "world.h"

#include "lines.h"

#define PRICE 2500

static const struct client_options two_clients[] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                    {.weight = 1, .budget_per_day = UINT64_MAX}};

static struct world *priced_world(bool has_callbacks)
{
    struct engine_options options = world_options();
    options.client_count = 2;
    options.clients = two_clients;
    options.has_journal = true;
    options.has_callbacks = has_callbacks;
    options.price_micro[TYPE_TURNSTILE] = PRICE;
    return world_new(&options);
}

static const struct tally *today(const struct world *w, client_id client, enum type type)
{
    return engine_tally(w->engine, 0, client, type);
}

static uint64_t observed(const struct world *w, enum timing timing)
{
    return histogram_count(engine_timing(w->engine, timing));
}

static void each_client_and_type_is_counted_by_itself(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "ann too", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "ann again", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "bob", .key = "L", .client = 1, .type = TYPE_IMAGE);
    rejected(w, "a2", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "bob leaves", .key = "M", .client = 1, .type = TYPE_IMAGE);
    gone(w, "bob leaves");
    skip_lines(w);
    const struct tally *ann = today(w, 0, TYPE_TURNSTILE);
    assert_int_equal(ann->requests, 3);
    assert_int_equal(ann->answered, 1);
    assert_int_equal(ann->deduplicated, 2);
    assert_int_equal(ann->paid, 1);
    assert_int_equal(ann->slot_ms_used, 6000);
    assert_int_equal(ann->slot_ms_saved, 2 * ann->slot_ms_used);
    const struct tally *bob = today(w, 1, TYPE_IMAGE);
    assert_int_equal(bob->requests, 2);
    assert_int_equal(bob->failed, 1);
    assert_int_equal(bob->detached, 1);
    assert_int_equal(bob->paid, 0);
    assert_int_equal(today(w, 1, TYPE_TURNSTILE)->requests, 0);
    assert_int_equal(today(w, 0, TYPE_IMAGE)->requests, 0);
}

static void money_is_spent_by_submits_and_saved_by_answers_without_one(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "joins", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cached", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "unpriced", .key = "L", .type = TYPE_IMAGE);
    solve(w, "a2", "T2", "TEXT");
    skip_lines(w);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->spent_micro, PRICE);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->saved_micro, 2 * PRICE);
    assert_int_equal(today(w, 0, TYPE_IMAGE)->paid, 1);
    assert_int_equal(today(w, 0, TYPE_IMAGE)->spent_micro, 0);
}

static void a_crash_keeps_what_was_written_and_counts_nothing_twice(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .client = 1, .type = TYPE_TURNSTILE, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 1000);
    const struct tally before = *today(w, 1, TYPE_TURNSTILE);
    int64_t day;
    const struct stats page = *engine_stats_of_day(w->engine, 0, &day);
    assert_int_equal(before.answered, 1);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    assert_memory_equal(today(w, 1, TYPE_TURNSTILE), &before, sizeof before);
    assert_memory_equal(engine_stats_of_day(w->engine, 0, &day), &page, sizeof page);
    /* Totals begin anew. */
    assert_int_equal(engine_tally(w->engine, ENGINE_SINCE_START, 1, TYPE_TURNSTILE)->paid, 0);
}

static void what_a_crash_lost_of_the_page_is_found_again_in_the_rows(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    /* The last page was written before the solution came. */
    crash(w, ALL_RECORDS);
    skip_lines(w);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->requests, 1);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->answered, 1);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->detached, 0);
}

static void midnight_begins_a_new_page_for_everybody(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 86400000);
    tick(w);
    skip_lines(w);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->requests, 0);
    assert_int_equal(engine_tally(w->engine, 1, 0, TYPE_TURNSTILE)->requests, 1);
    assert_int_equal(engine_tally(w->engine, ENGINE_SINCE_START, 0, TYPE_TURNSTILE)->paid, 1);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    assert_int_equal(engine_tally(w->engine, 1, 0, TYPE_TURNSTILE)->requests, 1);
}

static void every_paid_submit_is_written_down_with_its_cause(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K", .client = 1, .type = TYPE_TURNSTILE);
    accepted(w, "a1", "T1");
    assert_int_equal(w->tally.paid, 1);
    assert_int_equal(w->last_paid.cause, CAUSE_FIRST);
    assert_int_equal(w->last_paid.client, 1);
    assert_int_equal(w->last_paid.number, 1);
    assert_string_equal(w->last_paid.task_id, "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(w->tally.paid, 2);
    assert_int_equal(w->last_paid.cause, CAUSE_RETRY);
    assert_int_equal(w->last_paid.class, CLASS_UNSOLVABLE);
    assert_string_equal(w->last_paid.code, "ERROR_CAPTCHA_UNSOLVABLE");
    assert_int_equal(w->last_paid.number, 2);
}

static void a_resend_is_paid_for_because_of_the_silence_before_it(void **state)
{
    (void)state;
    struct world *w = priced_world(false);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    assert_int_equal(w->tally.paid, 0);
    pass(w, 46000);
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(w->tally.paid, 1);
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
}

static void a_replayed_letter_says_so_in_the_audit_trail(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_transient = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    accepted(w, "a2", "T2");
    skip_lines(w);
    assert_int_equal(w->last_paid.cause, CAUSE_REPLAY);
}

static void a_pool_pays_for_itself_and_its_answers_save_no_money(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    static struct pool_options pool;
    pool = (struct pool_options){.params = blob_new(SLICE_OF("P")),
                                 .key = key_named("P"),
                                 .type = TYPE_TURNSTILE,
                                 .size = 1,
                                 .idle_after_ms = 120000,
                                 .min_ttl_ms = 10000};
    options.pools = &pool;
    options.pool_count = 1;
    options.price_micro[TYPE_TURNSTILE] = PRICE;
    struct world *w = world_new(&options);
    w->options.pools = &pool;
    w->pool_params = pool.params;
    tick(w);
    solve(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->last_paid.cause, CAUSE_POOL);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE, .pool = 1);
    skip_lines(w);
    assert_int_equal(stats_of(w)->answered_pool, 1);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->deduplicated, 1);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->saved_micro, 0);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->spent_micro, PRICE);
}

static void a_callback_proves_that_an_unheard_submit_was_paid_for_once(void **state)
{
    (void)state;
    struct world *w = priced_world(true);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    ambiguous(w, "a1");
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_int_equal(stats_of(w)->submits_proven, 1);
    assert_int_equal(stats_of(w)->submits_accepted, 0);
    assert_int_equal(w->tally.paid, 1);
    assert_string_equal(w->last_paid.task_id, "T1");
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->spent_micro, PRICE);
}

static void a_reply_behind_its_callback_is_paid_for_once(void **state)
{
    (void)state;
    struct world *w = priced_world(true);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.paid, 1);
    assert_true(w->has_paid_params);
    assert_string_equal(w->last_paid.task_id, "T1");
    accepted(w, "a1", "T1");
    skip_lines(w);
    assert_int_equal(stats_of(w)->submits_accepted, 1);
    assert_int_equal(stats_of(w)->submits_proven, 0);
    assert_int_equal(w->tally.paid, 1);
}

static void a_reply_that_is_lost_behind_its_callback_changes_nothing(void **state)
{
    (void)state;
    struct world *w = priced_world(true);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    callback(w, "a1", "", "TOKEN");
    ambiguous(w, "a1");
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_int_equal(w->tally.paid, 1);
    assert_int_equal(stats_of(w)->submits_accepted + stats_of(w)->submits_proven, 1);
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->spent_micro, PRICE);
}

/* The reply is lost with the process; the books and the audit trail must not miss what was paid for. */
static void a_restart_between_callback_and_reply_keeps_the_payment(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    callback(w, "a1", "", "TOKEN");
    pass(w, 2000);
    assert_int_equal(w->tally.paid, 1);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    int64_t day;
    const struct stats *page = engine_stats_of_day(w->engine, 0, &day);
    assert_int_equal(page->submits_accepted, 1);
    assert_int_equal(page->submits_proven, 0);
    assert_int_equal(w->tally.paid, 1);
}

static void a_doubled_submit_is_paid_for_twice(void **state)
{
    (void)state;
    struct world *w = priced_world(true);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T2", "OTHER");
    skip_lines(w);
    assert_int_equal(w->tally.paid, 2);
    assert_int_equal(w->last_paid.cause, CAUSE_DOUBLE);
    assert_string_equal(w->last_paid.task_id, "T2");
    assert_int_equal(today(w, 0, TYPE_TURNSTILE)->spent_micro, 2 * PRICE);
}

static void durations_are_counted_from_queue_to_solution(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    options.has_callbacks = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    accepted(w, "a1", "T1");
    pass(w, 4000);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    assert_int_equal(observed(w, TIMING_QUEUE), 2);
    assert_int_equal(histogram_sum_ms(engine_timing(w->engine, TIMING_QUEUE)), 4000);
    assert_int_equal(observed(w, TIMING_SOLVE), 1);
    assert_int_equal(histogram_sum_ms(engine_timing(w->engine, TIMING_SOLVE)), 4000);
    assert_int_equal(observed(w, TIMING_CALLBACK), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(each_client_and_type_is_counted_by_itself),
        STORY(money_is_spent_by_submits_and_saved_by_answers_without_one),
        STORY(a_crash_keeps_what_was_written_and_counts_nothing_twice),
        STORY(what_a_crash_lost_of_the_page_is_found_again_in_the_rows),
        STORY(midnight_begins_a_new_page_for_everybody),
        STORY(every_paid_submit_is_written_down_with_its_cause),
        STORY(a_resend_is_paid_for_because_of_the_silence_before_it),
        STORY(a_replayed_letter_says_so_in_the_audit_trail),
        STORY(a_pool_pays_for_itself_and_its_answers_save_no_money),
        STORY(a_callback_proves_that_an_unheard_submit_was_paid_for_once),
        STORY(a_reply_behind_its_callback_is_paid_for_once),
        STORY(a_reply_that_is_lost_behind_its_callback_changes_nothing),
        STORY(a_restart_between_callback_and_reply_keeps_the_payment),
        STORY(a_doubled_submit_is_paid_for_twice),
        STORY(durations_are_counted_from_queue_to_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
