/* Answers that nobody can be given: kept with their bytes, and not bought again (docs/design.md 5.9). */
#include "pool_world.h"
#include "world.h"

#define BAD "ERROR_BAD_SOLUTION"

static struct world *world_with_journal(void)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    return world_new(&options);
}

static size_t letters(struct world *w, struct letter_view *views, size_t room)
{
    const struct letter_filter filter = every_letter();
    uint64_t cursor = 0;
    uint32_t total = 0;
    return engine_list_letters(w->engine, &filter, &cursor, views, room, &total);
}

static struct letter_view only_letter(struct world *w)
{
    struct letter_view views[2];
    assert_int_equal(letters(w, views, 2), 1);
    return views[0];
}

static void assert_answer(const struct letter_view *view, const char *bytes)
{
    assert_int_equal(view->kind, LETTER_OF_ANSWER);
    assert_string_equal(view->text.data, bytes);
    assert_string_equal(view->code.data, BAD);
    assert_string_equal(view->params->data, "K");
    assert_string_equal(view->task_id.data, "T1");
    assert_int_equal(view->note_count, 1);
}

static void a_poll_that_brings_no_answer_is_a_letter_and_no_second_submit(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    ask(w, "cat", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 failed " BAD " (unknown) attempts 1 letter 1\n"
              "[  6000] answer bob r2 failed " BAD " (unknown) attempts 1 letter 1\n"
              "[  6000] answer cat r3 failed " BAD " (unknown) attempts 0 letter 1\n");
    const struct letter_view view = only_letter(w);
    assert_answer(&view, "BYTES");
    assert_int_equal(view.told, 2);
    assert_int_equal(stats_of(w)->submits_accepted, 1);
}

static void nobody_needs_to_wait_for_an_answer_to_be_kept(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    skip_lines(w);
    const struct letter_view view = only_letter(w);
    assert_answer(&view, "BYTES");
}

static void a_callback_that_brings_no_answer_is_safe_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    durable(w, w->seq);
    accepted(w, "a1", "T1");
    durable(w, w->seq);
    const unsigned acks = w->tally.acks;
    callback_undeliverable(w, "a1", "T1", "BYTES");
    callback_undeliverable(w, "a1", "T1", "BYTES");
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(w->tally.acks, acks + 2);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 300000);
    assert_int_equal(w->tally.submits, 1);
    const struct letter_view view = only_letter(w);
    assert_answer(&view, "BYTES");
    skip_lines(w);
}

/* Wherever the power fails, the bytes are there or the vendor is asked for them again. */
static void a_crash_loses_no_bytes_and_buys_nothing_again(void **state)
{
    (void)state;
    for (uint64_t kept = 0;; kept++) {
        struct world *w = world_with_journal();
        ask(w, "ann", .key = "K", .is_told = true);
        durable(w, w->seq);
        accepted(w, "a1", "T1");
        const uint64_t before = w->tally.records;
        callback_undeliverable(w, "a1", "T1", "BYTES");
        const uint64_t after = w->tally.records;
        crash(w, before + kept);
        pass(w, 1000);
        if (w->attempts[0].is_polling)
            undeliverable(w, "a1", "BYTES");
        pass(w, 300000);
        struct letter_view views[2];
        assert_int_equal(w->tally.submits, 1);
        assert_true(letters(w, views, 2) >= 1);
        assert_string_equal(views[0].text.data, "BYTES");
        skip_lines(w);
        if (before + kept >= after)
            return;
    }
}

static void a_late_one_is_kept_too(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.solve_timeout_ms = 20000;
    options.max_letters = 10;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 30000);
    callback_undeliverable(w, "a1", "T1", "BYTES");
    callback_undeliverable(w, "a1", "T1", "BYTES");
    struct letter_view views[3];
    assert_int_equal(letters(w, views, 3), 2);
    assert_int_equal(views[0].kind, LETTER_OF_ANSWER);
    assert_string_equal(views[0].text.data, "BYTES");
    skip_lines(w);
    ask(w, "bob", .key = "K");
    expect(w, "[ 30000] answer bob r2 failed " BAD " (unknown) attempts 0 letter 2\n");
}

static void it_is_bought_again_only_if_that_letter_is_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 10000);
    assert_int_equal(w->tally.submits, 1);
    struct letter_filter one = every_letter();
    one.number = only_letter(w).number;
    order_letters(w, LETTER_REPLAY, one);
    pass(w, 10000);
    assert_int_equal(w->tally.submits, 2);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    /* Again nothing: one letter stands for both. */
    undeliverable(w, "a2", "OTHER");
    assert_string_equal(only_letter(w).text.data, "OTHER");
    skip_lines(w);
}

/* ---- nobody pays while its letter is kept ------------------------------------------------ */

/* One request of the crawler's had an answer that cannot be handed out. */
static struct world *world_with_answer(struct engine_options options, const char *idempotency)
{
    static const struct client_options equals[] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                   {.weight = 1, .budget_per_day = UINT64_MAX}};
    options.has_journal = true;
    options.clients = equals;
    options.client_count = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = idempotency);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    durable(w, w->seq);
    skip_lines(w);
    return w;
}

static unsigned submits_after(struct world *w, struct asking asking)
{
    const unsigned before = w->tally.submits;
    world_ask(w, "again", asking);
    skip_lines(w);
    return w->tally.submits - before;
}

static void assert_not_bought(struct world *w)
{
    const unsigned failed = w->tally.failed;
    assert_int_equal(submits_after(w, (struct asking){.key = "K"}), 0);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .idempotency = "I"}), 0);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .idempotency = "J"}), 0);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .reuse = REUSE_SINGLE}), 0);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .reuse = REUSE_NONE}), 0);
    assert_int_equal(w->tally.failed, failed + 5);
    assert_int_equal(explain(w, .key = "K").letter, 1);
}

static void drop_letters(struct world *w)
{
    order_letters(w, LETTER_DROP, every_letter());
    skip_lines(w);
}

static void it_is_not_bought_again_later_or_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), "I");
    assert_not_bought(w);
    pass(w, HOURS_MS(1));
    assert_not_bought(w);
    crash(w, ALL_RECORDS);
    assert_not_bought(w);
    assert_int_equal(only_letter(w).number, 1);
}

static void a_told_id_finds_out_by_a_poll(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), NULL);
    ask(w, "bob", .key = "K", .is_told = true);
    durable(w, w->seq);
    skip_lines(w);
    look(w, "bob", "r2", 0);
    expect(w, "[  6000] answer bob r2 failed " BAD " (unknown) attempts 0 letter 1 after 12\n");
    crash(w, ALL_RECORDS);
    durable(w, w->seq);
    skip_lines(w);
    assert_string_equal(peek(w, "r2"), "failed");
}

static void another_client_and_another_key_are_paid_for(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), NULL);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .client = 1}), 1);
    assert_int_equal(submits_after(w, (struct asking){.key = "L"}), 1);
    assert_int_equal(explain(w, .key = "M").letter, 0);
}

static void clients_that_share_solves_share_this_too(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.clients_share = true;
    struct world *w = world_with_answer(options, NULL);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .client = 1}), 0);
}

static void it_may_be_bought_again_once_its_letter_is_dropped(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), "I");
    drop_letters(w);
    assert_int_equal(explain(w, .key = "K").letter, 0);
    assert_int_equal(submits_after(w, (struct asking){.key = "K", .idempotency = "I"}), 1);
    crash(w, ALL_RECORDS);
    skip_lines(w);
}

/* Nothing is left that would name a letter which is gone. */
static void a_letter_that_gave_way_to_others_stops_nobody(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_letters = 1;
    struct world *w = world_with_answer(options, NULL);
    ask(w, "bob", .key = "L");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    undeliverable(w, "a2", "OTHER");
    skip_lines(w);
    assert_int_equal(explain(w, .key = "L").letter, 2);
    assert_int_equal(submits_after(w, (struct asking){.key = "K"}), 1);
}

static void an_open_breaker_does_not_hide_it(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), NULL);
    ask(w, "bob", .key = "L");
    rejected(w, "a2", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    skip_lines(w);
    assert_int_equal(explain(w, .key = "L").refusal, REFUSAL_BREAKER);
    assert_not_bought(w);
}

/* Letters of the same key that are about something else. */
static void no_other_letter_buys_it_either(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 20000;
    options.retry_transient = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "K", .reuse = REUSE_NONE);
    accepted(w, "a1", "T1");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a1", CLASS_TRANSIENT, "ERROR_INTERNAL");
    undeliverable(w, "a2", "BYTES");
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 10000);
    skip_lines(w);
    assert_int_equal(w->tally.submits, 2);
    struct letter_view views[3];
    assert_int_equal(letters(w, views, 3), 2);
    assert_false(views[0].is_replaying || views[1].is_replaying);
    assert_int_equal(gauges_of(w).replays, 0);
}

/* What is kept is still the answer, whatever became of the replay. */
static void a_replay_that_fails_leaves_the_letter_as_it_was(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_unsolvable = 0;
    struct world *w = world_with_answer(options, NULL);
    struct letter_filter one = every_letter();
    one.number = 1;
    order_letters(w, LETTER_REPLAY, one);
    pass(w, 1000);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    skip_lines(w);
    const struct letter_view view = only_letter(w);
    assert_string_equal(view.code.data, BAD);
    assert_int_equal(view.class, CLASS_UNKNOWN);
    assert_int_equal(view.note_count, 2);
    assert_not_bought(w);
}

static void a_replay_that_is_solved_settles_it(void **state)
{
    (void)state;
    struct world *w = world_with_answer(world_options(), NULL);
    struct letter_filter one = every_letter();
    one.number = 1;
    order_letters(w, LETTER_REPLAY, one);
    pass(w, 1000);
    solve(w, "a2", "T2", "TOKEN");
    assert_int_equal(gauges_of(w).letters, 0);
    assert_true(explain(w, .key = "K").would_hit);
    skip_lines(w);
}

static void a_pool_does_not_buy_it_for_ever(void **state)
{
    (void)state;
    struct world *w = pool_world(world_options(), (struct pool_options){.size = 1});
    tick(w);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    pass(w, HOURS_MS(1));
    ask(w, "ann", .key = "P", .pool = 1);
    pass(w, 1000);
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(gauges_of(w).letters, 1);
    drop_letters(w);
    pass(w, 1000);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_poll_that_brings_no_answer_is_a_letter_and_no_second_submit),
        STORY(nobody_needs_to_wait_for_an_answer_to_be_kept),
        STORY(a_callback_that_brings_no_answer_is_safe_before_it_is_acknowledged),
        STORY(a_crash_loses_no_bytes_and_buys_nothing_again),
        STORY(a_late_one_is_kept_too),
        STORY(it_is_bought_again_only_if_that_letter_is_asked_for),
        STORY(it_is_not_bought_again_later_or_after_a_restart),
        STORY(a_told_id_finds_out_by_a_poll),
        STORY(another_client_and_another_key_are_paid_for),
        STORY(clients_that_share_solves_share_this_too),
        STORY(it_may_be_bought_again_once_its_letter_is_dropped),
        STORY(a_letter_that_gave_way_to_others_stops_nobody),
        STORY(an_open_breaker_does_not_hide_it),
        STORY(no_other_letter_buys_it_either),
        STORY(a_replay_that_fails_leaves_the_letter_as_it_was),
        STORY(a_replay_that_is_solved_settles_it),
        STORY(a_pool_does_not_buy_it_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
