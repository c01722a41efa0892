/* The breaker: what opens it, its free probes, and storms of submits unheard of (docs/design.md 5.5). */
#include "world.h"

#define BAD_KEY "ERROR_KEY_DOES_NOT_EXIST"
#define BROKE "ERROR_ZERO_BALANCE"
#define UNCERTAIN "ERROR_UPSTREAM_UNCERTAIN"

/* ---- opening ----------------------------------------------------------------------------- */

static void an_account_error_fails_whatever_is_not_submitted_and_refuses_the_new(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 3;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "solving", .key = "L");
    ask(w, "backing off", .key = "M");
    ask(w, "queued", .key = "N");
    accepted(w, "a2", "T2");
    rejected(w, "a3", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    ask(w, "queued too", .key = "O");
    skip_lines(w);
    rejected(w, "a1", CLASS_ACCOUNT, BAD_KEY);
    expect(w,
           "[     0] alert breaker open " BAD_KEY " (account)\n"
           "[     0] answer backing off r1 failed " BAD_KEY " (account) attempts 1,"
           " retry after 15000\n"
           "[     0] answer queued too r2 failed " BAD_KEY " (account) attempts 0,"
           " retry after 15000\n"
           "[     0] answer ann r3 failed " BAD_KEY " (account) attempts 1, retry after 15000\n");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    assert_string_equal(gauges_of(w).breaker_cause, BAD_KEY);
    pass(w, 1000);
    ask(w, "new", .key = "P");
    ask(w, "joins", .key = "L");
    expect(w, "[  1000] answer new refused: vendor account unavailable (breaker open), " BAD_KEY
              ", retry after 14000\n");
    /* What is at the vendor is paid for and goes on. */
    pass(w, 5000);
    solved(w, "a2", "TOKEN");
    ask(w, "hits", .key = "L");
    expect(w, "[5000..6000] poll a2 task T2\n"
              "[  6000] answer solving r4 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer joins r5 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer hits r6 solved \"TOKEN\" source dedup_cache attempts 1\n");
    rejected(w, "a4", CLASS_ACCOUNT, BAD_KEY);
    expect(w, "[  6000] answer queued r7 failed " BAD_KEY " (account) attempts 1,"
              " retry after 9000\n");
    assert_int_equal(stats_of(w)->failures_account, 4);
}

static struct world *world_with_open_breaker(const char *code)
{
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, code);
    skip_lines(w);
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    return w;
}

/* ---- probing ----------------------------------------------------------------------------- */

static void the_probe_is_a_free_call_and_a_good_answer_closes_the_breaker(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(BAD_KEY);
    pass(w, 15000);
    assert_int_equal(gauges_of(w).breaker, BREAKER_PROBING);
    ask(w, "bob", .key = "L");
    balance(w, "12.5");
    ask(w, "cat", .key = "L");
    threads(w, 0, 10);
    pass(w, 600000);
    expect(w, "[ 15000] probe balance\n"
              "[ 15000] probe threads\n"
              "[ 15000] answer bob refused: vendor account unavailable (breaker open), " BAD_KEY
              ", retry after 1000\n"
              "[ 15000] alert breaker closed " BAD_KEY " (account)\n"
              "[ 15000] submit a2 L\n"
              "[195000] answer cat r2 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
    assert_string_equal(gauges_of(w).breaker_cause, "");
}

static void bad_news_twice_keep_it_open_and_the_next_probe_waits_longer(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(BAD_KEY);
    for (int round = 0; round < 7; round++) {
        pass(w, 300000);
        probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
        assert_int_equal(gauges_of(w).breaker, BREAKER_PROBING);
        probe_failed(w, PROBE_BALANCE, CLASS_ACCOUNT, "IP_BANNED");
        assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    }
    assert_string_equal(gauges_of(w).breaker_cause, "IP_BANNED");
    expect(w, "[ 15000] probe balance\n"
              "[ 15000] probe threads\n"
              "[330000] probe balance\n"
              "[330000] probe threads\n"
              "[660000] probe balance\n"
              "[660000] probe threads\n"
              "[1020000] probe balance\n"
              "[1020000] probe threads\n"
              "[1440000] probe balance\n"
              "[1440000] probe threads\n"
              "[1800000] probe balance\n"
              "[1800000] probe threads\n"
              "[2100000] probe balance\n"
              "[2100000] probe threads\n");
}

static void one_good_answer_of_two_is_enough(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(BAD_KEY);
    pass(w, 15000);
    probe_failed(w, PROBE_BALANCE, CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    assert_int_equal(gauges_of(w).breaker, BREAKER_PROBING);
    threads(w, 3, 10);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void a_broke_account_needs_means_and_not_just_an_answer(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    threads(w, 0, 0);
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    pass(w, 15000);
    balance(w, "0.000");
    threads(w, 0, 0);
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    pass(w, 30000);
    balance(w, "-3.5");
    balance(w, "0.01");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void when_it_opens_anew_the_first_probe_comes_soon_again(void **state)
{
    (void)state;
    struct world *w = world_with_open_breaker(BAD_KEY);
    pass(w, 15000);
    probe_failed(w, PROBE_BALANCE, CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    probe_failed(w, PROBE_THREADS, CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    pass(w, 30000);
    balance(w, "1.0");
    threads(w, 0, 10);
    ask(w, "bob", .key = "L");
    rejected(w, "a2", CLASS_ACCOUNT, BAD_KEY);
    skip_lines(w);
    pass(w, 15000);
    expect(w, "[ 60000] probe balance\n"
              "[ 60000] probe threads\n");
}

static void an_account_error_fails_also_what_waits_to_be_tried_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    ask(w, "bob", .key = "L");
    pass(w, 1000);
    assert_int_equal(gauges_of(w).queued, 1);
    rejected(w, "a2", CLASS_ACCOUNT, BAD_KEY);
    assert_int_equal(w->tally.failed, 2);
    skip_lines(w);
}

static void what_nobody_heard_of_is_not_sent_again_to_an_account_out_of_order(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ambiguous(w, "a1");
    pass(w, 44000);
    ask(w, "bob", .key = "L");
    rejected(w, "a2", CLASS_ACCOUNT, BAD_KEY);
    skip_lines(w);
    pass(w, 1000);
    expect(w, "[ 45000] answer ann r2 failed ERROR_AMBIGUOUS_SUBMIT (ambiguous) attempts 1\n");
}

/* ---- storms ------------------------------------------------------------------------------ */

static struct world *world_for_storms(void)
{
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.slots = 6;
    struct world *w = world_new(&options);
    for (int i = 0; i < 8; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    skip_lines(w);
    return w;
}

static void five_ambiguous_submits_in_ten_seconds_stop_all_submits(void **state)
{
    (void)state;
    struct world *w = world_for_storms();
    ambiguous(w, "a1");
    ambiguous(w, "a2");
    ambiguous(w, "a3");
    ambiguous(w, "a4");
    pass(w, 9999);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    ambiguous(w, "a5");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    ask(w, "bob", .key = "L");
    rejected(w, "a6", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[  9999] alert breaker open " UNCERTAIN " (ambiguous)\n"
              "[  9999] answer bob refused: vendor account unavailable (breaker open), " UNCERTAIN
              ", retry after 15000\n");
    /* Those in the queue were told nothing bad, and go on when the vendor answers again. */
    pass(w, 15000);
    balance(w, "0");
    expect(w, "[ 24999] probe balance\n"
              "[ 24999] probe threads\n"
              "[ 24999] alert breaker closed " UNCERTAIN " (ambiguous)\n"
              "[ 24999] submit a7 K\n");
}

static void a_storm_that_has_passed_is_not_held_against_the_next_submit(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.breaker_probe_ms = 2000;
    struct world *w = world_new(&options);
    static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5"};
    for (int i = 0; i < 6; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    for (int i = 0; i < 5; i++)
        ambiguous(w, attempts[i]);
    pass(w, 2000);
    balance(w, "1.0");
    ambiguous(w, "a6");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void five_ambiguous_submits_in_a_longer_time_do_not(void **state)
{
    (void)state;
    struct world *w = world_for_storms();
    ambiguous(w, "a1");
    pass(w, 5000);
    ambiguous(w, "a2");
    ambiguous(w, "a3");
    ambiguous(w, "a4");
    pass(w, 5001);
    ambiguous(w, "a5");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    ambiguous(w, "a6");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    skip_lines(w);
}

/* One in a hundred is how networks are, and five of many are no storm. */
static void five_ambiguous_submits_of_many_are_no_storm(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    options.slots = 30;
    struct world *w = world_new(&options);
    for (int i = 0; i < 30; i++)
        ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE, .is_told = true);
    ambiguous(w, "a1");
    ambiguous(w, "a2");
    ambiguous(w, "a3");
    ambiguous(w, "a4");
    ambiguous(w, "a5");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    ambiguous(w, "a6");
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    skip_lines(w);
}

static void a_storm_does_not_hide_an_account_error(void **state)
{
    (void)state;
    struct world *w = world_for_storms();
    rejected(w, "a6", CLASS_ACCOUNT, BAD_KEY);
    ambiguous(w, "a1");
    ambiguous(w, "a2");
    ambiguous(w, "a3");
    ambiguous(w, "a4");
    ambiguous(w, "a5");
    assert_string_equal(gauges_of(w).breaker_cause, BAD_KEY);
    skip_lines(w);
}

static void a_probe_that_finds_the_account_out_of_order_fails_the_queue(void **state)
{
    (void)state;
    struct world *w = world_for_storms();
    ambiguous(w, "a1");
    ambiguous(w, "a2");
    ambiguous(w, "a3");
    ambiguous(w, "a4");
    ambiguous(w, "a5");
    assert_int_equal(gauges_of(w).queued, 2);
    pass(w, 15000);
    probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
    probe_failed(w, PROBE_BALANCE, CLASS_ACCOUNT, BAD_KEY);
    assert_int_equal(gauges_of(w).queued, 0);
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    assert_int_equal(stats_of(w)->failures_account, 2);
    skip_lines(w);
    pass(w, 29999);
    expect(w, "");
    pass(w, 1);
    assert_int_equal(gauges_of(w).breaker, BREAKER_PROBING);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_account_error_fails_whatever_is_not_submitted_and_refuses_the_new),
        STORY(the_probe_is_a_free_call_and_a_good_answer_closes_the_breaker),
        STORY(bad_news_twice_keep_it_open_and_the_next_probe_waits_longer),
        STORY(one_good_answer_of_two_is_enough),
        STORY(a_broke_account_needs_means_and_not_just_an_answer),
        STORY(when_it_opens_anew_the_first_probe_comes_soon_again),
        STORY(an_account_error_fails_also_what_waits_to_be_tried_again),
        STORY(what_nobody_heard_of_is_not_sent_again_to_an_account_out_of_order),
        STORY(five_ambiguous_submits_in_ten_seconds_stop_all_submits),
        STORY(a_storm_that_has_passed_is_not_held_against_the_next_submit),
        STORY(five_ambiguous_submits_in_a_longer_time_do_not),
        STORY(five_ambiguous_submits_of_many_are_no_storm),
        STORY(a_storm_does_not_hide_an_account_error),
        STORY(a_probe_that_finds_the_account_out_of_order_fails_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
