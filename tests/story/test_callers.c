/* Callers: held, told, gone, given up, coming back, and forgotten when there is no room (docs/design.md 5.4). */
#include "world.h"

static struct world *world_with_one_slot(void)
{
    struct engine_options options = world_options();
    options.slots = 1;
    return world_new(&options);
}

/* ---- leaving ----------------------------------------------------------------------------- */

static void leaving_before_the_submit_cancels_for_free(void **state)
{
    (void)state;
    struct world *w = world_with_one_slot();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L");
    ask(w, "cat", .key = "M");
    gone(w, "bob");
    assert_int_equal(gauges_of(w).flights, 2);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[     0] submit a2 M\n");
    assert_int_equal(stats_of(w)->detached, 1);
}

static void leaving_while_it_backs_off_cancels_the_retry(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    rejected(w, "a1", CLASS_TRANSIENT, "ERROR_SERVER_ERROR");
    gone(w, "ann");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void leaving_after_the_submit_banks_the_solution_for_the_next(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "bob", .key = "K");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
    assert_int_equal(stats_of(w)->detached, 1);
}

static void who_comes_while_a_deserted_flight_is_solved_joins_it(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    accepted(w, "a1", "T1");
    gone(w, "ann");
    ask(w, "bob", .key = "K");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void a_deserted_flight_is_not_tried_again(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    gone(w, "ann");
    rejected(w, "a1", CLASS_BUSY, "ERROR_NO_SLOT_AVAILABLE");
    pass(w, 60000);
    expect(w, "[     0] submit a1 K\n");
    assert_int_equal(gauges_of(w).flights, 0);
}

static void one_of_two_who_joined_may_leave(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    gone(w, "ann");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer bob r1 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void one_of_two_held_on_the_same_request_may_leave(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .at_once = true);
    look(w, "one", "r1", 50000);
    look(w, "two", "r1", 50000);
    assert_int_equal(gauges_of(w).callers, 2);
    gone(w, "one");
    assert_int_equal(gauges_of(w).callers, 1);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer two r1 solved \"TOKEN\" source api attempts 1\n");
}

static void all_who_are_held_on_one_request_are_answered(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .at_once = true);
    look(w, "one", "r1", 50000);
    look(w, "two", "r1", 50000);
    look(w, "three", "r1", 3000);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[  3000] answer three r1 solving\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer one r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer two r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->answered_api, 1);
    assert_int_equal(gauges_of(w).callers, 0);
}

static void who_knows_the_id_may_leave_and_come_back(void **state)
{
    (void)state;
    struct world *w = world_with_one_slot();
    ask(w, "other", .key = "L");
    ask(w, "ann", .key = "K", .at_once = true);
    look(w, "ann", "r1", 50000);
    gone(w, "ann");
    /* Still queued, and still wanted. */
    assert_int_equal(gauges_of(w).flights, 2);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    look(w, "ann", "r1", 50000);
    solve(w, "a2", "T2", "TOKEN");
    expect(w, "[5000..6000] poll a2 task T2\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
    assert_int_equal(stats_of(w)->detached, 0);
}

static void a_caller_who_is_not_held_can_leave_without_effect(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .at_once = true);
    gone(w, "ann");
    assert_int_equal(gauges_of(w).waiting, 1);
    skip_lines(w);
}

static void leaving_during_the_waking_is_leaving_before_the_answer(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.wake_batch = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    gone(w, "cat");
    pass(w, 0);
    expect(w, "[     0] submit a1 K\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
    assert_int_equal(stats_of(w)->detached, 1);
    assert_int_equal(gauges_of(w).flights, 0);
}

/* ---- being held -------------------------------------------------------------------------- */

static void who_was_held_long_enough_hears_the_state_and_can_ask_again(void **state)
{
    (void)state;
    struct world *w = world_with_one_slot();
    ask(w, "ann", .key = "K", .hold_ms = 3000);
    ask(w, "bob", .key = "L", .hold_ms = 4000);
    pass(w, 5000);
    expect(w, "[     0] submit a1 K\n"
              "[  3000] answer ann r1 solving\n"
              "[  4000] answer bob r2 queued\n");
    look(w, "ann", "r1", 20000);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[10000..11000] poll a1 task T1\n"
              "[ 11000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[ 11000] submit a2 L\n");
    look(w, "ann", "r1", 20000);
    look(w, "bob", "r2", 0);
    expect(w, "[ 11000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[ 11000] answer bob r2 solving\n");
}

static void nobody_sees_another_clients_request(void **state)
{
    (void)state;
    const struct client_options clients[] = {
        {.weight = 1, .budget_per_day = UINT64_MAX},
        {.weight = 1, .budget_per_day = UINT64_MAX},
    };
    struct engine_options options = world_options();
    options.clients = clients;
    options.client_count = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    look_as(w, "eve", 1, "r1");
    look_as(w, "ann", 0, "r1");
    look_as(w, "ann", 0, "r0");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer eve refused: no such request\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer ann refused: no such request\n");
}

/* ---- giving up --------------------------------------------------------------------------- */

static void a_request_given_up_before_the_submit_costs_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_one_slot();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L", .is_told = true);
    detach(w, "bob", "r1");
    look(w, "bob", "r1", 0);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer bob r1 queued\n"
              "[     0] answer bob r1 queued\n"
              "[     0] answer bob refused: no such request\n"
              "[     0] answer ann r2 failed ERROR_BAD_PROXY (proxy) attempts 1\n");
    assert_int_equal(stats_of(w)->detached, 1);
}

static void a_request_given_up_tells_those_who_were_held_on_it(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    look(w, "one", "r1", 50000);
    look(w, "two", "r1", 50000);
    detach(w, "ann", "r1");
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer one r1 solving\n"
              "[     0] answer two r1 solving\n"
              "[     0] answer ann r1 solving\n"
              "[5000..6000] poll a1 task T1\n");
    assert_int_equal(stats_of(w)->solutions_banked, 1);
}

static void a_finished_request_given_up_is_forgotten_and_was_answered(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    detach(w, "ann", "r1");
    detach(w, "ann", "r1");
    expect(w, "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer ann refused: no such request\n");
    assert_int_equal(stats_of(w)->detached, 0);
    assert_int_equal(gauges_of(w).requests, 0);
}

/* ---- ids that could not be told ------------------------------------------------------------ */

/* The store went away before the request's row was in it: its caller was refused instead of getting the id. */
static void leave_untold(struct world *world, const char *request)
{
    struct event event = {.kind = EVENT_UNTOLD};
    event.untold = (struct untold){.id = world_request(world, request)};
    world_step(world, &event);
}

static void a_request_whose_id_was_not_told_costs_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_one_slot();
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "L", .is_told = true);
    skip_lines(w);
    leave_untold(w, "r1");
    leave_untold(w, "r1");
    look(w, "bob", "r1", 0);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    expect(w, "[     0] answer bob refused: no such request\n"
              "[     0] answer ann r2 failed ERROR_BAD_PROXY (proxy) attempts 1\n");
    assert_int_equal(stats_of(w)->rejected, 1);
    assert_int_equal(stats_of(w)->detached, 0);
}

static void an_id_that_was_not_told_leaves_others_of_its_solve_alone(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K", .is_told = true);
    leave_untold(w, "r1");
    skip_lines(w);
    solve(w, "a1", "T1", "TOKEN");
    expect(w, "[5000..6000] poll a1 task T1\n"
              "[  6000] answer ann r2 solved \"TOKEN\" source api attempts 1\n");
}

static void an_id_that_was_not_told_before_its_end_leaves_the_solution(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    leave_untold(w, "r1");
    skip_lines(w);
    ask(w, "ann", .key = "K");
    expect(w, "[  6000] answer ann r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
    assert_int_equal(stats_of(w)->rejected, 0);
}

/* Only an answer that is the first to tell an id, and no end with it, promises that the id will be known. */
static void an_id_is_promised_once(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    assert_true(w->last_answer_is_promise);
    look(w, "ann", "r1", 0);
    assert_false(w->last_answer_is_promise);
    ask(w, "bob", .key = "K", .hold_ms = 1000);
    pass(w, 1000);
    assert_true(w->last_answer_is_promise);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "cat", .key = "K", .is_told = true);
    assert_false(w->last_answer_is_promise);
    skip_lines(w);
}

/* ---- in.php ------------------------------------------------------------------------------ */

static void who_is_told_the_id_comes_back_for_the_answer(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    pass(w, 5000);
    look(w, "ann", "r1", 0);
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    look(w, "ann", "r1", 0);
    look(w, "ann", "r1", 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[  5000] answer ann r1 solving\n"
              "[10000..11000] poll a1 task T1\n"
              "[ 11000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[ 11000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_told_request_answered_from_memory_stays_unread_until_somebody_looks(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K", .is_told = true);
    /* Ann's was read and makes room; bob's was not, until he looks. */
    ask(w, "cat", .key = "K", .is_told = true);
    look(w, "cat", "r3", 0);
    ask(w, "dan", .key = "K", .is_told = true);
    look(w, "cat", "r3", 0);
    look(w, "bob", "r2", 0);
    ask(w, "dan", .key = "K", .is_told = true);
    look(w, "bob", "r2", 0);
    expect(w, "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer dan r4 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer cat refused: no such request\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer dan r5 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] answer bob refused: no such request\n");
}

/* ---- being forgotten --------------------------------------------------------------------- */

static void an_unread_request_is_readable_until_its_solution_expires(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    pass(w, 73999);
    look(w, "ann", "r1", 0);
    pass(w, 1);
    look(w, "ann", "r1", 0);
    look(w, "bob", "r2", 0);
    expect(w, "[ 79999] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[ 80000] answer ann refused: no such request\n"
              "[ 80000] answer bob refused: no such request\n");
}

static void an_unread_failure_is_readable_for_two_minutes(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K", .is_told = true);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    pass(w, 119999);
    look(w, "ann", "r1", 0);
    pass(w, 1);
    look(w, "ann", "r1", 0);
    look(w, "bob", "r2", 0);
    expect(w, "[119999] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[120000] answer ann r1 failed ERROR_BAD_PROXY (proxy) attempts 1\n"
              "[120000] answer bob refused: no such request\n");
}

static void of_those_that_were_read_only_so_many_are_kept(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_finished = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    ask(w, "bob", .key = "K");
    ask(w, "cat", .key = "K");
    ask(w, "dan", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    look(w, "ann", "r2", 0);
    look(w, "dan", "r1", 0);
    look(w, "bob", "r3", 0);
    look(w, "cat", "r4", 0);
    expect(w, "[  6000] answer ann refused: no such request\n"
              "[  6000] answer dan r1 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer bob refused: no such request\n"
              "[  6000] answer cat r4 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void also_what_nobody_read_gives_way_to_a_newcomer_without_a_place(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    ask(w, "bob", .key = "L");
    look(w, "ann", "r1", 0);
    ask(w, "cat", .key = "M");
    expect(w, "[     0] submit a2 L\n"
              "[     0] answer ann refused: no such request\n"
              "[     0] answer cat refused: too many requests are waiting, retry after 5000\n");
}

/* ---- peeking ----------------------------------------------------------------------------- */

static void peeking_reads_a_request_which_stays_readable(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    assert_string_equal(peek(w, "r1"), "solving");
    solve(w, "a1", "T1", "TOKEN");
    assert_string_equal(peek(w, "r1"), "solved");
    assert_string_equal(peek(w, "r1"), "solved");
    assert_null(peek(w, "r0"));
    skip_lines(w);
    look(w, "ann", "r1", 0);
    expect(w, "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void peeking_shows_nothing_that_is_not_durable(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    assert_string_equal(peek(w, "r1"), "solving");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(leaving_before_the_submit_cancels_for_free),
        STORY(leaving_while_it_backs_off_cancels_the_retry),
        STORY(leaving_after_the_submit_banks_the_solution_for_the_next),
        STORY(who_comes_while_a_deserted_flight_is_solved_joins_it),
        STORY(a_deserted_flight_is_not_tried_again),
        STORY(one_of_two_who_joined_may_leave),
        STORY(one_of_two_held_on_the_same_request_may_leave),
        STORY(all_who_are_held_on_one_request_are_answered),
        STORY(who_knows_the_id_may_leave_and_come_back),
        STORY(a_caller_who_is_not_held_can_leave_without_effect),
        STORY(leaving_during_the_waking_is_leaving_before_the_answer),
        STORY(who_was_held_long_enough_hears_the_state_and_can_ask_again),
        STORY(nobody_sees_another_clients_request),
        STORY(a_request_given_up_before_the_submit_costs_nothing),
        STORY(a_request_given_up_tells_those_who_were_held_on_it),
        STORY(a_finished_request_given_up_is_forgotten_and_was_answered),
        STORY(a_request_whose_id_was_not_told_costs_nothing),
        STORY(an_id_that_was_not_told_leaves_others_of_its_solve_alone),
        STORY(an_id_that_was_not_told_before_its_end_leaves_the_solution),
        STORY(an_id_is_promised_once),
        STORY(who_is_told_the_id_comes_back_for_the_answer),
        STORY(a_told_request_answered_from_memory_stays_unread_until_somebody_looks),
        STORY(an_unread_request_is_readable_until_its_solution_expires),
        STORY(an_unread_failure_is_readable_for_two_minutes),
        STORY(of_those_that_were_read_only_so_many_are_kept),
        STORY(also_what_nobody_read_gives_way_to_a_newcomer_without_a_place),
        STORY(peeking_reads_a_request_which_stays_readable),
        STORY(peeking_shows_nothing_that_is_not_durable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
