/* Adoption: when a gateway dies, one of those that share its store goes on with its paid tasks, by the
 * same ids. */
#include "lines.h"
#include "shared_world.h"

static struct member me(void)
{
    return (struct member){.id = DEAD_NODE + 1, .beat = 1, .is_self = true};
}

static struct member it(uint64_t beat)
{
    return (struct member){.id = DEAD_NODE, .beat = beat};
}

static struct member it_left(void)
{
    return (struct member){.id = DEAD_NODE, .beat = 1, .is_leaving = true};
}

/* ---- who is dead --------------------------------------------------------------------------- */

static void a_node_is_dead_when_its_beat_has_not_moved_for_a_lease(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    members(w, me(), it(1));
    pass(w, 4000);
    members(w, me(), it(2));
    pass(w, 6000);
    members(w, me(), it(2));
    pass(w, 3999);
    members(w, me(), it(2));
    expect(w, "");
    pass(w, 1);
    members(w, me(), it(2));
    expect(w, "[ 14000] adopt node 7\n");
}

static void while_the_store_was_away_nobody_died(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    members(w, me(), it(1));
    pass(w, 20000);
    members_after_a_break(w, me(), it(1));
    pass(w, 9999);
    members(w, me(), it(1));
    expect(w, "");
    pass(w, 1);
    members(w, me(), it(1));
    expect(w, "[ 30000] adopt node 7\n");
}

static void who_has_no_lease_of_its_own_adopts_nobody(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    pass(w, 20000);
    members_late(w, 9000, me(), it_left());
    expect(w, "");
    members(w, me(), it_left());
    expect(w, "[ 20000] adopt node 7\n");
}

static void a_node_that_left_is_adopted_at_once_but_not_by_one_that_leaves(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    members(w, me(), it_left());
    expect(w, "[     0] adopt node 7\n");
    members(w, me(), it_left());
    expect(w, "");
    not_adopted(w);
    drain(w);
    members(w, me(), it_left());
    expect(w, "");
}

static void another_that_was_faster_is_left_alone(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    members(w, me(), it_left());
    not_adopted(w);
    members(w, me());
    expect(w, "[     0] adopt node 7\n");
    members(w, me(), it_left());
    expect(w, "[     0] adopt node 7\n");
}

static void without_room_for_as_much_again_nobody_is_adopted(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flights = 1;
    struct world *w = leased_world(&options);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, "K", "f1");
    ask(w, "bob", .key = "L");
    members(w, me(), it_left());
    (void)adopted(w, 99);
    assert_int_equal(gauges_of(w).flights, 2);
    skip_lines(w);
    members(w, me(), (struct member){.id = 6, .is_leaving = true});
    expect(w, "");
}

/* ---- what goes on -------------------------------------------------------------------------- */

/* Ann was told r1, and her task is at the vendor. */
static struct world *world_with_will(size_t part)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, "K", "f1");
    members(w, me(), it_left());
    skip_lines(w);
    if (part > 0)
        (void)adopted(w, part);
    return w;
}

static void a_paid_task_is_polled_and_answered_by_the_same_id(void **state)
{
    (void)state;
    struct world *w = world_with_will(99);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[     1] release f1 K solved\n"
              "[     1] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->requests_adopted, 1);
    assert_int_equal(engine_tally(w->engine, 0, 0, TYPE_RECAPTCHA_V2)->requests_adopted, 1);
    assert_int_equal(stats_of(w)->requests, 1);
}

static void rows_may_come_in_parts_however_small(void **state)
{
    (void)state;
    struct world *w = world_with_will(1);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] poll a1 task T1\n"
              "[     1] release f1 K solved\n"
              "[     1] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

static void new_requests_for_the_key_join_the_adopted_flight(void **state)
{
    (void)state;
    struct world *w = world_with_will(99);
    ask(w, "bob", .key = "K");
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] poll a1 task T1\n"
              "[     1] release f1 K solved\n"
              "[     1] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void whoever_followed_it_waits_for_it_as_for_our_own(void **state)
{
    (void)state;
    struct world *w = world_with_will(0);
    ask(w, "bob", .key = "K", .is_told = true);
    follow(w, "f2");
    (void)adopted(w, 1);
    assert_int_equal(gauges_of(w).flights, 1);
    solved(w, "a1", "TOKEN");
    look(w, "worker", "r2", 0);
    expect(w, "[     0] claim f2 K\n"
              "[     0] answer bob r2 queued\n"
              "[     0] poll a1 task T1\n"
              "[     1] release f1 K solved\n"
              "[     1] answer worker r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

/* Told that it waits, bob is not refused although the flight that he waits for now is being claimed. */
static void whoever_followed_is_known_while_the_adopted_flight_is_claimed(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "bob", .key = "K", .is_told = true);
    follow(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    look(w, "worker", "r2", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     1] answer worker r2 queued\n");
}

static void an_adopted_follower_goes_on_as_our_own_flight(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "bob", .key = "K");
    won(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 1);
    assert_int_equal(gauges_of(w).flights, 1);
    solve(w, "a1", "T1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[5001..6001] poll a1 task T1\n"
              "[  6001] release f2 K solved\n"
              "[  6001] answer bob r2 solved \"TOKEN\" source api attempts 1\n"
              "[  6001] answer worker r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

/* Bob's claim, which waits for what his idempotency key stands for, dies under way. Of what they accept nothing is in
 * their rows, so that they take what there is. */
static void two_flights_of_a_key_are_content_with_its_solution(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    follow(w, "f1");
    pass(w, 10);
    ask(w, "bob", .key = "K", .idempotency = "I", .is_told = true);
    dies(w, NULL, NULL);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    pass(w, 10);
    found(w, "f1", "TOKEN", 5);
    look(w, "worker", "r1", 0);
    expect(w, "[    10] claim f1 K\n"
              "[    21] answer worker r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void who_repeated_its_idempotency_key_here_waits_for_the_adopted_flight(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE, .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, "I", "f1");
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    follow_replayed(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 1);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] poll a1 task T1\n"
              "[     1] release f1 I solved\n"
              "[     1] answer retry r2 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* Its flight waited for ours, which its idempotency key stands for. */
static void one_that_waited_for_our_idempotency_key_goes_on_as_our_flight(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE, .is_told = true);
    follow_replayed(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    won(w, "f2");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    solve(w, "a1", "T1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[5001..6001] poll a1 task T1\n"
              "[  6001] release f2 I solved\n"
              "[  6001] answer ann r2 solved \"TOKEN\" source api attempts 1\n"
              "[  6001] answer worker r1 solved \"TOKEN\" source idempotent attempts 1\n");
}

static void one_that_waited_for_our_idempotency_key_gets_our_solution(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "retry", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE, .is_told = true);
    follow_replayed(w, "f1");
    dies(w, NULL, NULL);
    ask(w, "ann", .key = "K", .idempotency = "I", .reuse = REUSE_SINGLE);
    won(w, "f2");
    solve(w, "a1", "T1", "TOKEN");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    look(w, "worker", "r1", 0);
    expect(w, "[  6001] answer worker r1 solved \"TOKEN\" source idempotent attempts 1"
              " replayed\n");
}

static void a_solution_that_it_had_answers_by_the_same_id(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    dies(w, NULL, NULL);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 2);
    look(w, "worker", "r1", 0);
    ask(w, "bob", .key = "K");
    expect(w, "[  6001] answer worker r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6001] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* The second attempt comes then, and not before. */
static void expect_resend_in(struct world *w, uint32_t in_ms)
{
    for (; in_ms > 1000; in_ms -= 1000) {
        pass(w, 1000);
        beat(w, 0);
    }
    pass(w, in_ms - 1);
    expect(w, "");
    pass(w, 1);
    assert_int_equal(w->attempt_count, 2);
    skip_lines(w);
}

/* Until it was adopted it may have sent what it intended, and it may still tell of it. */
static void a_submit_that_may_be_paid_for_is_waited_for_from_the_adoption_on(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    const uint32_t window_ms = w->options.ambiguity_window_ms;
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    dies(w, "K", "f1");
    pass(w, 9000);
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    /* A millisecond has passed since. */
    expect_resend_in(w, window_ms - 1);
}

/* The store counts adoptions. */
static void adopted_once(struct world *w)
{
    for (size_t i = 0; i < w->will.count; i++)
        if (w->will.log[i].kind == RECORD_FLIGHT)
            w->will.log[i].flight.adoptions = 1;
}

static void a_crash_of_the_adopter_does_not_shorten_that_wait(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    const uint32_t window_ms = w->options.ambiguity_window_ms;
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    ambiguous(w, "a1");
    dies(w, "K", "f1");
    adopted_once(w);
    pass(w, 9000);
    members(w, me(), it_left());
    (void)adopted(w, 99);
    w->kept_claim = w->will_claim;
    w->kept_number = w->will_number;
    crash(w, ALL_RECORDS);
    beat(w, 0);
    skip_lines(w);
    expect_resend_in(w, window_ms);
}

static void nor_does_one_before_it_has_heard_of_any_row(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    const uint32_t window_ms = w->options.ambiguity_window_ms;
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    dies(w, "K", "f1");
    adopted_once(w);
    pass(w, 9000);
    members(w, me(), it_left());
    adopted_unseen(w);
    beat(w, 0);
    skip_lines(w);
    expect_resend_in(w, window_ms);
}

static void what_was_only_queued_is_submitted_under_its_claim(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    pass(w, 8000);
    won(w, "f1");
    dies(w, "K", "f1");
    members(w, me(), it_left());
    skip_lines(w);
    (void)adopted(w, 99);
    expect(w, "[  8000] submit a1 K\n");
}

static void what_had_to_be_adopted_three_times_becomes_a_letter(void **state)
{
    (void)state;
    struct world *w = world_with_will(0);
    for (size_t i = 0; i < w->will.count; i++)
        if (w->will.log[i].kind == RECORD_FLIGHT)
            w->will.log[i].flight.adoptions = 3;
    (void)adopted(w, 99);
    look(w, "worker", "r1", 0);
    expect(w, "[     1] answer worker r1 failed ERROR_ADOPTED_TOO_OFTEN (transient) attempts 1\n");
    assert_int_equal(gauges_of(w).letters, 1);
}

static void a_letter_of_the_dead_is_ours_at_once_and_can_be_replayed(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    rejected(w, "a1", CLASS_ACCOUNT, "ERROR_IP_NOT_ALLOWED");
    assert_int_equal(gauges_of(w).letters, 1);
    dies(w, NULL, NULL);
    assert_int_equal(gauges_of(w).letters, 0);
    members(w, me(), it_left());
    (void)adopted(w, 99);
    assert_int_equal(gauges_of(w).letters, 1);
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 1);
    expect(w, "[     1] letters operator 1\n"
              "[     1] claim f2 K\n");
    won(w, "f2");
    expect(w, "[     2] submit a2 K\n");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    solved(w, "a2", "TOKEN");
    expect(w, "[  5915] poll a2 task T2\n"
              "[  6002] release f2 K solved\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

/* ---- meanwhile ----------------------------------------------------------------------------- */

static void a_callback_between_the_parts_waits_in_our_own_inbox(void **state)
{
    (void)state;
    struct world *w = world_with_will(0);
    adopted_partly(w, 2);
    callback(w, "a1", "T1", "TOKEN");
    told_fact(w, 5, "a1", "T1", "TOKEN");
    expect(w, "[     0] tell a1 task T1 \"TOKEN\"\n"
              "[     0] ack a1\n");
}

/* Its request is among the rows that are still to come. */
static void nobody_takes_over_a_flight_that_is_not_whole(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    dies(w, NULL, NULL);
    members(w, me(), it_left());
    skip_lines(w);
    adopted_partly(w, 2);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    expect(w, "[     0] claim f2 K or nothing\n");
}

static void a_large_node_is_adopted_in_small_steps(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flights = 400;
    options.max_requests = 800;
    options.max_callers = 800;
    options.step_batch = 4;
    options.slots = 400;
    struct world *w = leased_world(&options);
    beat(w, 0);
    w->is_quiet = true;
    for (int i = 0; i < 300; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_NONE, .is_told = true);
    pass(w, 1000);
    dies(w, NULL, NULL);
    members(w, me(), it_left());
    assert_true(adopted(w, 32) < 200);
    assert_int_equal(gauges_of(w).flights, 300);
    assert_int_equal(stats_of(w)->requests_adopted, 300);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_node_is_dead_when_its_beat_has_not_moved_for_a_lease),
        STORY(while_the_store_was_away_nobody_died),
        STORY(who_has_no_lease_of_its_own_adopts_nobody),
        STORY(a_node_that_left_is_adopted_at_once_but_not_by_one_that_leaves),
        STORY(another_that_was_faster_is_left_alone),
        STORY(without_room_for_as_much_again_nobody_is_adopted),
        STORY(a_paid_task_is_polled_and_answered_by_the_same_id),
        STORY(rows_may_come_in_parts_however_small),
        STORY(new_requests_for_the_key_join_the_adopted_flight),
        STORY(whoever_followed_it_waits_for_it_as_for_our_own),
        STORY(whoever_followed_is_known_while_the_adopted_flight_is_claimed),
        STORY(an_adopted_follower_goes_on_as_our_own_flight),
        STORY(two_flights_of_a_key_are_content_with_its_solution),
        STORY(who_repeated_its_idempotency_key_here_waits_for_the_adopted_flight),
        STORY(one_that_waited_for_our_idempotency_key_goes_on_as_our_flight),
        STORY(one_that_waited_for_our_idempotency_key_gets_our_solution),
        STORY(a_solution_that_it_had_answers_by_the_same_id),
        STORY(a_submit_that_may_be_paid_for_is_waited_for_from_the_adoption_on),
        STORY(a_crash_of_the_adopter_does_not_shorten_that_wait),
        STORY(nor_does_one_before_it_has_heard_of_any_row),
        STORY(what_was_only_queued_is_submitted_under_its_claim),
        STORY(what_had_to_be_adopted_three_times_becomes_a_letter),
        STORY(a_letter_of_the_dead_is_ours_at_once_and_can_be_replayed),
        STORY(a_callback_between_the_parts_waits_in_our_own_inbox),
        STORY(nobody_takes_over_a_flight_that_is_not_whole),
        STORY(a_large_node_is_adopted_in_small_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
