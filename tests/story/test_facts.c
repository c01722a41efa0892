/* Facts: what the vendor says about a task reaches the gateway that has it, wherever it arrives, and also
 * from a gateway that was taken for dead. */
#include "lines.h"
#include "shared_world.h"

/* ---- the inbox ----------------------------------------------------------------------------- */

/* Another node has the attempt. */
static struct world *world_of_another(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    dies(w, NULL, NULL);
    skip_lines(w);
    return w;
}

static void a_callback_about_anothers_task_is_told_and_acknowledged(void **state)
{
    (void)state;
    struct world *w = world_of_another();
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] tell a1 task T1 \"TOKEN\"\n"
              "[     0] ack a1\n");
    assert_int_equal(gauges_of(w).letters, 0);
}

static void a_reply_to_an_earlier_runs_submit_is_told(void **state)
{
    (void)state;
    struct world *w = world_of_another();
    w->attempts[0].is_submitting = true;
    accepted(w, "a1", "T1");
    expect(w, "[     0] tell a1 task T1\n");
}

static void the_owner_hears_it_as_if_it_had_been_called(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    accepted(w, "a1", "T1");
    skip_lines(w);
    told_fact(w, 5, "a1", "T1", "TOKEN");
    expect(w, "[     0] release f1 K solved\n"
              "[     0] forget 5\n"
              "[     0] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_fact_that_is_repeated_is_heard_once(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    told_fact(w, 5, "a9", "T9", "TOKEN");
    told_fact(w, 5, "a9", "T9", "TOKEN");
    expect(w, "[     0] forget 5\n"
              "[     0] forget 5\n");
    assert_int_equal(gauges_of(w).letters, 1);
    assert_int_equal(stats_of(w)->callbacks_unknown, 1);
}

static void a_task_id_that_was_only_told_ends_the_doubt(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    ambiguous(w, "a1");
    skip_lines(w);
    told_fact(w, 5, "a1", "T1", NULL);
    expect(w, "[     0] poll a1 task T1\n"
              "[     0] forget 5\n");
}

/* ---- a node that was taken for dead ---------------------------------------------------------- */

static void it_hands_in_the_task_ids_that_no_row_has(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    accepted(w, "a1", "T1");
    ask(w, "bob", .key = "L");
    won(w, "f2");
    for (int i = 0; i < 8; i++)
        ask(w, "cat", .key = "M", .reuse = REUSE_NONE, .is_told = true);
    durable(w, w->seq);
    accepted(w, "a2", "T2");
    skip_lines(w);
    fenced(w);
    expect(w, "[     0] tell a2 task T2\n"
              "[     0] answer ann refused: the store cannot be reached, retry after 1000\n"
              "[     0] answer bob refused: the store cannot be reached, retry after 1000\n");
    assert_true(engine_is_over(w->engine));
}

static void it_hands_in_the_solutions_that_no_row_has(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    accepted(w, "a1", "T1");
    pass(w, 5999);
    durable(w, w->seq);
    pass(w, 1);
    solved(w, "a1", "TOKEN");
    skip_lines(w);
    fenced(w);
    expect(w, "[  6000] tell a1 task T1 \"TOKEN\"\n");
}

/* It has written nothing itself, so that none of its own records is durable. */
static void it_hands_in_no_solution_whose_row_it_has_adopted(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    dies(w, NULL, NULL);
    members(w, (struct member){.id = DEAD_NODE + 1, .beat = 1, .is_self = true},
            (struct member){.id = DEAD_NODE, .beat = 1, .is_leaving = true});
    (void)adopted(w, 99);
    skip_lines(w);
    fenced(w);
    expect(w, "");
}

static void it_decides_nothing_any_more(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    skip_lines(w);
    fenced(w);
    skip_lines(w);
    struct action submit = {.kind = ACTION_SUBMIT};
    submit.call.attempt = w->attempts[0].id;
    assert_false(engine_wants(w->engine, &submit));
    ask(w, "bob", .key = "L", .is_told = true);
    account(w, "cat", PROBE_BALANCE);
    beat(w, 0);
    pass(w, 100000);
    expect(w, "[     0] answer bob refused: the store cannot be reached, retry after 1000\n"
              "[     0] account cat ERROR_STORE_AWAY\n");
}

static void what_it_hears_later_is_told_too(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    fenced(w);
    skip_lines(w);
    accepted(w, "a1", "T1");
    callback(w, "a1", "T1", "TOKEN");
    expect(w, "[     0] tell a1 task T1\n"
              "[     0] tell a1 task T1 \"TOKEN\"\n"
              "[     0] ack a1\n");
}

static void many_who_wait_are_refused_over_several_steps(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.step_batch = 2;
    struct world *w = leased_world(&options);
    beat(w, 0);
    for (int i = 0; i < 5; i++)
        ask(w, "ann", .key = "K");
    fenced(w);
    assert_false(engine_is_over(w->engine));
    pass(w, 1);
    assert_true(engine_is_over(w->engine));
    assert_int_equal(w->tally.refused, 5);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_callback_about_anothers_task_is_told_and_acknowledged),
        STORY(a_reply_to_an_earlier_runs_submit_is_told),
        STORY(the_owner_hears_it_as_if_it_had_been_called),
        STORY(a_fact_that_is_repeated_is_heard_once),
        STORY(a_task_id_that_was_only_told_ends_the_doubt),
        STORY(it_hands_in_the_task_ids_that_no_row_has),
        STORY(it_hands_in_the_solutions_that_no_row_has),
        STORY(it_hands_in_no_solution_whose_row_it_has_adopted),
        STORY(it_decides_nothing_any_more),
        STORY(what_it_hears_later_is_told_too),
        STORY(many_who_wait_are_refused_over_several_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
