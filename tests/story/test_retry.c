/* What each class of error leads to: counters, backoff, deadline and retry budget (docs/design.md 5.5). */
#include "world.h"

#include <stdio.h>

#define BUSY "ERROR_NO_SLOT_AVAILABLE"
#define TRANSIENT "ERROR_SERVER_ERROR"
#define UNSOLVABLE "ERROR_CAPTCHA_UNSOLVABLE"

/* ---- counters ---------------------------------------------------------------------------- */

static void busy_backs_off_five_times(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, BUSY);
    pass(w, 1000);
    rejected(w, "a2", CLASS_BUSY, BUSY);
    pass(w, 2000);
    rejected(w, "a3", CLASS_BUSY, BUSY);
    pass(w, 4000);
    rejected(w, "a4", CLASS_BUSY, BUSY);
    pass(w, 8000);
    rejected(w, "a5", CLASS_BUSY, BUSY);
    pass(w, 16000);
    rejected(w, "a6", CLASS_BUSY, BUSY);
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  3000] submit a3 K\n"
              "[  7000] submit a4 K\n"
              "[ 15000] submit a5 K\n"
              "[ 31000] submit a6 K\n"
              "[ 31000] answer ann r1 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 6\n");
    assert_int_equal(stats_of(w)->failures_busy, 1);
    assert_int_equal(stats_of(w)->retries, 5);
    assert_int_equal(stats_of(w)->submits_rejected, 6);
}

static void transient_faults_back_off_three_times(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    not_sent(w, "a1");
    pass(w, 1000);
    rejected(w, "a2", CLASS_TRANSIENT, TRANSIENT);
    pass(w, 2000);
    accepted(w, "a3", "T3");
    pass(w, 6000);
    failed(w, "a3", CLASS_TRANSIENT, TRANSIENT);
    pass(w, 4000);
    not_sent(w, "a4");
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  3000] submit a3 K\n"
              "[8000..9000] poll a3 task T3\n"
              "[ 13000] submit a4 K\n"
              "[ 13000] answer ann r1 failed ERROR_NOT_SENT (transient) attempts 4\n");
    assert_int_equal(stats_of(w)->failures_transient, 1);
    assert_int_equal(stats_of(w)->submits_not_sent, 2);
}

static void the_unsolvable_is_tried_twice_more_at_once(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "x");
    skip_lines(w);
    ask(w, "bob", .key = "L");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNSOLVABLE, UNSOLVABLE);
    accepted(w, "a3", "T3");
    pass(w, 6000);
    failed(w, "a3", CLASS_UNSOLVABLE, UNSOLVABLE);
    accepted(w, "a4", "T4");
    pass(w, 6000);
    failed(w, "a4", CLASS_UNSOLVABLE, UNSOLVABLE);
    expect(w, "[  6000] submit a2 L\n"
              "[11000..12000] poll a2 task T2\n"
              "[ 12000] submit a3 L\n"
              "[17000..18000] poll a3 task T3\n"
              "[ 18000] submit a4 L\n"
              "[23000..24000] poll a4 task T4\n"
              "[ 24000] answer bob r2 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n");
    assert_int_equal(stats_of(w)->failures_unsolvable, 1);
}

static void what_we_do_not_know_is_tried_once_more(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    pass(w, 1000);
    rejected(w, "a2", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  1000] answer ann r1 failed ERROR_NEW_MOON (unknown) attempts 2\n");
    assert_int_equal(stats_of(w)->failures_unknown, 1);
}

static void a_request_may_want_fewer_attempts_than_the_operator_allows(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .has_max_retries = true, .max_retries = 1);
    /* Who joins has no say in it. */
    ask(w, "joe", .key = "K");
    not_sent(w, "a1");
    pass(w, 1000);
    rejected(w, "a2", CLASS_BUSY, BUSY);
    ask(w, "bob", .key = "L", .has_max_retries = true, .max_retries = 0);
    pass(w, 1000);
    ambiguous(w, "a3");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  1000] answer ann r1 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 2\n"
              "[  1000] answer joe r2 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 2\n"
              "[  2000] submit a3 L\n"
              "[ 47000] answer bob r3 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n");
}

static void a_request_gets_no_more_attempts_than_the_operator_allows(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .has_max_retries = true, .max_retries = 100);
    rejected(w, "a1", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    pass(w, 1000);
    rejected(w, "a2", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  1000] answer ann r1 failed ERROR_NEW_MOON (unknown) attempts 2\n");
}

static void a_request_may_be_more_patient_than_the_operator_but_not_less(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .retry_delay_ms = 4000);
    ask(w, "bob", .key = "L", .retry_delay_ms = 1);
    ask(w, "cat", .key = "M", .retry_delay_ms = 3600000);
    not_sent(w, "a1");
    not_sent(w, "a2");
    not_sent(w, "a3");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] submit a3 M\n"
              "[  1000] submit a4 L\n"
              "[  4000] submit a5 K\n"
              "[ 60000] submit a6 M\n");
    skip_lines(w);
}

static void a_client_may_have_limits_of_its_own(void **state)
{
    (void)state;
    static const struct client_options clients[] = {
        {.weight = 1, .budget_per_day = UINT64_MAX},
        {.weight = 1,
         .budget_per_day = UINT64_MAX,
         .has_retry = true,
         .retry = {.base_ms = 200, .cap_ms = 300, .busy = 0, .transient = 2}},
    };
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .client = 1);
    not_sent(w, "a1");
    pass(w, 200);
    not_sent(w, "a2");
    pass(w, 300);
    not_sent(w, "a3");
    ask(w, "bob", .key = "L", .client = 1);
    rejected(w, "a4", CLASS_BUSY, BUSY);
    expect(w, "[     0] submit a1 K of client 1\n"
              "[   200] submit a2 K of client 1\n"
              "[   500] submit a3 K of client 1\n"
              "[   500] answer ann r1 failed ERROR_NOT_SENT (transient) attempts 3\n"
              "[   500] submit a4 L of client 1\n"
              "[   500] answer bob r2 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 1\n");
}

static void callers_and_proxies_mistakes_are_answered_at_once(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_CALLER, "ERROR_GOOGLEKEY");
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_PROXY, "ERROR_PROXY_CONNECTION_FAILED");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] answer ann r1 failed ERROR_GOOGLEKEY (caller) attempts 1\n"
              "[5000..6000] poll a2 task T2\n"
              "[  6000] answer bob r2 failed ERROR_PROXY_CONNECTION_FAILED (proxy) attempts 1\n");
    assert_int_equal(stats_of(w)->failures_caller, 1);
    assert_int_equal(stats_of(w)->failures_proxy, 1);
    assert_int_equal(stats_of(w)->letters, 0);
}

static void each_class_counts_for_itself(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, TRANSIENT);
    pass(w, 1000);
    rejected(w, "a2", CLASS_BUSY, BUSY);
    pass(w, 1000);
    rejected(w, "a3", CLASS_TRANSIENT, TRANSIENT);
    pass(w, 2000);
    rejected(w, "a4", CLASS_UNKNOWN, "ERROR_NEW_MOON");
    pass(w, 1000);
    rejected(w, "a5", CLASS_UNSOLVABLE, UNSOLVABLE);
    rejected(w, "a6", CLASS_BUSY, BUSY);
    pass(w, 2000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  2000] submit a3 K\n"
              "[  4000] submit a4 K\n"
              "[  5000] submit a5 K\n"
              "[  5000] submit a6 K\n"
              "[  7000] submit a7 K\n");
}

/* ---- backoff ----------------------------------------------------------------------------- */

static void backoff_stops_growing_at_the_cap(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_cap_ms = 3000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, BUSY);
    pass(w, 1000);
    rejected(w, "a2", CLASS_BUSY, BUSY);
    pass(w, 2000);
    rejected(w, "a3", CLASS_BUSY, BUSY);
    pass(w, 3000);
    rejected(w, "a4", CLASS_BUSY, BUSY);
    pass(w, 3000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  3000] submit a3 K\n"
              "[  6000] submit a4 K\n"
              "[  9000] submit a5 K\n");
}

static void retry_after_is_honoured_up_to_the_cap(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected_until(w, "a1", CLASS_BUSY, BUSY, 7000);
    pass(w, 7000);
    /* Ten years; and one that is shorter than we would wait anyway. */
    rejected_until(w, "a2", CLASS_BUSY, BUSY, UINT32_MAX);
    pass(w, 60000);
    rejected_until(w, "a3", CLASS_BUSY, BUSY, 100);
    pass(w, 4000);
    expect(w, "[     0] submit a1 K\n"
              "[  7000] submit a2 K\n"
              "[ 67000] submit a3 K\n"
              "[ 71000] submit a4 K\n");
}

static uint64_t moment_of_first_retry(uint64_t seed)
{
    struct engine_options options = world_options();
    options.retry_jitter_ms = 1000;
    options.secret[0] = seed;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, TRANSIENT);
    pass(w, 999);
    assert_int_equal(w->tally.submits, 1);
    uint64_t moment = 999;
    while (w->tally.submits == 1) {
        pass(w, 1);
        moment++;
    }
    skip_lines(w);
    return moment;
}

static void jitter_stays_within_its_bounds_and_uses_them(void **state)
{
    (void)state;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint64_t seed = 0; seed < 64; seed++) {
        const uint64_t moment = moment_of_first_retry(seed);
        least = moment < least ? moment : least;
        most = moment > most ? moment : most;
    }
    assert_in_range(least, 1000, 1200);
    assert_in_range(most, 1800, 2000);
}

/* ---- deadline ---------------------------------------------------------------------------- */

static void whoever_would_wait_beyond_the_deadline_fails_at_once(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 10000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, BUSY);
    pass(w, 1000);
    rejected_until(w, "a2", CLASS_BUSY, BUSY, 9000);
    expect(w, "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n"
              "[  1000] answer ann r1 failed ERROR_NO_SLOT_AVAILABLE (busy) attempts 2,"
              " retry after 9000\n");
}

static void the_deadline_ends_a_flight_in_every_state(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 3;
    options.solve_timeout_ms = 20000;
    options.has_callbacks = true;
    struct world *w = world_new(&options);
    ask(w, "submitting", .key = "K");
    ask(w, "ambiguous", .key = "L");
    ask(w, "solving", .key = "M");
    ask(w, "queued", .key = "N");
    ambiguous(w, "a2");
    accepted(w, "a3", "T3");
    pass(w, 20000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] submit a3 M\n"
              "[ 20000] answer submitting r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 20000] answer ambiguous r2 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 20000] answer solving r3 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 20000] answer queued r4 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 0\n");
    assert_int_equal(stats_of(w)->failures_timeout, 4);
    /* The vendor may still be at work on the three that were submitted. */
    assert_int_equal(gauges_of(w).slots_used, 3);
    pass(w, 25000);
    assert_int_equal(gauges_of(w).slots_used, 1);
    accepted(w, "a1", "T1");
    /* Those that were or may have been paid for: what became of the first was not known yet. */
    assert_int_equal(stats_of(w)->letters, 3);
}

static void a_reply_that_comes_after_a_long_stall_is_heard_before_the_deadline(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    skip_lines(w);
    /* The machine slept; the reply was waiting in its socket. */
    w->now_ms += 600000;
    solved(w, "a1", "TOKEN");
    tick(w);
    expect(w, "[606000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

/* ---- retry budget ------------------------------------------------------------------------ */

static struct world *crowd_of_flights(unsigned count, uint32_t permille)
{
    struct engine_options options = world_options();
    options.max_flights = 400;
    options.max_requests = 400;
    options.max_callers = 400;
    options.max_finished = 400;
    options.max_letters = 400;
    options.slots = 400;
    options.retry_budget_permille = permille;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    for (unsigned i = 0; i < count; i++)
        ask(w, "one of many", .key = "K", .reuse = REUSE_SINGLE);
    assert_int_equal(w->tally.submits, count);
    return w;
}

static void reject_all(struct world *w, unsigned from, unsigned to)
{
    for (unsigned number = from; number <= to; number++) {
        char name[WORLD_NAME_MAX];
        (void)snprintf(name, sizeof name, "a%u", number);
        rejected(w, name, CLASS_TRANSIENT, TRANSIENT);
    }
}

static void a_storm_of_failures_is_retried_only_up_to_the_floor(void **state)
{
    (void)state;
    struct world *w = crowd_of_flights(50, 200);
    reject_all(w, 1, 50);
    assert_int_equal(w->tally.failed, 30);
    pass(w, 1000);
    /* The others came back, so the limit that the busy answers did not touch lets them all go. */
    assert_int_equal(w->tally.submits, 70);
    /* Nobody gets a second retry: the minute's share is used up. */
    reject_all(w, 51, 70);
    assert_int_equal(w->tally.failed, 50);
    /* A minute later it is there again. */
    pass(w, 61000);
    ask(w, "one more", .key = "K", .reuse = REUSE_SINGLE);
    reject_all(w, 71, 71);
    assert_int_equal(w->tally.failed, 50);
}

static void resends_take_their_part_of_the_retries(void **state)
{
    (void)state;
    struct world *w = crowd_of_flights(21, 200);
    for (unsigned number = 1; number <= 20; number++) {
        char name[WORLD_NAME_MAX];
        (void)snprintf(name, sizeof name, "a%u", number);
        ambiguous(w, name);
    }
    pass(w, 45000);
    assert_int_equal(stats_of(w)->resends, 20);
    reject_all(w, 21, 21);
    assert_int_equal(w->tally.failed, 1);
}

static void many_submits_allow_their_share_of_retries(void **state)
{
    (void)state;
    struct world *w = crowd_of_flights(300, 200);
    reject_all(w, 1, 300);
    assert_int_equal(w->tally.failed, 240);
}

static void without_a_budget_everything_is_retried(void **state)
{
    (void)state;
    struct world *w = crowd_of_flights(50, 0);
    reject_all(w, 1, 50);
    assert_int_equal(w->tally.failed, 0);
    pass(w, 1000);
    assert_int_equal(w->tally.submits, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(busy_backs_off_five_times),
        STORY(transient_faults_back_off_three_times),
        STORY(the_unsolvable_is_tried_twice_more_at_once),
        STORY(what_we_do_not_know_is_tried_once_more),
        STORY(a_request_may_want_fewer_attempts_than_the_operator_allows),
        STORY(a_request_gets_no_more_attempts_than_the_operator_allows),
        STORY(a_request_may_be_more_patient_than_the_operator_but_not_less),
        STORY(a_client_may_have_limits_of_its_own),
        STORY(callers_and_proxies_mistakes_are_answered_at_once),
        STORY(each_class_counts_for_itself),
        STORY(backoff_stops_growing_at_the_cap),
        STORY(retry_after_is_honoured_up_to_the_cap),
        STORY(jitter_stays_within_its_bounds_and_uses_them),
        STORY(whoever_would_wait_beyond_the_deadline_fails_at_once),
        STORY(the_deadline_ends_a_flight_in_every_state),
        STORY(a_reply_that_comes_after_a_long_stall_is_heard_before_the_deadline),
        STORY(a_storm_of_failures_is_retried_only_up_to_the_floor),
        STORY(resends_take_their_part_of_the_retries),
        STORY(many_submits_allow_their_share_of_retries),
        STORY(without_a_budget_everything_is_retried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
