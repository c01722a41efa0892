/* Joining: identical requests share one flight, and everybody is answered once (docs/design.md 5.4). */
#include "world.h"

#define CROWD 10000
#define BATCH 256

static void identical_requests_join_one_flight(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->submits, 1);
    assert_int_equal(stats_of(w)->flights, 1);
    assert_int_equal(stats_of(w)->answered_dedup_wait, 2);
}

static void different_requests_do_not_join(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n");
}

static void the_life_of_a_flight_can_be_traced(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->shows_flights = true;
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 1000);
    solve(w, "a2", "T2", "TOKEN");
    expect(w, "[     0]     flight 1 new -> queued\n"
              "[     0]     flight 1 queued -> submitting\n"
              "[     0] submit a1 K\n"
              "[     0]     limit cut to 1\n"
              "[     0]     flight 1 tries again after 1000 ms: ERROR_NO_SLOT_AVAILABLE\n"
              "[     0]     flight 1 submitting -> backing_off\n"
              "[  1000]     flight 1 backing_off -> queued\n"
              "[  1000]     flight 1 queued -> submitting\n"
              "[  1000] submit a2 K\n"
              "[  1000]     flight 1 submitting -> solving\n"
              "[6000..7000] poll a2 task T2\n"
              "[  7000]     flight 1 solving -> solved\n"
              "[  7000]     request solved, source api\n"
              "[  7000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
}

/* One flight, and somebody new in each of its states. */
static void requests_join_a_flight_in_every_state(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    options.has_callbacks = true;
    struct world *w = world_new(&options);
    ask(w, "other", .key = "L");
    ask(w, "queued", .key = "K");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    ask(w, "submitting", .key = "K");
    rejected(w, "a2", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    ask(w, "backing off", .key = "K");
    pass(w, 1000);
    ambiguous(w, "a3");
    ask(w, "ambiguous", .key = "K");
    pass(w, 45000);
    accepted(w, "a4", "T4");
    ask(w, "solving", .key = "K");
    callback(w, "a4", "T4", "TOKEN");
    expect(w, "[     0] submit a1 L\n"
              "[     0] answer other r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a2 K\n"
              "[  1000] submit a3 K\n"
              "[ 46000] submit a4 K\n"
              "[ 46000] ack a4\n"
              "[ 46000] answer queued r2 solved \"TOKEN\" source api attempts 3\n"
              "[ 46000] answer submitting r3 solved \"TOKEN\" source dedup_wait attempts 3\n"
              "[ 46000] answer backing off r4 solved \"TOKEN\" source dedup_wait attempts 3\n"
              "[ 46000] answer ambiguous r5 solved \"TOKEN\" source dedup_wait attempts 3\n"
              "[ 46000] answer solving r6 solved \"TOKEN\" source dedup_wait attempts 3\n");
}

static void a_failure_is_told_to_all_and_costs_one_flights_retries(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    rejected(w, "a1", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    rejected(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    rejected(w, "a3", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 K\n"
              "[     0] submit a3 K\n"
              "[     0] answer ann r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n"
              "[     0] answer bob r2 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n"
              "[     0] answer cat r3 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n");
    pass(w, 60000);
    assert_int_equal(stats_of(w)->failures_unsolvable, 1);
    assert_int_equal(stats_of(w)->failed, 3);
}

static void a_late_joiner_does_not_prolong_the_flight(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.poll_first_ms[0] = 300000;
    struct world *w = world_new(&options);
    ask(w, "early", .key = "K");
    accepted(w, "a1", "T1");
    pass(w, 179000);
    ask(w, "late", .key = "K");
    pass(w, 2000);
    expect(w, "[     0] submit a1 K\n"
              "[180000] answer early r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[180000] answer late r2 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n");
}

/* ---- caps -------------------------------------------------------------------------------- */

static void more_than_the_cap_per_flight_are_refused(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_per_flight = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer cat refused: too many requests wait for this very solve,"
              " retry after 5000\n"
              "[     0] submit a2 L\n");
    assert_int_equal(stats_of(w)->rejected, 1);
}

static void more_than_the_cap_per_client_are_refused_for_that_client_only(void **state)
{
    (void)state;
    const struct client_options clients[] = {
        {.weight = 1, .requests = 2, .budget_per_day = UINT64_MAX},
        {.weight = 1, .budget_per_day = UINT64_MAX},
    };
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "M", .client = 1);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "eve", .key = "L");
    ask(w, "fay", .key = "L");
    expect(w, "[  6000] answer fay refused: this client has too many requests waiting,"
              " retry after 5000\n");
    assert_int_equal(stats_of(w)->rejected, 2);
}

static void more_than_the_cap_of_all_requests_are_refused(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] answer cat refused: too many requests are waiting, retry after 5000\n");
}

static void more_than_the_cap_of_flights_are_refused_but_may_still_join(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flights = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    ask(w, "dan", .key = "L");
    expect(w, "[     0] submit a1 K\n"
              "[     0] submit a2 L\n"
              "[     0] answer cat refused: too many flights are under way, retry after 5000\n");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "cat", .key = "M");
    expect(w, "[  6000] submit a3 M\n");
}

static void a_caller_who_cannot_be_held_is_told_the_state(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer bob r1 solving\n");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    look(w, "bob", "r1", 30000);
    expect(w, "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

/* ---- waking ------------------------------------------------------------------------------ */

static struct world *crowded_world(void)
{
    struct engine_options options = world_options();
    options.max_requests = CROWD + 10;
    options.max_per_flight = CROWD;
    options.max_callers = CROWD + 10;
    options.max_finished = CROWD;
    options.wake_batch = BATCH;
    struct world *w = world_new(&options);
    w->is_quiet = true;
    for (unsigned i = 0; i < CROWD; i++)
        ask(w, "one of many", .key = "K");
    return w;
}

static void a_crowd_is_woken_in_bounded_batches(void **state)
{
    (void)state;
    struct world *w = crowded_world();
    assert_int_equal(w->tally.submits, 1);
    solve(w, "a1", "T1", "TOKEN");
    assert_int_equal(w->tally.solved, BATCH);
    unsigned turns = 1;
    for (unsigned before = 0; before != w->tally.solved; turns++) {
        before = w->tally.solved;
        /* As long as somebody waits the engine wants another turn at once. */
        assert_int_equal(engine_next_deadline(w->engine) == WORLD_START_MS + w->now_ms,
                         before < CROWD);
        tick(w);
        assert_true(w->tally.solved - before <= BATCH);
    }
    assert_int_equal(w->tally.solved, CROWD);
    assert_int_equal(w->tally.answers, CROWD);
    assert_int_equal(w->tally.submits, 1);
    assert_int_equal(turns - 1, CROWD / BATCH + 1);
    assert_int_equal(gauges_of(w).flights, 0);
}

/* Each answer carries the whole text: one of 64 KiB costs as much as many small ones. */
static void large_solutions_are_handed_out_to_fewer_at_a_time(void **state)
{
    (void)state;
    static char text[64 * 1024];
    const unsigned few = BATCH * ANSWER_UNIT_BYTES / (unsigned)sizeof text + 1;
    struct world *w = crowded_world();
    memset(text, 'x', sizeof text - 1);
    solve(w, "a1", "T1", text);
    assert_in_range(w->tally.solved, 1, few);
    for (unsigned before = 0; before != w->tally.solved;) {
        before = w->tally.solved;
        tick(w);
        assert_true(w->tally.solved - before <= few);
    }
    assert_int_equal(w->tally.solved, CROWD);
}

static void who_asks_during_the_waking_gets_the_solution_and_not_the_old_flight(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    const struct outlook outlook = explain(w, .key = "K");
    assert_true(outlook.would_hit && !outlook.would_join);
    ask(w, "newcomer", .key = "K");
    pass(w, 0);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer newcomer r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer bob r3 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer cat r4 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void who_asks_while_a_failure_is_told_gets_a_new_flight(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    ask(w, "dan", .key = "K");
    pass(w, 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a2 K\n"
              "[     0] answer bob r2 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] answer cat r3 failed ERROR_BAD_PROXY (proxy) attempts 1\n");
}

/* ---- looking ----------------------------------------------------------------------------- */

static void explain_foretells_without_touching(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_flights = 1;
    struct world *w = world_new(&options);
    struct outlook outlook = explain(w, .key = "K");
    assert_true(!outlook.would_hit && !outlook.would_join && outlook.refusal == REFUSAL_NONE);
    assert_int_equal(outlook.source, SOURCE_API);
    ask(w, "ann", .key = "K");
    outlook = explain(w, .key = "K");
    assert_true(!outlook.would_hit && outlook.would_join);
    assert_int_equal(outlook.source, SOURCE_DEDUP_WAIT);
    outlook = explain(w, .key = "L");
    assert_int_equal(outlook.refusal, REFUSAL_FULL_FLIGHTS);
    solve(w, "a1", "T1", "TOKEN");
    pass(w, 1000);
    outlook = explain(w, .key = "K");
    assert_true(outlook.would_hit && !outlook.would_join);
    assert_int_equal(outlook.source, SOURCE_DEDUP_CACHE);
    tick(w);
    outlook = explain(w, .key = "K");
    assert_int_equal(outlook.age_ms, 7000);
    assert_int_equal(outlook.expires_in_ms, 73000);
    assert_int_equal(stats_of(w)->requests, 1);
    assert_int_equal(stats_of(w)->cache_hits, 0);
    skip_lines(w);
}

static void flights_are_listed_page_by_page_while_they_are_under_way(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    options.slots = 3;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "bea", .key = "L");
    ask(w, "cat", .key = "M");
    ask(w, "dan", .key = "N");
    accepted(w, "a1", "T1");
    pass(w, 1000);
    rejected(w, "a3", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    /* One of its two requests is answered: it is over, and only the waking is left. */
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    struct flight_view views[2];
    uint64_t cursor = 0;
    assert_int_equal(engine_list_flights(w->engine, 0, &cursor, views, 2), 2);
    assert_string_equal(views[0].phase, "solving");
    assert_string_equal(views[0].task_id, "T1");
    assert_int_equal(views[0].state, REQUEST_SOLVING);
    assert_int_equal(views[0].age_ms, 1000);
    assert_int_equal(views[0].deadline_in_ms, 179000);
    assert_string_equal(views[1].phase, "backing_off");
    assert_string_equal(views[1].last_error, "ERROR_SERVER_ERROR");
    assert_int_equal(views[1].state, REQUEST_QUEUED);
    assert_int_equal(views[1].attempts, 1);
    assert_int_not_equal(cursor, 0);
    assert_int_equal(engine_list_flights(w->engine, 0, &cursor, views, 2), 1);
    assert_string_equal(views[0].phase, "submitting");
    assert_int_equal(views[0].requests, 1);
    assert_int_equal(cursor, 0);
    skip_lines(w);
}

/* ---- the shell's wishes ------------------------------------------------------------------ */

static void draining_refuses_the_new_and_finishes_the_old(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    drain(w);
    ask(w, "bob", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer bob refused: the gateway is shutting down, retry after 5000\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void whoever_still_waits_at_the_end_of_a_drain_is_refused_and_the_solve_goes_on(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    drain(w);
    assert_true(engine_dismiss_callers(w->engine));
    assert_false(engine_dismiss_callers(w->engine));
    tick(w);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann refused: the gateway is shutting down, retry after 5000\n"
              "[     0] answer bob refused: the gateway is shutting down, retry after 5000\n"
              "[5000..6000] poll a1 task T1\n");
    engine_check(w->engine);
}

static void an_unwritable_store_stops_submits_but_not_answers_from_memory(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "L");
    skip_lines(w);
    store_is(w, false);
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "M");
    rejected(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[  6000] answer cat r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer dan refused: the journal cannot be written, retry after 5000\n");
    store_is(w, true);
    expect(w, "[  6000] submit a3 L\n");
}

static void a_store_that_is_away_is_told_apart_from_one_that_is_full(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "L");
    skip_lines(w);
    store_goes_away(w);
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "M");
    rejected(w, "a2", CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w, "[  6000] answer cat r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer dan refused: the store cannot be reached, retry after 5000\n");
    store_is(w, false);
    ask(w, "eve", .key = "M");
    expect(w, "[  6000] answer eve refused: the journal cannot be written, retry after 5000\n");
    store_is(w, true);
    expect(w, "[  6000] submit a3 L\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(identical_requests_join_one_flight),
        STORY(different_requests_do_not_join),
        STORY(the_life_of_a_flight_can_be_traced),
        STORY(requests_join_a_flight_in_every_state),
        STORY(a_failure_is_told_to_all_and_costs_one_flights_retries),
        STORY(a_late_joiner_does_not_prolong_the_flight),
        STORY(more_than_the_cap_per_flight_are_refused),
        STORY(more_than_the_cap_per_client_are_refused_for_that_client_only),
        STORY(more_than_the_cap_of_all_requests_are_refused),
        STORY(more_than_the_cap_of_flights_are_refused_but_may_still_join),
        STORY(a_caller_who_cannot_be_held_is_told_the_state),
        STORY(a_crowd_is_woken_in_bounded_batches),
        STORY(large_solutions_are_handed_out_to_fewer_at_a_time),
        STORY(who_asks_during_the_waking_gets_the_solution_and_not_the_old_flight),
        STORY(who_asks_while_a_failure_is_told_gets_a_new_flight),
        STORY(explain_foretells_without_touching),
        STORY(flights_are_listed_page_by_page_while_they_are_under_way),
        STORY(draining_refuses_the_new_and_finishes_the_old),
        STORY(whoever_still_waits_at_the_end_of_a_drain_is_refused_and_the_solve_goes_on),
        STORY(an_unwritable_store_stops_submits_but_not_answers_from_memory),
        STORY(a_store_that_is_away_is_told_apart_from_one_that_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
