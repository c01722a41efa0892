/* Followers: another gateway has the key's flight; requests here wait for its end, and pay nothing. */
#include "shared_world.h"

/* ---- the end -------------------------------------------------------------------------------- */

static void a_follower_is_woken_and_gets_the_solution(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K", .is_told = true);
    follow(w, "f1");
    ask(w, "cat", .key = "K");
    pass(w, 500);
    woken(w, "K");
    found(w, "f1", "TOKEN", 0);
    look(w, "worker", "r1", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer bob r1 queued\n"
              "[   500] claim f1 K again\n"
              "[   500] answer ann r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[   500] answer cat r3 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[   500] answer worker r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->flights, 0);
    assert_int_equal(stats_of(w)->answered_dedup_wait, 3);
}

static void a_lost_wake_up_costs_a_second(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    pass(w, 1000);
    follow_solving(w, "f1");
    pass(w, 1000);
    found(w, "f1", "TOKEN", 900);
    expect(w, "[     0] claim f1 K\n"
              "[  1000] claim f1 K again\n"
              "[  2000] claim f1 K again\n"
              "[  2000] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void an_end_that_overtakes_the_stores_answer_is_not_missed(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    woken(w, "K");
    follow(w, "f1");
    woken(w, "K");
    follow(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K again\n"
              "[     0] claim f1 K again\n");
}

static void wake_ups_about_other_keys_are_ignored(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    woken(w, "L");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    woken(w, "L");
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 L\n"
              "[     0] submit a1 L\n");
}

static void a_solution_that_expired_on_its_way_is_still_told(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    woken(w, "K");
    found(w, "f1", "TOKEN", 90000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K again\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void a_failure_is_told_with_code_and_class_and_makes_no_second_letter(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    woken(w, "K");
    remembered(w, "f1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K again\n"
              "[     0] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 2\n");
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(stats_of(w)->failures_unsolvable, 0);
}

static void given_up_by_the_other_node_it_is_solved_here(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K");
    follow(w, "f1");
    woken(w, "K");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 queued\n"
              "[     0] claim f1 K again\n"
              "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->flights, 1);
}

static void without_means_a_follower_that_wins_fails(void **state)
{
    (void)state;
    static const struct client_options none = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.clients = &none;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    drawn(w, 1, 0);
    woken(w, "K");
    skip_lines(w);
    won(w, "f1");
    expect(w, "[     0] release f1 K\n");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 failed ERROR_ZERO_BALANCE (account) attempts 0,"
              " retry after 43200000\n");
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void a_follower_holds_neither_slot_nor_budget(void **state)
{
    (void)state;
    static const struct client_options one = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.slots = 1;
    options.clients = &one;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    drawn(w, 1, 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 L\n"
              "[     0] draw used 0 need 1\n"
              "[     0] submit a1 L\n");
    assert_int_equal(gauges_of(w).queued, 0);
}

static void a_follower_says_whether_it_is_at_the_vendor(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    pass(w, 1000);
    follow_solving(w, "f1");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 queued\n"
              "[  1000] claim f1 K again\n"
              "[  1000] answer worker r1 solving\n");
}

static void a_follower_gives_up_at_its_deadline(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 1500;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    pass(w, 1000);
    pass(w, 1000);
    expect(w, "[     0] claim f1 K\n"
              "[  1000] claim f1 K again\n"
              "[  1500] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 0\n");
    /* What it asked for is decided too late, and nothing may be lost of it. */
    won(w, "f1");
    expect(w, "[  2000] release f1 K\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

static void a_follower_that_nobody_waits_for_is_forgotten(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    gone(w, "ann");
    woken(w, "K");
    pass(w, 10000);
    expect(w, "[     0] claim f1 K\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void a_store_that_is_away_is_asked_again(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    woken(w, "K");
    unavailable(w, "f1");
    pass(w, 1000);
    found(w, "f1", "TOKEN", 1000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K again\n"
              "[  1000] claim f1 K again\n"
              "[  1000] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void a_late_solution_of_our_own_ends_the_waiting(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    pass(w, 45000);
    ask(w, "bob", .key = "K");
    follow(w, "f2");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[ 20000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 40000] release f1 K\n"
              "[ 45000] claim f2 K\n"
              "[ 45000] ack a1\n"
              "[ 45000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 0\n");
}

/* Whichever of its rows a crash leaves. */
static void a_copy_of_a_single_use_solution_is_not_written_as_one_to_take(void **state)
{
    (void)state;
    uint64_t records = 1;
    for (uint64_t kept = 0; kept < records; kept++) {
        struct world *w = shared_world(NULL);
        w->is_quiet = true;
        ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
        found_replayed(w, "f1", "TOKEN", 0);
        records = w->seq;
        crash(w, kept);
        ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
        assert_int_equal(stats_of(w)->answered_dedup_cache, 0);
    }
    assert_true(records > 1);
}

/* ---- idempotency keys ------------------------------------------------------------------------- */

static void a_retry_at_another_node_gets_the_same_solution(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "retry", .key = "K", .idempotency = "I");
    found_replayed(w, "f1", "TOKEN", 5000);
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] answer retry r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    /* The other node's row is left alone. */
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 0);
    ask(w, "again", .key = "K", .idempotency = "I");
    expect(w, "[     0] answer again r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void a_retry_at_another_node_waits_for_the_same_solve(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    follow_replayed(w, "f1");
    woken(w, "I");
    found_replayed(w, "f1", "TOKEN", 0);
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] claim f1 K idempotency I again\n"
              "[     0] answer retry r1 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void
a_retry_waits_for_its_own_solve_although_others_are_content_with_an_older_one(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    ask(w, "retry", .key = "K", .idempotency = "I");
    follow_replayed(w, "f2");
    pass(w, 1000);
    found(w, "f1", "OLD", 2000);
    found_replayed(w, "f2", "TOKEN", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 K idempotency I\n"
              "[  1000] claim f1 K again\n"
              "[  1000] claim f2 K idempotency I again\n"
              "[  1000] answer ann r1 solved \"OLD\" source dedup_wait attempts 1\n"
              "[  1000] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* Its own flight would be a second one. */
static void after_a_restart_a_retry_still_waits_for_the_other_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    follow_replayed(w, "f1");
    ask(w, "again", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE, .is_told = true);
    skip_lines(w);
    crash(w, ALL_RECORDS);
    expect(w, "[     0] claim f1 K idempotency I\n");
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 0);
}

static void a_key_used_for_something_else_at_another_node_is_refused(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "K");
    ask(w, "retry", .key = "K", .idempotency = "I");
    mismatch(w, "f1");
    won(w, "f2");
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] claim f2 K\n"
              "[     0] answer ann refused: the idempotency key was used for something else\n"
              "[     0] answer retry refused: the idempotency key was used for something else\n"
              "[     0] submit a1 K\n");
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 0);
    assert_int_equal(gauges_of(w).idempotency, 0);
}

static void an_unknown_key_is_asked_about_even_if_memory_could_answer(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K", .idempotency = "I");
    mismatch(w, "f2");
    expect(w, "[  6000] claim f2 K idempotency I\n"
              "[  6000] answer bob refused: the idempotency key was used for something else\n");
}

static void with_a_new_key_a_request_joins_the_flight_of_its_own_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ask(w, "bob", .key = "K", .idempotency = "I", .is_told = true);
    follow_own(w, "f2", "f1");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "retry", .key = "K", .idempotency = "I");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[     0] claim f2 K idempotency I\n"
              "[     0] answer bob r1 solving\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer ann r2 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer retry r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void two_flights_of_one_node_become_one(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    ask(w, "bob", .key = "K");
    won(w, "f1");
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] claim f2 K\n"
              "[     0] submit a1 K\n");
    follow_own(w, "f2", "f1");
    assert_int_equal(gauges_of(w).flights, 1);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[5000..6000] poll a1 task T1\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void a_follower_with_a_key_joins_the_one_without(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    follow(w, "f1");
    ask(w, "bob", .key = "K", .idempotency = "I");
    follow(w, "f2");
    assert_int_equal(gauges_of(w).flights, 1);
    woken(w, "K");
    found(w, "f1", "TOKEN", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 K idempotency I\n"
              "[     0] claim f1 K again\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(disk_count(&w->disk, RECORD_IDEMPOTENCY), 1);
}

static void after_a_restart_a_shared_keys_retry_still_asks_with_its_idempotency_key(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "retry", .key = "K", .idempotency = "I", .is_told = true);
    follow_replayed(w, "f1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    tick(w);
    expect(w, "[     0] claim f1 K idempotency I\n");
    found_replayed(w, "f1", "TOKEN", 0);
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 solved \"TOKEN\" source idempotent attempts 1"
              " replayed\n");
}

/* One waits for another node, the other one has a key of its own and was won: after a restart nobody
 * is forgotten, however often. */
static void after_a_restart_two_flights_of_a_key_go_on_as_one(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    ask(w, "bob", .key = "K", .idempotency = "I", .is_told = true);
    won(w, "f2");
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash_with_claim(w, "K", "f2");
    crash_with_claim(w, "K", "f2");
    assert_int_equal(gauges_of(w).flights, 1);
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    look(w, "ann's worker", "r1", 0);
    look(w, "bob's worker", "r2", 0);
    ask(w, "retry", .key = "K", .idempotency = "I");
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] release f2 K solved\n"
              "[     0] answer ann's worker r1 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[     0] answer bob's worker r2 solved \"TOKEN\" source api attempts 1\n"
              "[     0] answer retry r3 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

static void a_bad_report_drops_every_copy(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 0);
    ask(w, "bob", .key = "K", .idempotency = "I");
    found(w, "f2", "TOKEN", 0);
    report_bad(w, "bob", "r2");
    ask(w, "cat", .key = "K");
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] claim f2 K idempotency I\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] tell all: K of a1 is bad\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] claim f3 K\n");
}

/* Meanwhile another node may have used the key for something else. */
static void nobody_joins_whose_key_is_asked_for_again_after_a_crash(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    follow(w, "f1");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    ask(w, "bob", .key = "K");
    mismatch(w, "f1");
    expect(w, "[     0] claim f1 K idempotency I\n"
              "[     0] claim f2 K\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_follower_is_woken_and_gets_the_solution),
        STORY(a_lost_wake_up_costs_a_second),
        STORY(an_end_that_overtakes_the_stores_answer_is_not_missed),
        STORY(wake_ups_about_other_keys_are_ignored),
        STORY(a_solution_that_expired_on_its_way_is_still_told),
        STORY(a_failure_is_told_with_code_and_class_and_makes_no_second_letter),
        STORY(given_up_by_the_other_node_it_is_solved_here),
        STORY(without_means_a_follower_that_wins_fails),
        STORY(a_follower_holds_neither_slot_nor_budget),
        STORY(a_follower_says_whether_it_is_at_the_vendor),
        STORY(a_follower_gives_up_at_its_deadline),
        STORY(a_follower_that_nobody_waits_for_is_forgotten),
        STORY(a_store_that_is_away_is_asked_again),
        STORY(a_late_solution_of_our_own_ends_the_waiting),
        STORY(a_copy_of_a_single_use_solution_is_not_written_as_one_to_take),
        STORY(a_retry_at_another_node_gets_the_same_solution),
        STORY(a_retry_at_another_node_waits_for_the_same_solve),
        STORY(a_retry_waits_for_its_own_solve_although_others_are_content_with_an_older_one),
        STORY(after_a_restart_a_retry_still_waits_for_the_other_node),
        STORY(a_key_used_for_something_else_at_another_node_is_refused),
        STORY(an_unknown_key_is_asked_about_even_if_memory_could_answer),
        STORY(with_a_new_key_a_request_joins_the_flight_of_its_own_node),
        STORY(two_flights_of_one_node_become_one),
        STORY(a_follower_with_a_key_joins_the_one_without),
        STORY(after_a_restart_a_shared_keys_retry_still_asks_with_its_idempotency_key),
        STORY(after_a_restart_two_flights_of_a_key_go_on_as_one),
        STORY(a_bad_report_drops_every_copy),
        STORY(nobody_joins_whose_key_is_asked_for_again_after_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
