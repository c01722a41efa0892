/* Rows on disk: letters are the same after a restart, and nothing stays for ever that is over. */
#include "world.h"

#define URL "https://hooks.example.com/x"
#define DAYS_MS(days) HOURS_MS(24 * (uint64_t)(days))

static struct world *world_with_journal(void)
{
    struct engine_options options = world_options();
    options.has_journal = true;
    options.has_callbacks = true;
    options.notice_retries = 0;
    options.letter_alert_above = 1;
    return world_new(&options);
}

/* A proxy's fault of an address that does not listen: its request's end becomes a letter. */
static void write_letter_about_address(struct world *w, const char *key, const char *attempt,
                                       const char *request)
{
    ask(w, "ann", .key = key, .is_told = true, .pingback = URL);
    rejected(w, attempt, CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, request, NOTICE_REFUSED);
}

static void replay(struct world *w)
{
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
}

/* Borrowed from the engine, until it changes. */
static struct letter_view newest_letter(const struct world *w)
{
    struct letter_view view;
    const struct letter_filter every = every_letter();
    uint64_t cursor = 0;
    uint32_t total;
    assert_int_equal(engine_list_letters(w->engine, &every, &cursor, &view, 1, &total), 1);
    return view;
}

/* ---- letters ----------------------------------------------------------------------------- */

static void a_letter_about_an_address_is_the_same_after_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    write_letter_about_address(w, "K", "a1", "r1");
    pass(w, 1000);
    replay(w);
    told(w, "r1", NOTICE_REFUSED);
    const struct letter_view before = newest_letter(w);
    crash(w, ALL_RECORDS);
    const struct letter_view after = newest_letter(w);
    assert_int_equal(after.kind, LETTER_OF_NOTICE);
    assert_int_equal(after.number, before.number);
    assert_int_equal(after.request, before.request);
    assert_int_equal(after.class, before.class);
    assert_int_equal(after.created_wall_ms, before.created_wall_ms);
    assert_int_equal(after.replays, 1);
    assert_int_equal(after.note_count, 2);
    assert_string_equal(after.notes[1].code->data, "http_500");
    assert_string_equal(after.pingback.data, URL);
    assert_string_equal(after.text.data, "ERROR_BAD_PROXY");
    skip_lines(w);
}

static void a_letter_remembers_a_replay_that_failed(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 180000);
    replay(w);
    pass(w, 180000);
    crash(w, ALL_RECORDS);
    assert_int_equal(newest_letter(w).replays, 1);
    assert_int_equal(newest_letter(w).note_count, 2);
    skip_lines(w);
}

static void a_replay_after_a_restart_keeps_to_what_was_for_once(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .is_one_time = true);
    accepted(w, "a1", "T1");
    /* So long that nobody asks for the first task any more, and the replay submits. */
    pass(w, 600000);
    crash(w, ALL_RECORDS);
    replay(w);
    assert_int_equal(w->tally.submits, 2);
    accepted(w, "a2", "T2");
    callback(w, "a2", "T2", "TOKEN");
    ask(w, "bob", .key = "K", .is_one_time = true);
    assert_int_equal(w->tally.submits, 3);
    skip_lines(w);
}

static void the_next_letter_after_a_restart_has_a_number_of_its_own(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    write_letter_about_address(w, "K", "a1", "r1");
    /* Names of attempts begin with the moment of the start. */
    pass(w, 1000);
    crash(w, ALL_RECORDS);
    write_letter_about_address(w, "L", "a2", "r2");
    assert_int_equal(newest_letter(w).number, 2);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 2);
    skip_lines(w);
}

static void an_alert_about_many_letters_is_not_repeated_by_a_restart(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    write_letter_about_address(w, "K", "a1", "r1");
    write_letter_about_address(w, "L", "a2", "r2");
    assert_int_equal(w->tally.alerts, 1);
    pass(w, 1000);
    crash(w, ALL_RECORDS);
    write_letter_about_address(w, "M", "a3", "r3");
    assert_int_equal(w->tally.alerts, 1);
    skip_lines(w);
}

static void a_dropped_letter_does_not_come_back(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    write_letter_about_address(w, "K", "a1", "r1");
    order_letters(w, LETTER_DROP, every_letter());
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 0);
    skip_lines(w);
}

static void a_letter_that_grew_too_old_while_we_were_away_leaves_no_row(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    write_letter_about_address(w, "K", "a1", "r1");
    w->now_ms += DAYS_MS(8);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(disk_count(&w->disk, RECORD_LETTER), 0);
    skip_lines(w);
}

/* ---- the end of everything --------------------------------------------------------------- */

static void assert_nothing_is_left(const struct world *w)
{
    assert_int_equal(disk_count(&w->disk, RECORD_FLIGHT), 0);
    assert_int_equal(disk_count(&w->disk, RECORD_ATTEMPT), 0);
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 0);
    assert_int_equal(disk_count(&w->disk, RECORD_REQUEST), 0);
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 0);
    assert_int_equal(disk_count(&w->disk, RECORD_LETTER), 0);
}

/* Something of everything: shared, for one, by key, failed, given up and late. */
static void live(struct world *w)
{
    ask(w, "ann", .key = "K", .is_told = true, .idempotency = "I");
    ask(w, "bob", .key = "K", .is_told = true, .reuse = REUSE_SINGLE);
    ask(w, "cat", .key = "L", .is_told = true);
    ask(w, "dan", .key = "M", .idempotency = "J");
    ask(w, "eve", .key = "N", .is_told = true);
    callback(w, "a1", "T1", "OF ANN");
    accepted(w, "a2", "T2");
    rejected(w, "a3", CLASS_PROXY, "ERROR_BAD_PROXY");
    ambiguous(w, "a4");
    gone(w, "dan");
    pass(w, 50000);
    callback(w, "a4", "T4", "LATE");
}

static void when_all_is_over_nothing_is_left_on_disk(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    live(w);
    assert_true(disk_count(&w->disk, RECORD_REQUEST) > 0);
    pass(w, DAYS_MS(8));
    assert_nothing_is_left(w);
    skip_lines(w);
}

static void what_a_key_stood_for_before_leaves_no_row(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    ask(w, "ann", .key = "K", .idempotency = "I");
    callback(w, "a1", "T1", "OLD");
    for (int i = 0; i < 20; i++)
        ask(w, "bob", .key = "K");
    pass(w, 80000);
    ask(w, "ann", .key = "K", .idempotency = "I");
    callback(w, "a2", "T2", "NEW");
    for (int i = 0; i < 20; i++)
        ask(w, "bob", .key = "K");
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 1);
    pass(w, DAYS_MS(1));
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 0);
    skip_lines(w);
}

static void when_all_is_over_after_a_crash_nothing_is_left_on_disk(void **state)
{
    (void)state;
    struct world *w = world_with_journal();
    live(w);
    const journal_seq records = w->seq;
    for (journal_seq kept = 0; kept <= records; kept++) {
        w = world_with_journal();
        live(w);
        crash(w, kept);
        pass(w, DAYS_MS(8));
        assert_nothing_is_left(w);
        skip_lines(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_letter_about_an_address_is_the_same_after_a_restart),
        STORY(a_letter_remembers_a_replay_that_failed),
        STORY(a_replay_after_a_restart_keeps_to_what_was_for_once),
        STORY(the_next_letter_after_a_restart_has_a_number_of_its_own),
        STORY(an_alert_about_many_letters_is_not_repeated_by_a_restart),
        STORY(a_dropped_letter_does_not_come_back),
        STORY(a_letter_that_grew_too_old_while_we_were_away_leaves_no_row),
        STORY(when_all_is_over_nothing_is_left_on_disk),
        STORY(what_a_key_stood_for_before_leaves_no_row),
        STORY(when_all_is_over_after_a_crash_nothing_is_left_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
