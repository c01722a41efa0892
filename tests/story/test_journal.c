/* The order of records and deeds: durable before the first byte, before the answer, before the 200. */
#include "world.h"

static struct world *world_with_journal(bool has_callbacks)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = has_callbacks;
    return world_new(&options);
}

static void intent_before_the_submit_and_solution_before_the_answer(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "K");
    look(w, "bob", "r1", 0);
    expect(w, "[     0] journal 1 idempotency I of a flight\n"
              "[     0] journal 2 flight K\n"
              "[     0] journal 3 attempt a1\n"
              "[     0] submit a1 K after 3\n"
              "[     0] journal 4 request r1 waits\n"
              "[     0] answer bob r1 solving after 4\n"
              "[     0] journal 5 attempt a1 task T1\n"
              "[  1000] journal 6 books\n"
              "[  1000] journal 7 tally recaptcha_v2\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] journal 8 solution K \"TOKEN\" task T1 kept\n"
              "[  6000] journal 9 drop attempt a1\n"
              "[  6000] journal 10 idempotency I of a solution\n"
              "[  6000] answer ann r2 solved \"TOKEN\" source api attempts 1 after 8\n"
              "[  6000] journal 11 drop flight\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1 after 8\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1 after 8\n");
}

static void a_single_solution_is_recorded_as_handed_out_before_the_answer(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] journal 1 flight K\n"
              "[     0] journal 2 attempt a1\n"
              "[     0] submit a1 K after 2\n"
              "[     0] journal 3 attempt a1 task T1\n"
              "[  1000] journal 4 books\n"
              "[  1000] journal 5 tally recaptcha_v2\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] journal 6 solution K \"TOKEN\" task T1 kept\n"
              "[  6000] journal 7 drop attempt a1\n"
              "[  6000] journal 8 solution K \"TOKEN\" task T1 handed 1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 after 8\n"
              "[  6000] journal 9 drop flight\n");
}

static void a_banked_solution_is_recorded_as_handed_out_before_the_answer(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    ask(w, "bob again", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    expect(w, "[  6000] journal 9 idempotency I of a solution\n"
              "[  6000] journal 10 solution K \"TOKEN\" task T1 handed 1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1 after 10\n"
              "[  6000] journal 11 idempotency I of a solution\n"
              "[  6000] answer bob again r2 solved \"TOKEN\" source idempotent attempts 1"
              " replayed after 11\n");
}

/* Whoever would share it gets it alone too, so a crash must not hand it out again. */
static void a_solution_banked_for_one_is_recorded_whoever_takes_it(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] journal 9 solution K \"TOKEN\" task T1 handed 1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1 after 9\n");
}

static void a_callback_is_acknowledged_when_its_solution_is_safe(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K");
    callback(w, "a1", "T1", "TOKEN");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "OTHER");
    expect(w, "[     0] journal 1 flight K\n"
              "[     0] journal 2 attempt a1\n"
              "[     0] submit a1 K after 2\n"
              "[     0] journal 3 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 4 attempt a1 task T1 solved\n"
              "[     0] ack a1 after 4\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1 after 3\n"
              "[     0] journal 5 drop flight\n"
              "[     0] ack a1 after 5\n"
              "[     0] alert other solution a1\n"
              "[     0] journal 6 letter 1 ERROR_OTHER_SOLUTION (unknown)\n"
              "[     0] ack a1 after 6\n");
}

static void an_error_called_back_is_recorded_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback_failed(w, "a1", "T1", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] journal 1 flight K\n"
              "[     0] journal 2 attempt a1\n"
              "[     0] submit a1 K after 2\n"
              "[     0] journal 3 attempt a1 task T1\n"
              "[     0] journal 4 attempt a1 task T1 failed\n"
              "[     0] journal 5 flight K ERROR_BAD_PROXY (proxy)\n"
              "[     0] ack a1 after 5\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] journal 6 drop flight\n");
}

static void a_late_solution_is_recorded_before_it_is_acknowledged(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    gone(w, "ann");
    pass(w, 50000);
    skip_lines(w);
    callback(w, "a1", "T1", "LATE");
    expect(w, "[ 50000] journal 12 solution K \"LATE\" task T1 kept\n"
              "[ 50000] journal 13 attempt a1 task T1 solved\n"
              "[ 50000] ack a1 after 13\n");
}

static void an_answer_by_key_waits_until_the_keys_new_lifetime_is_safe(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    durable(w, w->seq);
    pass(w, 10000);
    skip_lines(w);
    ask(w, "retry", .key = "K", .idempotency = "I");
    expect(w, "[ 16000] journal 13 idempotency I of a solution\n"
              "[ 16000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed"
              " after 13\n");
}

static void each_further_submit_is_recorded_with_its_reason(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 45000);
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 1000);
    expect(w, "[     0] journal 1 flight K\n"
              "[     0] journal 2 attempt a1\n"
              "[     0] submit a1 K after 2\n"
              "[     0] journal 3 attempt a1 unheard\n"
              "[  1000] journal 4 books\n"
              "[  1000] journal 5 tally recaptcha_v2\n"
              "[ 45000] journal 6 attempt a1 unheard\n"
              "[ 45000] journal 7 flight K\n"
              "[ 45000] journal 8 attempt a2 because ERROR_AMBIGUOUS_SUBMIT (ambiguous)\n"
              "[ 45000] submit a2 K after 8\n"
              "[ 45000] journal 9 drop attempt a2\n"
              "[ 45000] journal 10 flight K\n"
              "[ 46000] journal 11 books\n"
              "[ 46000] journal 12 tally recaptcha_v2\n"
              "[ 46000] journal 13 attempt a3 because ERROR_NO_SLOT_AVAILABLE (busy)\n"
              "[ 46000] submit a3 K after 13\n");
}

static void the_end_of_a_poll_that_failed_is_recorded(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    skip_lines(w);
    failed(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[  6000] journal 6 drop attempt a1\n"
              "[  6000] journal 7 flight K\n"
              "[  6000] journal 8 attempt a2 because ERROR_CAPTCHA_UNSOLVABLE (unsolvable)\n"
              "[  6000] submit a2 K after 8\n");
}

/* With a full disk what memory has is handed out all the same, and each hand-out wants a record. */
static void whoever_asks_is_refused_while_too_many_records_wait_for_the_disk(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.max_records = 20;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    durable(w, w->seq);
    store_is(w, false);
    skip_lines(w);
    const journal_seq before = w->seq;
    w->is_quiet = true;
    for (int i = 0; i < 200; i++)
        ask(w, "bob", .key = "K", .is_told = true, .at_once = true);
    assert_in_range(w->seq - before, 10, 25);
    assert_true(w->tally.refused > 150);
    durable(w, w->seq);
    store_is(w, true);
    const unsigned refused = w->tally.refused;
    ask(w, "cat", .key = "K");
    assert_int_equal(w->tally.refused, refused);
    w->is_quiet = false;
    skip_lines(w);
}

/* Long texts fill the memory long before their number does. */
static void whoever_asks_is_refused_while_too_many_bytes_wait_for_the_disk(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.max_record_bytes = 32000;
    options.max_requests = options.max_per_flight = 1000;
    options.max_pingback_bytes = 1 << 20;
    struct world *w = world_new(&options);
    char address[1001] = "";
    memset(address, 'x', sizeof address - 1);
    w->is_quiet = true;
    for (int i = 0; i < 40; i++)
        ask(w, "ann", .key = "K", .pingback = address, .is_told = true, .at_once = true);
    assert_int_equal(w->tally.refused, 8);
    /* What is safe makes room: all but the last grain of it is known to be. */
    durable(w, w->seq / 2);
    for (int i = 0; i < 40; i++)
        ask(w, "bob", .key = "K", .pingback = address, .is_told = true, .at_once = true);
    assert_in_range(w->tally.refused, 8 + 22, 8 + 26);
    durable(w, w->seq);
    const unsigned refused = w->tally.refused;
    for (int i = 0; i < 30; i++)
        ask(w, "cat", .key = "K", .pingback = address, .is_told = true, .at_once = true);
    assert_int_equal(w->tally.refused, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(intent_before_the_submit_and_solution_before_the_answer),
        STORY(a_single_solution_is_recorded_as_handed_out_before_the_answer),
        STORY(a_banked_solution_is_recorded_as_handed_out_before_the_answer),
        STORY(a_solution_banked_for_one_is_recorded_whoever_takes_it),
        STORY(a_callback_is_acknowledged_when_its_solution_is_safe),
        STORY(an_error_called_back_is_recorded_before_it_is_acknowledged),
        STORY(a_late_solution_is_recorded_before_it_is_acknowledged),
        STORY(an_answer_by_key_waits_until_the_keys_new_lifetime_is_safe),
        STORY(each_further_submit_is_recorded_with_its_reason),
        STORY(the_end_of_a_poll_that_failed_is_recorded),
        STORY(whoever_asks_is_refused_while_too_many_records_wait_for_the_disk),
        STORY(whoever_asks_is_refused_while_too_many_bytes_wait_for_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
