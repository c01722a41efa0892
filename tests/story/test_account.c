/* The account: what ERROR_ZERO_BALANCE means, and people who ask for the balance (docs/design.md 5.5). */
#include "world.h"

#define BROKE "ERROR_ZERO_BALANCE"

/* ---- ERROR_ZERO_BALANCE ------------------------------------------------------------------ */

static void zero_balance_with_all_threads_working_is_busy(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    rejected(w, "a2", CLASS_ACCOUNT, BROKE);
    threads(w, 10, 10);
    pass(w, 1000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] probe threads\n"
              "[  1000] submit a3 K\n");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    assert_int_equal(gauges_of(w).slots_limit, 1);
}

static void zero_balance_with_free_threads_is_the_account(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    rejected(w, "a2", CLASS_ACCOUNT, BROKE);
    threads(w, 3, 10);
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] probe threads\n"
              "[     0] alert breaker open " BROKE " (account)\n"
              "[     0] answer ann r1 failed " BROKE " (account) attempts 1, retry after 15000\n"
              "[     0] answer bob r2 failed " BROKE " (account) attempts 1, retry after 15000\n");
}

static void when_threads_cannot_be_told_the_balance_decides(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
    balance(w, "0");
    expect(w, "[     0] submit a1 K\n"
              "[     0] probe threads\n"
              "[     0] probe balance\n"
              "[     0] alert breaker open " BROKE " (account)\n"
              "[     0] answer ann r1 failed " BROKE " (account) attempts 1, retry after 15000\n");

    w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
    balance(w, "7.25");
    pass(w, 1000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] probe threads\n"
              "[     0] probe balance\n"
              "[  1000] submit a2 K\n");
}

static void when_nobody_can_tell_waiting_is_the_cheaper_mistake(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    probe_failed(w, PROBE_THREADS, CLASS_UNKNOWN, "ERROR_WHAT");
    probe_failed(w, PROBE_BALANCE, CLASS_UNKNOWN, "ERROR_WHAT");
    pass(w, 1000);
    expect(w, "[     0] submit a1 K\n"
              "[     0] probe threads\n"
              "[     0] probe balance\n"
              "[  1000] submit a2 K\n");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
}

static void somebody_elses_balance_does_not_judge_while_threads_are_asked(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    account(w, "bob", PROBE_BALANCE);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    /* A plan of threads has no balance; that they are all working is what counts. */
    balance(w, "0.000");
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    threads(w, 10, 10);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void a_verdict_concerns_only_those_who_wait_for_it(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    /* The probe is slow: the flight is tried again meanwhile, and fails for another reason. */
    pass(w, 1000);
    rejected(w, "a2", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    threads(w, 3, 10);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void zero_balance_for_ever_fails_as_busy_in_the_end(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    for (int i = 0; i < 6; i++) {
        static const char *const attempts[] = {"a1", "a2", "a3", "a4", "a5", "a6"};
        rejected(w, attempts[i], CLASS_ACCOUNT, BROKE);
        threads(w, 10, 10);
        pass(w, UINT64_C(1000) << i);
    }
    assert_int_equal(w->tally.probes, 6);
    assert_int_equal(stats_of(w)->failures_busy, 1);
    skip_lines(w);
}

static void a_verdict_is_heard_also_when_nobody_may_try_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_busy = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    threads(w, 3, 10);
    expect(w, "[     0] submit a1 K\n"
              "[     0] probe threads\n"
              "[     0] answer ann r1 failed " BROKE " (busy) attempts 1\n"
              "[     0] alert breaker open " BROKE " (account)\n");
    /* It was given: what is asked for other reasons later judges nobody. */
    pass(w, 15000);
    balance(w, "1");
    account(w, "bob", PROBE_THREADS);
    threads(w, 3, 10);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

static void a_thread_that_is_free_by_now_was_not_when_we_held_them_all(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "L", .is_told = true);
    ask(w, "cat", .key = "M", .is_told = true);
    accepted(w, "a1", "T1");
    rejected(w, "a3", CLASS_ACCOUNT, BROKE);
    /* The burst's last refusal comes when we hold fewer; what counts is the most. */
    rejected(w, "a2", CLASS_ACCOUNT, BROKE);
    threads(w, 1, 3);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    /* One alone, with two threads free, has no such excuse. */
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    rejected(w, "a4", CLASS_ACCOUNT, BROKE);
    threads(w, 1, 3);
    assert_int_equal(gauges_of(w).breaker, BREAKER_OPEN);
    skip_lines(w);
}

static void a_verdict_is_given_once(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.retry_base_ms = 10000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_ACCOUNT, BROKE);
    threads(w, 10, 10);
    /* Somebody else's question finds a thread free while the flight still backs off. */
    pass(w, 6000);
    account(w, "bob", PROBE_THREADS);
    threads(w, 3, 10);
    assert_int_equal(gauges_of(w).breaker, BREAKER_CLOSED);
    skip_lines(w);
}

/* ---- people who ask ---------------------------------------------------------------------- */

static void all_who_ask_for_the_balance_share_one_question(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    account(w, "ann", PROBE_BALANCE);
    account(w, "bob", PROBE_BALANCE);
    account(w, "cat", PROBE_THREADS);
    account(w, "dan", PROBE_THREADS);
    gone(w, "bob");
    balance(w, "1.5");
    threads(w, 2, 5);
    pass(w, 4999);
    account(w, "eve", PROBE_BALANCE);
    pass(w, 1);
    account(w, "fay", PROBE_BALANCE);
    probe_failed(w, PROBE_BALANCE, CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    account(w, "gil", PROBE_BALANCE);
    expect(w, "[     0] probe balance\n"
              "[     0] probe threads\n"
              "[     0] account ann balance 1.5\n"
              "[     0] account cat threads 2/5\n"
              "[     0] account dan threads 2/5\n"
              "[  4999] account eve balance 1.5\n"
              "[  5000] probe balance\n"
              "[  5000] account fay ERROR_SERVER_ERROR\n"
              "[  5000] probe balance\n");
}

static void a_flood_of_questions_is_refused(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->is_quiet = true;
    for (int i = 0; i < 4096; i++)
        account(w, "one of many", PROBE_BALANCE);
    w->is_quiet = false;
    account(w, "ann", PROBE_BALANCE);
    expect(w, "[     0] answer ann refused: too many requests are waiting, retry after 5000\n");
    assert_int_equal(w->tally.probes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(zero_balance_with_all_threads_working_is_busy),
        STORY(zero_balance_with_free_threads_is_the_account),
        STORY(when_threads_cannot_be_told_the_balance_decides),
        STORY(when_nobody_can_tell_waiting_is_the_cheaper_mistake),
        STORY(somebody_elses_balance_does_not_judge_while_threads_are_asked),
        STORY(a_verdict_concerns_only_those_who_wait_for_it),
        STORY(zero_balance_for_ever_fails_as_busy_in_the_end),
        STORY(a_verdict_is_heard_also_when_nobody_may_try_again),
        STORY(a_thread_that_is_free_by_now_was_not_when_we_held_them_all),
        STORY(a_verdict_is_given_once),
        STORY(all_who_ask_for_the_balance_share_one_question),
        STORY(a_flood_of_questions_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
