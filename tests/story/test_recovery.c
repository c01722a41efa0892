/* Power off in the middle: what is paid for goes on, what may be is waited for, nothing is paid for twice. */
#include "world.h"

#include "base/assert.h"

static struct world *world_with_journal(bool has_callbacks)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = has_callbacks;
    return world_new(&options);
}

static void a_paid_task_is_polled_again_at_once(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    look(w, "ann", "r1", 0);
    solved(w, "a1", "TOKEN");
    look(w, "ann", "r1", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] answer ann r1 solving\n"
              "[     0] journal 1 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 2 drop attempt a1\n"
              "[     0] journal 3 drop flight\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1 after 1\n");
}

static void whoever_held_a_request_finds_its_solution_in_the_bank(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] journal 1 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 2 drop attempt a1\n"
              "[     0] journal 3 drop flight\n"
              "[     0] journal 4 solution K \"TOKEN\" task T1 handed 1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1 after 4\n");
}

static void a_retry_with_its_idempotency_key_joins_the_recovered_flight(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] journal 1 idempotency I of a flight\n"
              "[     0] journal 2 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 3 drop attempt a1\n"
              "[     0] journal 4 idempotency I of a solution\n"
              "[     0] journal 5 solution K \"TOKEN\" task T1 handed 1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source idempotent attempts 1 replayed"
              " after 5\n"
              "[     0] journal 6 drop flight\n");
}

static void an_intent_without_an_outcome_waits_out_its_window(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K", .is_told = true);
    pass(w, 20000);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 24999);
    expect(w, "[ 20000] journal 1 attempt a1 unheard\n");
    pass(w, 1);
    expect(w, "[ 45000] journal 2 attempt a1 unheard\n"
              "[ 45000] journal 3 flight K\n"
              "[ 45000] journal 4 attempt a2 because ERROR_AMBIGUOUS_SUBMIT (ambiguous)\n"
              "[ 45000] submit a2 K after 4\n");
}

static void the_callback_of_an_intent_from_before_the_crash_solves_it(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K", .is_told = true);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    callback(w, "a1", "T1", "TOKEN");
    look(w, "ann", "r1", 0);
    expect(w, "[     0] journal 1 attempt a1 unheard\n"
              "[     0] journal 2 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 3 attempt a1 task T1 solved\n"
              "[     0] ack a1 after 3\n"
              "[     0] journal 4 drop flight\n"
              "[     0] ack a1 after 4\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1 after 2\n");
}

static void a_repeated_callback_after_the_crash_is_absorbed(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K", .is_told = true);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    look(w, "ann", "r1", 0);
    assert_int_equal(stats_of(w)->callbacks_duplicate, 1);
    expect(w, "[     0] ack a1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_solution_on_disk_is_given_to_those_who_were_not_told_yet(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .is_told = true, .reuse = REUSE_SINGLE);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    skip_lines(w);
    const journal_seq before = w->seq;
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    /* Its solution was written, and neither the hand-out nor the end of the flight. */
    crash(w, before + 1);
    look(w, "ann", "r1", 0);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] journal 1 attempt a1 task T1 solved\n"
              "[  6000] journal 2 drop attempt a1\n"
              "[  6000] journal 3 solution K \"TOKEN\" task T1 handed 1\n"
              "[  6000] journal 4 drop flight\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 after 3\n"
              "[  6000] journal 5 flight K\n"
              "[  6000] journal 6 attempt a2\n"
              "[  6000] submit a2 K after 6\n");
}

/* Neither it nor the word that it is bad is forgotten with a restart. */
static void what_was_reported_bad_stays_with_those_who_have_it(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    skip_lines(w);
    for (unsigned restarts = 0; restarts < 3; restarts++) {
        crash(w, ALL_RECORDS);
        look(w, "bob", "r2", 0);
        look(w, "ann", "r1", 0);
        expect(
            w,
            "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1"
            " age 6000 left 74000\n"
            "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1 age 6000 left 74000\n");
    }
    ask(w, "cat", .key = "K");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void what_was_reported_bad_is_no_answer_to_its_idempotency_key_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .is_told = true, .reuse = REUSE_SINGLE, .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    report_bad(w, "ann", "r1");
    crash(w, ALL_RECORDS);
    skip_lines(w);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_single_solution_handed_out_is_not_handed_out_again(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .idempotency = "I");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[  6000] journal 1 idempotency I of a solution\n"
              "[  6000] answer ann r2 solved \"TOKEN\" source idempotent attempts 1 replayed"
              " after 1\n"
              "[  6000] journal 2 flight K\n"
              "[  6000] journal 3 attempt a2\n"
              "[  6000] submit a2 K after 3\n");
}

static void a_shared_solution_is_served_from_memory_with_what_is_left_of_its_life(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 10000);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 10000);
    ask(w, "bob", .key = "K", .type = TYPE_TURNSTILE);
    expect(w, "[ 26000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1 age"
              " 26000 left 224000\n");
}

static void a_clock_set_back_while_we_were_down_makes_nothing_live_longer(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    w->shows_ages = true;
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    w->wall_skew_ms = -HOURS_MS(1);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .type = TYPE_TURNSTILE);
    pass(w, 250000);
    ask(w, "cat", .key = "K", .type = TYPE_TURNSTILE);
    expect(w, "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1 age 0"
              " left 250000\n"
              "[  7000] journal 1 books\n"
              "[  7000] journal 2 tally turnstile\n"
              "[256000] journal 3 drop solution\n"
              "[256000] journal 4 flight K\n"
              "[256000] journal 5 attempt a2\n"
              "[256000] submit a2 K after 5\n");
}

static void what_was_queued_is_submitted_after_the_restart(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    look(w, "bob", "r2", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] journal 1 solution K \"TOKEN\" task T1 kept\n"
              "[     0] journal 2 drop attempt a1\n"
              "[     0] journal 3 drop flight\n"
              "[     0] journal 4 attempt a2\n"
              "[     0] submit a2 L after 4\n"
              "[     0] answer bob r2 solving\n");
}

static void nobody_waits_for_what_was_only_queued_for_held_callers(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).flights, 1);
    expect(w, "[     0] journal 1 attempt a1 unheard\n");
}

static void a_failure_is_remembered_for_those_who_know_their_ids(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .is_told = true);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    look(w, "ann", "r1", 0);
    expect(w, "[     0] journal 1 request r1 failed ERROR_BAD_PROXY (proxy)\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1 after 1\n");
}

static void a_failure_is_told_also_when_the_crash_came_before_the_requests_rows(void **state)
{
    (void)state;
    struct world *w = world_with_journal(false);
    ask(w, "ann", .key = "K", .is_told = true);
    const journal_seq before = w->seq;
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    /* The attempt is gone and the flight is over; the request still waits. */
    crash(w, before + 2);
    look(w, "ann", "r1", 0);
    expect(w, "[     0] journal 1 request r1 failed ERROR_BAD_PROXY (proxy)\n"
              "[     0] journal 2 drop flight\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 0 after 1\n");
}

static void letters_budgets_and_books_survive(void **state)
{
    (void)state;
    const struct client_options thrifty = {.weight = 1, .budget_per_day = 2};
    struct engine_options options = world_options();
    options.has_journal = true;
    options.clients = &thrifty;
    options.retry_transient = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 1000);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 1);
    int64_t day;
    const struct stats *page = engine_stats_of_day(w->engine, 0, &day);
    assert_int_equal(page->submits_accepted, 1);
    assert_int_equal(page->requests, 1);
    assert_int_equal(page->failed, 1);
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    expect(w, "[  7000] journal 1 flight L\n"
              "[  7000] journal 2 attempt a2\n"
              "[  7000] submit a2 L after 2\n"
              "[  7000] answer cat refused: this client's budget for today is used up, retry"
              " after 43193000\n");
}

static void a_solution_older_than_its_life_still_reaches_who_waited_for_it(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .type = TYPE_OTHER);
    accepted(w, "a1", "T1");
    pass(w, 100000);
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    look(w, "ann", "r1", 0);
    ask(w, "bob", .key = "K", .type = TYPE_OTHER);
    expect(w, "[100000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[100000] journal 1 flight K\n"
              "[100000] journal 2 attempt a2\n"
              "[100000] submit a2 K after 2\n");
}

/* The solution was written, but not yet that its attempt is done: the repeat must not be banked. */
static void a_repeated_callback_is_recognised_by_the_solution_it_brought(void **state)
{
    (void)state;
    struct world *w = world_with_journal(true);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    crash(w, before + 1);
    callback(w, "a1", "T1", "TOKEN");
    look(w, "ann", "r1", 0);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] journal 1 attempt a1 task T1 solved\n"
              "[     0] journal 2 solution K \"TOKEN\" task T1 handed 1\n"
              "[     0] journal 3 drop flight\n"
              "[     0] ack a1 after 3\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1 after 2\n"
              "[     0] journal 4 flight K\n"
              "[     0] journal 5 attempt a2\n"
              "[     0] submit a2 K after 5\n");
}

/* Every prefix of what a busy story wrote is a legal beginning. */
static void recovery_is_legal_from_every_prefix(void **state)
{
    (void)state;
    for (uint64_t kept = 0;; kept++) {
        struct world *w = world_with_journal(true);
        ask(w, "ann", .key = "K", .is_told = true);
        ask(w, "bob", .key = "K", .idempotency = "I");
        ask(w, "cat", .key = "L", .reuse = REUSE_SINGLE, .idempotency = "J");
        ask(w, "dan", .key = "M", .is_told = true, .reuse = REUSE_NONE);
        accepted(w, "a1", "T1");
        ambiguous(w, "a2");
        rejected(w, "a3", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
        callback(w, "a1", "T1", "TOKEN");
        pass(w, 46000);
        callback(w, "a2", "T2", "LATE");
        report_bad(w, "ann", "r1");
        ask(w, "eve", .key = "L", .reuse = REUSE_SINGLE);
        const bool was_all = kept > w->seq;
        skip_lines(w);
        crash(w, kept);
        pass(w, 300000);
        skip_lines(w);
        if (was_all)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_paid_task_is_polled_again_at_once),
        STORY(whoever_held_a_request_finds_its_solution_in_the_bank),
        STORY(a_retry_with_its_idempotency_key_joins_the_recovered_flight),
        STORY(an_intent_without_an_outcome_waits_out_its_window),
        STORY(the_callback_of_an_intent_from_before_the_crash_solves_it),
        STORY(a_repeated_callback_after_the_crash_is_absorbed),
        STORY(a_solution_on_disk_is_given_to_those_who_were_not_told_yet),
        STORY(what_was_reported_bad_stays_with_those_who_have_it),
        STORY(what_was_reported_bad_is_no_answer_to_its_idempotency_key_after_a_restart),
        STORY(a_single_solution_handed_out_is_not_handed_out_again),
        STORY(a_shared_solution_is_served_from_memory_with_what_is_left_of_its_life),
        STORY(a_clock_set_back_while_we_were_down_makes_nothing_live_longer),
        STORY(what_was_queued_is_submitted_after_the_restart),
        STORY(nobody_waits_for_what_was_only_queued_for_held_callers),
        STORY(a_failure_is_remembered_for_those_who_know_their_ids),
        STORY(a_failure_is_told_also_when_the_crash_came_before_the_requests_rows),
        STORY(letters_budgets_and_books_survive),
        STORY(a_solution_older_than_its_life_still_reaches_who_waited_for_it),
        STORY(a_repeated_callback_is_recognised_by_the_solution_it_brought),
        STORY(recovery_is_legal_from_every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
