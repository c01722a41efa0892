/* Claims: with a store that others share, a key is solved only by the gateway that has its claim. */
#include "shared_world.h"

/* ---- who may solve it ---------------------------------------------------------------------- */

static void a_key_is_claimed_before_it_is_submitted(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    expect(w, "[     0] claim f1 K\n");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->flights, 1);
}

static void a_store_that_nobody_shares_is_not_asked(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .idempotency = "I");
    expect(w, "[     0] submit a1 K\n");
    assert_int_equal(w->tally.claims, 0);
}

static void memory_answers_without_a_claim(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ask(w, "bob", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "K");
    assert_int_equal(w->tally.claims, 1);
    skip_lines(w);
}

static void retries_need_no_new_claim(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 1000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[  1000] submit a2 K\n");
}

static void reuse_none_needs_no_claim(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_NONE);
    expect(w, "[     0] submit a1 K\n");
}

static void no_two_nodes_give_a_flight_the_same_number(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.node = ENGINE_NODES - 1;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    assert_int_equal(w->claims[0].last.flight % ENGINE_NODES, ENGINE_NODES - 1);
    assert_int_equal(w->claims[1].last.flight - w->claims[0].last.flight, ENGINE_NODES);
    skip_lines(w);
}

/* ---- what callers are told meanwhile --------------------------------------------------------- */

static void nobody_is_told_anything_before_the_store_decides(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "vendor's dialect", .key = "K", .is_told = true);
    ask(w, "at once", .key = "K", .at_once = true);
    ask(w, "held", .key = "K");
    expect(w, "[     0] claim f1 K\n");
    won(w, "f1");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer vendor's dialect r1 solving\n"
              "[     0] answer at once r2 solving\n");
    solve(w, "a1", "T1", "TOKEN");
    look(w, "worker", "r1", 0);
    expect(w, "[5000..6000] poll a1 task T1\n"
              "[  6000] release f1 K solved\n"
              "[  6000] answer held r3 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

static void an_id_that_is_told_with_the_solution_can_be_read_later(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "worker", .key = "K", .is_told = true);
    found(w, "f1", "TOKEN", 79000);
    pass(w, 20000);
    look(w, "later", "r1", 0);
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer worker r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[ 20000] answer later r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void who_leaves_before_the_decision_costs_nothing(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    assert_int_equal(gauges_of(w).flights, 0);
    won(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[     0] release f1 K\n");
}

static void without_a_place_to_wait_a_request_is_refused(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 2;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K", .is_told = true);
    ask(w, "cat", .key = "K", .at_once = true);
    ask(w, "dan", .key = "L", .is_told = true);
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer cat refused: too many requests are waiting, retry after 5000\n"
              "[     0] answer dan refused: too many requests are waiting, retry after 5000\n");
}

/* ---- the store is away ----------------------------------------------------------------------- */

static void a_claim_that_nobody_answers_is_sent_again_until_the_deadline(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.solve_timeout_ms = 2500;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K", .is_told = true);
    unavailable(w, "f1");
    pass(w, 1000);
    unavailable(w, "f1");
    pass(w, 2000);
    expect(w, "[     0] claim f1 K\n"
              "[  1000] claim f1 K\n"
              "[  2000] claim f1 K\n"
              "[  2500] answer ann refused: the store cannot be reached, retry after 1000\n"
              "[  2500] answer bob refused: the store cannot be reached, retry after 1000\n");
    assert_int_equal(stats_of(w)->rejected, 2);
    assert_int_equal(gauges_of(w).requests, 0);
    won(w, "f1");
    expect(w, "[  3000] release f1 K\n");
}

static void a_caller_who_waits_less_is_refused_earlier(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "hasty", .key = "K", .hold_ms = 3000);
    ask(w, "patient", .key = "K");
    pass(w, 5000);
    won(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[  3000] answer hasty refused: the store cannot be reached, retry after 1000\n"
              "[  5000] submit a1 K\n");
}

/* ---- solutions of others ---------------------------------------------------------------------- */

static void a_solution_of_another_node_is_copied_into_memory(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    w->shows_ages = true;
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    found(w, "f1", "TOKEN", 30000);
    ask(w, "cat", .key = "K");
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 30000 left 50000\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1"
              " age 30000 left 50000\n"
              "[     0] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1"
              " age 30000 left 50000\n");
    assert_int_equal(stats_of(w)->flights, 0);
}

static void only_a_copy_that_a_row_refers_to_is_written(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 0);
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 0);
    ask(w, "bob", .key = "L", .is_told = true);
    found(w, "f2", "OTHER", 0);
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 1);
    crash(w, ALL_RECORDS);
    skip_lines(w);
    look(w, "worker", "r2", 0);
    expect(w, "[     0] answer worker r2 solved \"OTHER\" source dedup_cache attempts 1\n");
}

static void whoever_joins_may_want_a_fresher_one(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "picky", .key = "K", .max_age_ms = 5000);
    found(w, "f1", "OLD", 10000);
    won(w, "f1");
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f1 K max age 5000\n"
              "[     0] submit a1 K\n");
}

static void a_single_use_solution_of_another_node_is_taken(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    took(w, "f1", "TOKEN");
    won(w, "f2");
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] claim f2 K or nothing\n"
              "[     0] tell n3: K was taken\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] submit a1 K\n");
}

static void a_single_use_solution_that_nobody_waits_for_any_more_is_banked(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .reuse = REUSE_SINGLE);
    gone(w, "ann");
    took(w, "f1", "TOKEN");
    ask(w, "bob", .key = "K", .reuse = REUSE_SINGLE);
    took_own(w, "f2", "TOKEN");
    expect(w, "[     0] claim f1 K or nothing\n"
              "[     0] tell n3: K was taken\n"
              "[     0] claim f2 K or nothing, proposing one\n"
              "[     0] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* Another node may have given it to somebody. */
static void a_shared_solution_that_nobody_had_is_not_given_to_one_alone(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    ask(w, "alone", .key = "K", .reuse = REUSE_SINGLE);
    ask(w, "bob", .key = "K");
    expect(w, "[  6000] claim f2 K or nothing\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_mistake_that_another_node_remembers_is_refused_here(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    remembered(w, "f1", CLASS_CALLER, "ERROR_PAGEURL");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] claim f1 K\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 2\n"
              "[     0] answer bob r2 failed ERROR_PAGEURL (caller) attempts 0\n");
    assert_int_equal(gauges_of(w).letters, 0);
    assert_int_equal(stats_of(w)->failures_caller, 0);
}

/* ---- ends -------------------------------------------------------------------------------------- */

static void a_failure_is_published_with_its_code_and_class(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[     0] release f1 K ERROR_PAGEURL (caller) attempts 1 for 30000\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n");
}

static void a_flight_that_is_given_up_before_its_submit_releases_its_key(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = shared_world(&options);
    ask(w, "other", .key = "L");
    won(w, "f1");
    ask(w, "ann", .key = "K");
    won(w, "f2");
    gone(w, "ann");
    expect(w, "[     0] claim f1 L\n"
              "[     0] submit a1 L\n"
              "[     0] claim f2 K\n"
              "[     0] release f2 K\n");
}

static void a_key_whose_client_went_is_not_remembered_as_a_mistake(void **state)
{
    (void)state;
    static const struct client_options here = {.weight = 1, .budget_per_day = UINT64_MAX};
    static const struct client_options gone = {
        .weight = 1, .budget_per_day = UINT64_MAX, .is_gone = true};
    struct engine_options options = world_options();
    options.slots = 1;
    options.clients = &here;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "L");
    won(w, "f1");
    ask(w, "bob", .key = "K");
    won(w, "f2");
    w->options.clients = &gone;
    engine_configure(w->engine, &w->options);
    skip_lines(w);
    rejected(w, "a1", CLASS_CALLER, "ERROR_PAGEURL");
    tick(w);
    expect(w, "[     0] release f1 L ERROR_PAGEURL (caller) attempts 1 for 30000\n"
              "[     0] answer ann r1 failed ERROR_PAGEURL (caller) attempts 1\n"
              "[     0] release f2 K ERROR_CLIENT_GONE (caller) attempts 0\n"
              "[     0] answer bob r2 failed ERROR_CLIENT_GONE (caller) attempts 0\n");
}

static void a_stray_keeps_the_claim_while_it_may_be_solved(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    pass(w, 20000);
    /* The task may still be solved: whoever asks here waits for it, and others follow. */
    ask(w, "bob", .key = "K");
    assert_int_equal(w->tally.claims, 1);
    assert_int_equal(w->tally.releases, 0);
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[ 20000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 20000] release f1 K solved\n"
              "[ 20000] ack a1\n"
              "[ 20000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void the_second_task_of_a_solved_flight_keeps_the_claim(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_callbacks = true;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ambiguous(w, "a1");
    pass(w, 46000);
    accepted(w, "a2", "T2");
    callback_empty(w, "a1", "T1");
    callback(w, "a2", "T2", "TOKEN");
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[ 45000] submit a2 K\n"
              "[ 46000] poll a1 task T1\n"
              "[ 46000] ack a1\n"
              "[ 46000] release f1 K solved kept\n"
              "[ 46000] ack a2\n"
              "[ 46000] answer ann r1 solved \"TOKEN\" source api attempts 2\n");
}

static void a_stray_whose_time_is_over_gives_its_claim_back(void **state)
{
    (void)state;
    struct world *w = shared_world_with_task();
    pass(w, 60000);
    expect(w, "[     0] claim f1 K\n"
              "[     0] submit a1 K\n"
              "[ 20000] answer ann r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 1\n"
              "[ 40000] release f1 K\n");
}

static void a_budget_that_ran_out_meanwhile_refuses(void **state)
{
    (void)state;
    static const struct client_options one = {.weight = 1, .budget_per_day = 1};
    struct engine_options options = world_options();
    options.clients = &one;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    won(w, "f1");
    drawn(w, 1, 0);
    won(w, "f2");
    expect(w, "[     0] claim f1 K\n"
              "[     0] claim f2 L\n"
              "[     0] draw used 0 need 1\n"
              "[     0] submit a1 K\n"
              "[     0] release f2 L\n"
              "[     0] answer bob refused: this client's budget for today is used up,"
              " retry after 43200000\n");
}

/* ---- restarts -------------------------------------------------------------------------------- */

static void after_a_restart_a_flight_that_was_not_submitted_asks_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.slots = 1;
    struct world *w = shared_world(&options);
    ask(w, "other", .key = "L");
    won(w, "f1");
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f2");
    skip_lines(w);
    crash_with_claim(w, "L", "f1");
    expect(w, "[     0] claim f2 K\n");
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 queued\n");
    follow(w, "f2");
    woken(w, "K");
    found(w, "f2", "TOKEN", 0);
    skip_lines(w);
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void after_a_restart_a_submitted_flight_has_its_claim(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    accepted(w, "a1", "T1");
    skip_lines(w);
    crash_with_claim(w, "K", "f1");
    pass(w, 0);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] release f1 K solved\n");
}

static void after_a_restart_a_claim_that_nobody_needs_is_released(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    skip_lines(w);
    crash_with_claim(w, "K", "f1");
    expect(w, "[     0] release f1 K\n");
}

/* Nobody here wants it sent again: that is no failure of those who follow it at other nodes. */
static void an_unheard_submit_that_nobody_here_repeats_is_left_to_others(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ambiguous(w, "a1");
    gone(w, "ann");
    skip_lines(w);
    pass(w, w->options.ambiguity_window_ms);
    expect(w, "[ 45000] release f1 K\n");
}

/* Its caller comes back with the id to another node, and this one may be adopted before the store knows it. */
static void an_id_is_promised_even_if_memory_has_the_answer(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K", .is_told = true);
    assert_true(w->last_answer_is_promise);
    look(w, "bob", "r2", 0);
    assert_false(w->last_answer_is_promise);
    ask(w, "cat", .key = "K");
    assert_false(w->last_answer_is_promise);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_key_is_claimed_before_it_is_submitted),
        STORY(a_store_that_nobody_shares_is_not_asked),
        STORY(memory_answers_without_a_claim),
        STORY(retries_need_no_new_claim),
        STORY(reuse_none_needs_no_claim),
        STORY(no_two_nodes_give_a_flight_the_same_number),
        STORY(nobody_is_told_anything_before_the_store_decides),
        STORY(an_id_that_is_told_with_the_solution_can_be_read_later),
        STORY(who_leaves_before_the_decision_costs_nothing),
        STORY(without_a_place_to_wait_a_request_is_refused),
        STORY(a_claim_that_nobody_answers_is_sent_again_until_the_deadline),
        STORY(a_caller_who_waits_less_is_refused_earlier),
        STORY(a_solution_of_another_node_is_copied_into_memory),
        STORY(only_a_copy_that_a_row_refers_to_is_written),
        STORY(whoever_joins_may_want_a_fresher_one),
        STORY(a_single_use_solution_of_another_node_is_taken),
        STORY(a_single_use_solution_that_nobody_waits_for_any_more_is_banked),
        STORY(a_shared_solution_that_nobody_had_is_not_given_to_one_alone),
        STORY(a_mistake_that_another_node_remembers_is_refused_here),
        STORY(a_failure_is_published_with_its_code_and_class),
        STORY(a_flight_that_is_given_up_before_its_submit_releases_its_key),
        STORY(a_key_whose_client_went_is_not_remembered_as_a_mistake),
        STORY(a_stray_keeps_the_claim_while_it_may_be_solved),
        STORY(the_second_task_of_a_solved_flight_keeps_the_claim),
        STORY(a_stray_whose_time_is_over_gives_its_claim_back),
        STORY(a_budget_that_ran_out_meanwhile_refuses),
        STORY(after_a_restart_a_flight_that_was_not_submitted_asks_again),
        STORY(after_a_restart_a_submitted_flight_has_its_claim),
        STORY(after_a_restart_a_claim_that_nobody_needs_is_released),
        STORY(an_id_is_promised_even_if_memory_has_the_answer),
        STORY(an_unheard_submit_that_nobody_here_repeats_is_left_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
