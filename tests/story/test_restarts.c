/* What a restart must not forget about what is under way: its terms, its attempts and its money. */
#include "world.h"

static struct world *world_with_journal(void)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    return world_new(&options);
}

/* ---- time -------------------------------------------------------------------------------- */

static void what_is_paid_for_is_fetched_however_long_we_were_away(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    w->now_ms += 200000;
    crash(w, ALL_RECORDS);
    pass(w, 20000);
    solved(w, "a1", "TOKEN");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    skip_lines(w);
}

/* ---- terms ------------------------------------------------------------------------------- */

static void the_higher_priority_still_goes_first(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    ask(w, "cat", .key = "M", .is_told = true, .priority = 5);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    solve(w, "a2", "T2", "OF CAT");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r3"), "solved");
    skip_lines(w);
}

static void a_one_time_solve_stays_one(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true, .is_one_time = true);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    ask(w, "bob", .key = "K", .is_one_time = true);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_one_time_solution_is_not_banked_by_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true, .is_one_time = true);
    accepted(w, "a1", "T1");
    const journal_seq before = w->seq;
    callback(w, "a1", "T1", "TOKEN");
    crash(w, before + 1);
    ask(w, "bob", .key = "K", .is_one_time = true);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void a_shared_solution_is_not_new_to_a_single_request(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    callback(w, "a1", "T1", "TOKEN");
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.solved, 1);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

/* ---- attempts ---------------------------------------------------------------------------- */

/* Nobody waits any more, but the vendor may still call back. */
static struct world *world_with_an_attempt_given_up(struct asking asking)
{
    struct world *w = world_with_journal();
    world_ask(w, "ann", asking);
    ambiguous(w, "a1");
    gone(w, "ann");
    pass(w, 50000);
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "LATE");
    return w;
}

static void what_comes_late_after_a_restart_serves_all_who_may_share_it(void **state)
{
    (void)state;
    struct world *w = world_with_an_attempt_given_up((struct asking){.key = "K"});
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    assert_int_equal(w->tally.submits, 1);
    skip_lines(w);
}

static void what_comes_late_after_a_restart_serves_nobody_if_its_input_was_for_once(void **state)
{
    (void)state;
    struct world *w =
        world_with_an_attempt_given_up((struct asking){.key = "K", .is_one_time = true});
    ask(w, "bob", .key = "K", .is_one_time = true);
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

static void of_two_attempts_the_newer_is_waited_for_and_the_older_listened_for(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true);
    ambiguous(w, "a1");
    pass(w, 45000);
    accepted(w, "a2", "T2");
    crash(w, ALL_RECORDS);
    skip_lines(w);
    pass(w, 0);
    expect(w, "[ 45000] poll a2 task T2\n");
    callback(w, "a1", "T1", "OF THE FIRST");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    skip_lines(w);
}

static void what_was_paid_for_before_and_never_came_is_a_letter(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    pass(w, 180000);
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

static void a_second_tasks_solution_is_one_letter_however_often_it_comes(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "ONE");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T2", "TWO");
    callback(w, "a1", "T2", "TWO");
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
}

/* ---- money ------------------------------------------------------------------------------- */

static void what_is_known_to_be_paid_for_is_not_paid_for_again(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.paid, 1);
    skip_lines(w);
}

static void what_a_hit_saves_is_known_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    callback(w, "a1", "T1", "TOKEN");
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K");
    assert_int_equal(stats_of(w)->slot_ms_saved, 6000);
    skip_lines(w);
}

static void what_waited_through_a_restart_is_booked_under_its_own_type(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE, .is_told = true);
    accepted(w, "a1", "T1");
    crash(w, ALL_RECORDS);
    callback(w, "a1", "T1", "TOKEN");
    assert_int_equal(engine_tally(w->engine, 0, 0, TYPE_TURNSTILE)->answered, 1);
    skip_lines(w);
}

static void what_was_spent_yesterday_is_not_spent_today(void **state)
{
    (void)state;
    static const struct client_options thrifty = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.has_journal = true;
    options.clients = &thrifty;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 1000);
    w->now_ms = HOURS_MS(12);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "L");
    assert_int_equal(w->tally.submits, 2);
    skip_lines(w);
}

/* One is paid for, one waits for its slot. */
static struct world *world_with_one_queued(const struct client_options *client)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.slots = 1;
    options.clients = client;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    accepted(w, "a1", "T1");
    return w;
}

static void what_was_queued_still_has_its_part_of_the_budget(void **state)
{
    (void)state;
    static const struct client_options client = {.weight = 1, .budget_per_day = 2};
    struct world *w = world_with_one_queued(&client);
    crash(w, ALL_RECORDS);
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.refused, 1);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    solve(w, "a2", "T2", "TOKEN");
    ask(w, "cat", .key = "M");
    assert_int_equal(w->tally.refused, 2);
    skip_lines(w);
}

static void what_was_queued_is_beyond_a_budget_that_a_restart_lowers(void **state)
{
    (void)state;
    static const struct client_options rich = {.weight = 1, .budget_per_day = 2};
    static const struct client_options poor = {.weight = 1, .budget_per_day = 1};
    struct world *w = world_with_one_queued(&rich);
    w->options.clients = &poor;
    crash(w, ALL_RECORDS);
    tick(w);
    durable(w, w->seq);
    assert_string_equal(peek(w, "r2"), "failed");
    skip_lines(w);
}

/* ---- books ------------------------------------------------------------------------------- */

/* Whoever asks is refused: a page with one line, written in one step. */
static struct world *world_without_money(void)
{
    static const struct client_options broke = {.weight = 1, .budget_per_day = 0};
    struct engine_options options = world_options();
    options.has_journal = true;
    options.clients = &broke;
    return world_new(&options);
}

static uint64_t requests_of_day(const struct world *w, unsigned days_ago)
{
    int64_t day;
    const uint64_t by_client = engine_tally(w->engine, days_ago, 0, TYPE_OTHER)->requests;
    assert_int_equal(engine_stats_of_day(w->engine, days_ago, &day)->requests, by_client);
    return by_client;
}

static void a_day_like_the_one_before_is_written_too(void **state)
{
    (void)state;
    struct world *w = world_without_money();
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    pass(w, 1000);
    w->now_ms = HOURS_MS(12);
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    pass(w, 1000);
    crash(w, ALL_RECORDS);
    assert_int_equal(requests_of_day(w, 0), 1);
    assert_int_equal(requests_of_day(w, 1), 1);
    skip_lines(w);
}

/* The page of the new day was the oldest one's, so a client that does the same again looks as if that were written. */
static void a_day_like_the_oldest_one_is_written_too(void **state)
{
    (void)state;
    struct world *w = world_without_money();
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    pass(w, 1000);
    for (unsigned day = 0; day <= STATS_DAYS; day++) {
        w->now_ms = HOURS_MS(12 + 24 * (uint64_t)day);
        tick(w);
        assert_int_equal(requests_of_day(w, 0), 0);
    }
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    pass(w, 1000);
    assert_int_equal(requests_of_day(w, 0), 1);
    crash(w, ALL_RECORDS);
    assert_int_equal(requests_of_day(w, 0), 1);
    assert_int_equal(requests_of_day(w, STATS_DAYS), 0);
    skip_lines(w);
}

static void the_last_second_of_a_day_is_written_at_midnight(void **state)
{
    (void)state;
    struct world *w = world_without_money();
    w->now_ms = HOURS_MS(12) - 500;
    ask(w, "ann", .key = "K", .type = TYPE_OTHER);
    w->now_ms = HOURS_MS(12);
    tick(w);
    crash(w, ALL_RECORDS);
    assert_int_equal(requests_of_day(w, 0), 0);
    assert_int_equal(requests_of_day(w, 1), 1);
    skip_lines(w);
}

/* ---- reasons ----------------------------------------------------------------------------- */

static struct world *world_with_an_unheard_submit(void)
{
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    crash(w, ALL_RECORDS);
    pass(w, 10000);
    crash(w, ALL_RECORDS);
    pass(w, 10000);
    crash(w, ALL_RECORDS);
    return w;
}

static void a_resend_says_so_however_often_we_restarted(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    ask(w, "bob", .key = "K");
    pass(w, 25000);
    crash(w, ALL_RECORDS);
    ask(w, "cat", .key = "K");
    callback(w, "a2", "T2", "TOKEN");
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    assert_int_equal(w->last_paid.number, 2);
    assert_string_equal(w->last_paid.code, "ERROR_AMBIGUOUS_SUBMIT");
    skip_lines(w);
}

static void a_resend_says_so_when_nobody_waited_at_the_end_of_the_window(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    pass(w, 30000);
    ask(w, "bob", .key = "K", .is_told = true);
    crash(w, ALL_RECORDS);
    pass(w, 1000);
    callback(w, "a2", "T2", "TOKEN");
    assert_int_equal(w->tally.submits, 2);
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    assert_int_equal(w->last_paid.number, 2);
    skip_lines(w);
}

static void an_unheard_submit_is_the_reason_of_one_resend(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    pass(w, 30000);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a2", "T2");
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    accepted(w, "a3", "T3");
    assert_int_equal(w->last_paid.cause, CAUSE_FIRST);
    assert_int_equal(w->last_paid.number, 1);
    skip_lines(w);
}

static void a_retry_says_so_when_a_crash_came_before_it(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_told = true);
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    crash(w, ALL_RECORDS);
    tick(w);
    accepted(w, "a2", "T2");
    assert_int_equal(w->last_paid.cause, CAUSE_RETRY);
    assert_int_equal(w->last_paid.number, 2);
    assert_string_equal(w->last_paid.code, "ERROR_NO_SLOT_AVAILABLE");
    skip_lines(w);
}

static void what_is_replayed_says_so_after_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    pass(w, 15000);
    balance(w, "5");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    crash(w, ALL_RECORDS);
    callback(w, "a2", "T2", "TOKEN");
    assert_int_equal(w->last_paid.cause, CAUSE_REPLAY);
    assert_int_equal(w->last_paid.number, 1);
    skip_lines(w);
}

static void the_letter_remembers_the_submit_nobody_heard_of(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    ask(w, "bob", .key = "K", .is_told = true);
    pass(w, 25000);
    crash(w, ALL_RECORDS);
    pass(w, 200000);
    struct letter_view letter;
    uint64_t cursor = 0;
    uint32_t total = 0;
    const struct letter_filter every = every_letter();
    assert_int_equal(engine_list_letters(w->engine, &every, &cursor, &letter, 1, &total), 1);
    assert_true(letter.note_count >= 2);
    assert_int_equal(letter.notes[0].class, CLASS_AMBIGUOUS);
    skip_lines(w);
}

static void an_unheard_submit_is_no_retry_of_who_asks_anew(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    pass(w, 30000);
    ask(w, "bob", .key = "K", .has_max_retries = true, .max_retries = 1);
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 5000);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void a_resend_says_so_without_callbacks(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    crash(w, ALL_RECORDS);
    pass(w, 50000);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .is_told = true);
    crash(w, ALL_RECORDS);
    pass(w, 46000);
    accepted(w, "a3", "T3");
    assert_int_equal(w->last_paid.cause, CAUSE_RESEND);
    assert_int_equal(w->last_paid.number, 3);
    skip_lines(w);
}

static void a_restart_does_not_make_it_the_reason_of_another(void **state)
{
    (void)state;
    struct world *w = world_with_an_unheard_submit();
    pass(w, 30000);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    callback(w, "a2", "T2", "TOKEN");
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    ask(w, "cat", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a3", "T3");
    assert_int_equal(w->last_paid.cause, CAUSE_FIRST);
    assert_int_equal(w->last_paid.number, 1);
    skip_lines(w);
}

static void what_the_flight_itself_sent_again_is_no_reason_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ambiguous(w, "a1");
    pass(w, 45000);
    callback(w, "a2", "T2", "TOKEN");
    durable(w, w->seq);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    accepted(w, "a3", "T3");
    assert_int_equal(w->last_paid.cause, CAUSE_FIRST);
    assert_int_equal(w->last_paid.number, 1);
    skip_lines(w);
}

static void a_submit_that_was_taken_back_is_not_counted_after_a_crash(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    /* The first has it written down with its submit, and the second has it outlive the crash. */
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K", .is_told = true);
    engine_stop_submits(w->engine);
    engine_forgo_submit(w->engine, w->attempts[0].id);
    tick(w);
    crash(w, ALL_RECORDS);
    tick(w);
    accepted(w, "a2", "T2");
    assert_int_equal(w->last_paid.cause, CAUSE_FIRST);
    assert_int_equal(w->last_paid.number, 1);
    skip_lines(w);
}

static void the_letter_has_the_reason_when_the_attempt_is_forgotten(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    crash(w, ALL_RECORDS);
    tick(w);
    rejected(w, "a2", CLASS_ACCOUNT, "ERROR_KEY_DOES_NOT_EXIST");
    struct letter_view letter;
    uint64_t cursor = 0;
    uint32_t total = 0;
    const struct letter_filter every = every_letter();
    assert_int_equal(engine_list_letters(w->engine, &every, &cursor, &letter, 1, &total), 1);
    assert_int_equal(letter.note_count, 2);
    assert_int_equal(letter.notes[0].class, CLASS_BUSY);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_is_paid_for_is_fetched_however_long_we_were_away),
        STORY(the_higher_priority_still_goes_first),
        STORY(a_one_time_solve_stays_one),
        STORY(a_one_time_solution_is_not_banked_by_a_crash),
        STORY(a_shared_solution_is_not_new_to_a_single_request),
        STORY(what_comes_late_after_a_restart_serves_all_who_may_share_it),
        STORY(what_comes_late_after_a_restart_serves_nobody_if_its_input_was_for_once),
        STORY(of_two_attempts_the_newer_is_waited_for_and_the_older_listened_for),
        STORY(what_was_paid_for_before_and_never_came_is_a_letter),
        STORY(a_second_tasks_solution_is_one_letter_however_often_it_comes),
        STORY(what_is_known_to_be_paid_for_is_not_paid_for_again),
        STORY(what_a_hit_saves_is_known_after_a_restart),
        STORY(what_waited_through_a_restart_is_booked_under_its_own_type),
        STORY(what_was_spent_yesterday_is_not_spent_today),
        STORY(what_was_queued_still_has_its_part_of_the_budget),
        STORY(what_was_queued_is_beyond_a_budget_that_a_restart_lowers),
        STORY(a_day_like_the_one_before_is_written_too),
        STORY(a_day_like_the_oldest_one_is_written_too),
        STORY(the_last_second_of_a_day_is_written_at_midnight),
        STORY(a_resend_says_so_however_often_we_restarted),
        STORY(a_resend_says_so_when_nobody_waited_at_the_end_of_the_window),
        STORY(an_unheard_submit_is_the_reason_of_one_resend),
        STORY(a_retry_says_so_when_a_crash_came_before_it),
        STORY(what_is_replayed_says_so_after_a_crash),
        STORY(the_letter_remembers_the_submit_nobody_heard_of),
        STORY(an_unheard_submit_is_no_retry_of_who_asks_anew),
        STORY(a_resend_says_so_without_callbacks),
        STORY(a_restart_does_not_make_it_the_reason_of_another),
        STORY(what_the_flight_itself_sent_again_is_no_reason_after_a_restart),
        STORY(a_submit_that_was_taken_back_is_not_counted_after_a_crash),
        STORY(the_letter_has_the_reason_when_the_attempt_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
