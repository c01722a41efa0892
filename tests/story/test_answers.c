/* Answers that nobody can be given: kept with their bytes, and not bought again (docs/design.md 5.9). */
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
    /* It is remembered as a caller's mistake is. */
    ask(w, "cat", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 failed " BAD " (unknown) attempts 1\n"
              "[  6000] answer bob r2 failed " BAD " (unknown) attempts 1\n"
              "[  6000] answer cat r3 failed " BAD " (caller) attempts 0\n");
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
    assert_int_equal(views[0].kind, LETTER_OF_SOLUTION);
    assert_string_equal(views[0].text.data, "BYTES");
    skip_lines(w);
}

static void it_is_bought_again_only_if_that_letter_is_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.caller_error_ttl_ms = 1000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    undeliverable(w, "a1", "BYTES");
    pass(w, 2000);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_poll_that_brings_no_answer_is_a_letter_and_no_second_submit),
        STORY(nobody_needs_to_wait_for_an_answer_to_be_kept),
        STORY(a_callback_that_brings_no_answer_is_safe_before_it_is_acknowledged),
        STORY(a_crash_loses_no_bytes_and_buys_nothing_again),
        STORY(a_late_one_is_kept_too),
        STORY(it_is_bought_again_only_if_that_letter_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
