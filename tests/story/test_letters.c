/* Dead letters: what becomes one, what a replay does, how many are kept (docs/design.md 5.9). */
#include "world.h"

#define UNSOLVABLE "ERROR_CAPTCHA_UNSOLVABLE"

/* Fails the flight of this key for good; the next attempt's name is a<next>. */
static void let_die(struct world *w, const char *key, unsigned next)
{
    ask(w, "ann", .key = key);
    for (unsigned i = next; i < next + 3; i++) {
        char name[8] = {'a', (char)('0' + i / 10), (char)('0' + i % 10), '\0'};
        rejected(w, name, CLASS_UNSOLVABLE, UNSOLVABLE);
    }
}

static struct world *world_with_letter(void)
{
    struct world *w = world_new(NULL);
    let_die(w, "K", 1);
    skip_lines(w);
    assert_int_equal(gauges_of(w).letters, 1);
    return w;
}

static size_t list(struct world *w, struct letter_filter filter, struct letter_view *views,
                   size_t room)
{
    uint64_t cursor = 0;
    uint32_t total = 0;
    return engine_list_letters(w->engine, &filter, &cursor, views, room, &total);
}

/* ---- birth ------------------------------------------------------------------------------- */

static void a_letter_tells_the_whole_story(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "bob", .key = "K", .type = TYPE_TURNSTILE);
    pass(w, 500);
    rejected(w, "a1", CLASS_UNSOLVABLE, UNSOLVABLE);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    assert_int_equal(gauges_of(w).letters, 0);
    ask(w, "ann", .key = "K", .type = TYPE_TURNSTILE);
    ask(w, "bob", .key = "K", .type = TYPE_TURNSTILE);
    rejected(w, "a3", CLASS_UNSOLVABLE, UNSOLVABLE);
    accepted(w, "a4", "T4");
    pass(w, 6000);
    failed(w, "a4", CLASS_UNSOLVABLE, UNSOLVABLE);
    rejected(w, "a5", CLASS_ACCOUNT, "ERROR_IP_NOT_ALLOWED");
    skip_lines(w);
    struct letter_view view;
    assert_int_equal(list(w, every_letter(), &view, 1), 1);
    assert_int_equal(view.number, 1);
    assert_int_equal(view.class, CLASS_ACCOUNT);
    assert_int_equal(view.type, TYPE_TURNSTILE);
    assert_string_equal(view.code.data, "ERROR_IP_NOT_ALLOWED");
    assert_string_equal(view.params->data, "K");
    assert_int_equal(view.told, 2);
    assert_int_equal(view.created_wall_ms, WORLD_START_WALL_MS + 12500);
    assert_int_equal(view.note_count, 3);
    assert_string_equal(view.notes[1].code->data, UNSOLVABLE);
    assert_string_equal(view.notes[1].task_id->data, "T4");
    assert_int_equal(view.notes[1].took_ms, 6000);
    assert_int_equal(view.notes[1].wall_ms, WORLD_START_WALL_MS + 6500);
    assert_int_equal(view.notes[2].class, CLASS_ACCOUNT);
    assert_null(view.notes[2].task_id);
}

static void what_cost_nothing_or_was_the_callers_fault_is_no_letter(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "mistake", .key = "K");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "proxy", .key = "L");
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    ask(w, "leaves", .key = "M");
    gone(w, "leaves");
    rejected(w, "a3", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    ask(w, "holds the slot", .key = "N");
    ask(w, "never submitted", .key = "O");
    pass(w, 180000);
    /* The one that held the slot was on the wire, so it may have been paid for. */
    assert_int_equal(stats_of(w)->letters, 1);
    accepted(w, "a4", "T4");
    pass(w, 10000);
    assert_int_equal(stats_of(w)->letters, 1);
    skip_lines(w);
}

static void every_class_that_is_somebody_elses_fault_is_a_letter(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_busy = options.retry_unsolvable = 0;
    options.retry_transient = options.retry_unknown = 0;
    options.resend_ambiguous = false;
    struct world *w = world_new(&options);
    static const char *const keys[] = {"busy",    "unsolvable", "transient",
                                       "unknown", "ambiguous",  "paid"};
    for (int i = 0; i < 6; i++)
        ask(w, "ann", .key = keys[i]);
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    rejected(w, "a2", CLASS_UNSOLVABLE, UNSOLVABLE);
    not_sent(w, "a3");
    rejected(w, "a4", CLASS_UNKNOWN, "ERROR_WHAT");
    ambiguous(w, "a5");
    accepted(w, "a6", "T6");
    pass(w, 180000);
    static const enum error_class classes[] = {CLASS_TIMEOUT,   CLASS_AMBIGUOUS,  CLASS_UNKNOWN,
                                               CLASS_TRANSIENT, CLASS_UNSOLVABLE, CLASS_BUSY};
    struct letter_view views[8];
    assert_int_equal(list(w, every_letter(), views, 8), 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(views[i].class, classes[i]);
        assert_int_equal(views[i].note_count, 1);
        assert_int_equal(views[i].told, 1);
    }
    assert_string_equal(views[0].notes[0].task_id->data, "T6");
    skip_lines(w);
}

/* ---- replay ------------------------------------------------------------------------------ */

static void a_replay_starts_anew_and_banks_what_it_brings(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    order_letters(w, LETTER_REPLAY, every_letter());
    assert_int_equal(gauges_of(w).replays, 1);
    pass(w, 0);
    assert_int_equal(gauges_of(w).replays, 0);
    /* Its counters are new: it may be unsolvable twice again. */
    rejected(w, "a4", CLASS_UNSOLVABLE, UNSOLVABLE);
    solve(w, "a5", "T5", "TOKEN");
    assert_int_equal(gauges_of(w).letters, 0);
    ask(w, "bob", .key = "K");
    expect(w, "[     0] letters operator 1\n"
              "[     0] submit a4 K\n"
              "[     0] submit a5 K\n"
              "[5000..6000] poll a5 task T5\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 2\n");
    assert_int_equal(stats_of(w)->letters_replayed, 1);
    assert_int_equal(stats_of(w)->letters_settled, 1);
}

static void a_replay_joins_what_is_under_way_and_answers_who_waits(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    ask(w, "bob", .key = "K");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    ask(w, "cat", .key = "K");
    solve(w, "a4", "T4", "TOKEN");
    expect(w, "[     0] submit a4 K\n"
              "[     0] letters operator 1\n"
              "[5000..6000] poll a4 task T4\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

static void who_leaves_a_replay_does_not_end_it(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    let_die(w, "K", 1);
    ask(w, "other", .key = "L");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    ask(w, "bob", .key = "K");
    gone(w, "bob");
    assert_int_equal(gauges_of(w).flights, 2);
    skip_lines(w);
    rejected(w, "a4", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] answer other r2 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a5 K\n");
}

static void a_replay_that_fails_again_keeps_its_letter(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    order_letters(w, LETTER_REPLAY, every_letter());
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    order_letters(w, LETTER_REPLAY, every_letter());
    ask(w, "bob", .key = "K");
    rejected(w, "a4", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] letters operator 1\n"
              "[     0] letters operator 0\n"
              "[     0] submit a4 K\n"
              "[     0] letters operator 0\n"
              "[     0] answer bob r2 failed ERROR_BAD_PROXY (proxy) attempts 1\n");
    struct letter_view view;
    assert_int_equal(list(w, every_letter(), &view, 1), 1);
    assert_int_equal(view.number, 1);
    assert_int_equal(view.replays, 1);
    assert_int_equal(view.told, 2);
    assert_int_equal(view.note_count, 4);
    assert_int_equal(view.class, CLASS_PROXY);
    assert_false(view.is_replaying);
}

static void letters_of_one_thing_ride_together_and_all_learn_how_it_ended(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    let_die(w, "K", 4);
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 100);
    expect(w, "[     0] letters operator 2\n"
              "[     0] submit a7 K\n");
    rejected(w, "a7", CLASS_PROXY, "ERROR_BAD_PROXY");
    struct letter_view views[2];
    assert_int_equal(list(w, every_letter(), views, 2), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(views[i].note_count, 4);
        assert_string_equal(views[i].notes[3].code->data, "ERROR_BAD_PROXY");
    }
    /* One may go without taking the other's story along. */
    struct letter_filter first = every_letter();
    first.number = 1;
    order_letters(w, LETTER_DROP, first);
    assert_int_equal(list(w, every_letter(), views, 2), 1);
    assert_string_equal(views[0].notes[3].code->data, "ERROR_BAD_PROXY");
    skip_lines(w);
}

static void one_order_after_the_other_keeps_the_distance_too(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    let_die(w, "L", 4);
    skip_lines(w);
    struct letter_filter filter = every_letter();
    filter.number = 1;
    order_letters(w, LETTER_REPLAY, filter);
    pass(w, 10);
    filter.number = 2;
    order_letters(w, LETTER_REPLAY, filter);
    pass(w, 1000);
    expect(w, "[     0] letters operator 1\n"
              "[     0] submit a7 K\n"
              "[    10] letters operator 1\n"
              "[   100] submit a8 L\n");
}

static void who_may_not_start_lets_the_others_go_first(void **state)
{
    (void)state;
    static const struct client_options clients[] = {
        {.weight = 1, .budget_per_day = 1},
        {.weight = 1, .budget_per_day = UINT64_MAX},
    };
    struct engine_options options = world_options();
    options.retry_unsolvable = 0;
    options.client_count = 2;
    options.clients = clients;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNSOLVABLE, UNSOLVABLE);
    ask(w, "bob", .key = "L", .client = 1);
    rejected(w, "a2", CLASS_UNSOLVABLE, UNSOLVABLE);
    ask(w, "ann", .key = "M");
    accepted(w, "a3", "T3");
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    expect(w, "[     0] letters operator 2\n"
              "[   100] submit a4 L of client 1\n");
    assert_int_equal(gauges_of(w).replays, 1);
}

static void a_fresh_solution_settles_a_letter(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    ask(w, "bob", .key = "K");
    solve(w, "a4", "T4", "TOKEN");
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    expect(w, "[  6000] letters operator 1\n");
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(stats_of(w)->letters_settled, 1);
}

static void a_remembered_mistake_settles_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    ask(w, "bob", .key = "K");
    rejected(w, "a4", CLASS_CALLER, "ERROR_PAGEURL");
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 29999);
    assert_int_equal(gauges_of(w).letters, 1);
    pass(w, 200);
    expect(w, "[     0] letters operator 1\n"
              "[30000..30100] submit a5 K\n");
}

static void replays_keep_a_distance_and_wait_for_the_breaker(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    let_die(w, "K", 1);
    let_die(w, "L", 4);
    let_die(w, "M", 7);
    ask(w, "bob", .key = "N");
    rejected(w, "a10", CLASS_ACCOUNT, "IP_BANNED");
    skip_lines(w);
    struct letter_filter filter = every_letter();
    filter.class = CLASS_UNSOLVABLE;
    order_letters(w, LETTER_REPLAY, filter);
    pass(w, 15000);
    balance(w, "1");
    pass(w, 350);
    expect(w, "[     0] letters operator 3\n"
              "[ 15000] probe balance\n"
              "[ 15000] probe threads\n"
              "[ 15000] alert breaker closed IP_BANNED (account)\n"
              "[15000..15100] submit a11 K\n"
              "[15100..15200] submit a12 L\n"
              "[15200..15300] submit a13 M\n");
}

/* ---- orders ------------------------------------------------------------------------------ */

static void draining_does_not_wake_up_for_what_waits_to_be_replayed(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    let_die(w, "L", 4);
    order_letters(w, LETTER_REPLAY, every_letter());
    drain(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    skip_lines(w);
    /* Then steps are counted. Far timers of other things may be looked at on the way. */
    w->is_quiet = true;
    pass(w, 60000);
    assert_in_range(w->steps, 0, 20);
    assert_int_equal(gauges_of(w).replays, 0);
    assert_int_equal(gauges_of(w).letters, 2);
    assert_int_equal(stats_of(w)->letters_replayed, 0);
    expect(w, "");
}

/* How often ten seconds of draining woke it up. */
static unsigned steps_of_a_drain(struct world *w)
{
    drain(w);
    skip_lines(w);
    const unsigned before = w->steps;
    pass(w, 10000);
    skip_lines(w);
    return w->steps - before;
}

static void draining_puts_back_what_an_open_breaker_holds_back(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    options.retry_unsolvable = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNSOLVABLE, UNSOLVABLE);
    ask(w, "bob", .key = "N");
    rejected(w, "a2", CLASS_ACCOUNT, "IP_BANNED");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    assert_int_equal(gauges_of(w).replays, 2);
    assert_in_range(steps_of_a_drain(w), 0, 5);
    assert_int_equal(gauges_of(w).replays, 0);
    assert_int_equal(gauges_of(w).letters, 2);
    /* Whoever orders now is told that nothing will come of it. */
    order_letters(w, LETTER_REPLAY, every_letter());
    expect(w, "[ 11000] letters operator 0\n");
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).letters, 2);
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    expect(w, "[ 11000] letters operator 2\n");
}

static void draining_puts_back_what_a_spent_budget_holds_back(void **state)
{
    (void)state;
    static const struct client_options clients[] = {{.weight = 1, .budget_per_day = 1}};
    struct engine_options options = world_options();
    options.retry_unsolvable = 0;
    options.client_count = 1;
    options.clients = clients;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNSOLVABLE, UNSOLVABLE);
    ask(w, "ann", .key = "M");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a2", "TOKEN");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1000);
    assert_int_equal(gauges_of(w).replays, 1);
    assert_in_range(steps_of_a_drain(w), 0, 5);
    assert_int_equal(gauges_of(w).replays, 0);
    assert_int_equal(gauges_of(w).letters, 1);
}

static void what_waits_to_be_replayed_can_be_cancelled(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    order_letters(w, LETTER_REPLAY, every_letter());
    order_letters(w, LETTER_CANCEL, every_letter());
    pass(w, 1000);
    order_letters(w, LETTER_CANCEL, every_letter());
    expect(w, "[     0] letters operator 1\n"
              "[     0] letters operator 1\n"
              "[  1000] letters operator 0\n");
    assert_int_equal(gauges_of(w).letters, 1);
}

static void a_dropped_letter_takes_its_unsubmitted_replay_along(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    let_die(w, "K", 1);
    ask(w, "other", .key = "L");
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    assert_int_equal(gauges_of(w).queued, 1);
    order_letters(w, LETTER_DROP, every_letter());
    assert_int_equal(gauges_of(w).queued, 0);
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(stats_of(w)->letters_dropped, 1);
    skip_lines(w);
}

static void orders_reach_those_that_match(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    let_die(w, "K", 1);
    let_die(w, "L", 4);
    ask(w, "bob", .key = "M", .type = TYPE_IMAGE);
    rejected(w, "a7", CLASS_ACCOUNT, "IP_BANNED");
    skip_lines(w);
    struct letter_filter by_number = every_letter(), by_class = every_letter(),
                         by_type = every_letter(), by_code = every_letter(),
                         by_client = every_letter(), by_other = every_letter();
    by_number.number = 2;
    by_class.class = CLASS_UNSOLVABLE;
    by_type.type = TYPE_IMAGE;
    memcpy(by_code.code, "IP_BANNED", sizeof "IP_BANNED");
    by_client.has_client = by_other.has_client = true;
    by_other.client = 1;
    struct letter_view views[4];
    assert_int_equal(list(w, every_letter(), views, 4), 3);
    assert_int_equal(views[0].number, 3);
    assert_int_equal(views[2].number, 1);
    assert_int_equal(list(w, by_number, views, 4), 1);
    assert_int_equal(list(w, by_class, views, 4), 2);
    assert_int_equal(list(w, by_type, views, 4), 1);
    assert_int_equal(list(w, by_code, views, 4), 1);
    assert_int_equal(list(w, by_client, views, 4), 3);
    assert_int_equal(list(w, by_other, views, 4), 0);
    order_letters(w, LETTER_DROP, by_class);
    expect(w, "[     0] letters operator 2\n");
    assert_int_equal(gauges_of(w).letters, 1);
}

static void letters_are_listed_page_by_page(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    let_die(w, "K", 1);
    let_die(w, "L", 4);
    let_die(w, "M", 7);
    skip_lines(w);
    const struct letter_filter filter = every_letter();
    struct letter_view views[2];
    uint64_t cursor = 0;
    uint32_t total = 0;
    assert_int_equal(engine_list_letters(w->engine, &filter, &cursor, views, 2, &total), 2);
    assert_int_equal(total, 3);
    assert_int_equal(views[1].number, 2);
    assert_int_equal(cursor, 2);
    assert_int_equal(engine_list_letters(w->engine, &filter, &cursor, views, 2, &total), 1);
    assert_int_equal(views[0].number, 1);
    assert_int_equal(total, 3);
    assert_int_equal(cursor, 0);
}

/* ---- bounds ------------------------------------------------------------------------------ */

static void too_many_letters_push_the_oldest_out_and_alert_once(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_letters = 3;
    options.letter_alert_above = 1;
    struct world *w = world_new(&options);
    let_die(w, "K", 1);
    skip_lines(w);
    let_die(w, "L", 4);
    expect(w, "[     0] submit a4 L\n"
              "[     0] submit a5 L\n"
              "[     0] submit a6 L\n"
              "[     0] alert letters 2 " UNSOLVABLE " (unsolvable)\n"
              "[     0] answer ann r2 failed " UNSOLVABLE " (unsolvable) attempts 3\n");
    let_die(w, "M", 7);
    let_die(w, "N", 10);
    skip_lines(w);
    assert_int_equal(w->tally.alerts, 1);
    struct letter_view views[4];
    assert_int_equal(list(w, every_letter(), views, 4), 3);
    assert_int_equal(views[2].number, 2);
    /* Below the mark and above it again: that is news. */
    order_letters(w, LETTER_DROP, every_letter());
    let_die(w, "O", 13);
    let_die(w, "P", 16);
    skip_lines(w);
    assert_int_equal(w->tally.alerts, 2);
}

static void making_room_is_no_crossing_of_the_mark(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_letters = 2;
    options.letter_alert_above = 1;
    struct world *w = world_new(&options);
    let_die(w, "K", 1);
    let_die(w, "L", 4);
    assert_int_equal(w->tally.alerts, 1);
    let_die(w, "M", 7);
    let_die(w, "N", 10);
    assert_int_equal(w->tally.alerts, 1);
    assert_int_equal(gauges_of(w).letters, 2);
    skip_lines(w);
}

static void letters_are_kept_for_a_week(void **state)
{
    (void)state;
    struct world *w = world_with_letter();
    struct letter_view view;
    assert_int_equal(list(w, every_letter(), &view, 1), 1);
    assert_int_equal(view.expires_wall_ms - view.created_wall_ms, 7 * INT64_C(86400000));
    pass(w, 7 * UINT64_C(86400000) - 1);
    assert_int_equal(gauges_of(w).letters, 1);
    pass(w, 1);
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(stats_of(w)->letters_dropped, 1);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_letter_tells_the_whole_story),
        STORY(what_cost_nothing_or_was_the_callers_fault_is_no_letter),
        STORY(every_class_that_is_somebody_elses_fault_is_a_letter),
        STORY(a_replay_starts_anew_and_banks_what_it_brings),
        STORY(a_replay_joins_what_is_under_way_and_answers_who_waits),
        STORY(who_leaves_a_replay_does_not_end_it),
        STORY(a_replay_that_fails_again_keeps_its_letter),
        STORY(letters_of_one_thing_ride_together_and_all_learn_how_it_ended),
        STORY(one_order_after_the_other_keeps_the_distance_too),
        STORY(who_may_not_start_lets_the_others_go_first),
        STORY(a_fresh_solution_settles_a_letter),
        STORY(a_remembered_mistake_settles_nothing),
        STORY(replays_keep_a_distance_and_wait_for_the_breaker),
        STORY(draining_does_not_wake_up_for_what_waits_to_be_replayed),
        STORY(draining_puts_back_what_an_open_breaker_holds_back),
        STORY(draining_puts_back_what_a_spent_budget_holds_back),
        STORY(what_waits_to_be_replayed_can_be_cancelled),
        STORY(a_dropped_letter_takes_its_unsubmitted_replay_along),
        STORY(orders_reach_those_that_match),
        STORY(letters_are_listed_page_by_page),
        STORY(too_many_letters_push_the_oldest_out_and_alert_once),
        STORY(making_room_is_no_crossing_of_the_mark),
        STORY(letters_are_kept_for_a_week),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
