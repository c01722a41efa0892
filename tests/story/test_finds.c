/* Finds: a client asks here for a request that it made at another gateway. */
#include "shared_world.h"

#include "lines.h"

/* A request of another node, and one of a third. */
#define ELSEWHERE UINT64_C(800000000001)
#define FURTHER UINT64_C(800000000002)

static void look_for(struct world *world, const char *who, request_id id, uint32_t hold_ms)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.caller = world_caller(world, who), .id = id, .hold_ms = hold_ms};
    world_step(world, &event);
}

/* ---- what the store says about what was asked last -------------------------------------------- */

static void say(struct world *world, struct found found)
{
    struct event event = {.kind = EVENT_FOUND};
    event.found = found;
    event.found.id = world->last_find.id;
    event.found.client = world->last_find.client;
    event.found.ticket = world->last_find.ticket;
    world_step(world, &event);
}

static void it_waits(struct world *world, const char *name)
{
    struct found found = {.result = FOUND_WAITING, .has_name = name != NULL, .is_solving = true};
    if (name != NULL)
        found.name = key_named(name);
    say(world, found);
}

static void it_is_solved(struct world *world, const char *text)
{
    const int64_t wall_ms = WORLD_START_WALL_MS + (int64_t)world->now_ms;
    struct solution_row row = {.id = 5223,
                               .born_wall_ms = wall_ms - 2000,
                               .expires_wall_ms = wall_ms + 78000,
                               .attempts = 1,
                               .is_shared = true,
                               .task_id = "T77"};
    row.text = blob_new(slice_from(text));
    say(world, (struct found){.result = FOUND_SOLVED, .solution = &row});
    blob_unref(row.text);
}

static void it_failed(struct world *world, enum error_class class, const char *code)
{
    struct found found = {.result = FOUND_FAILED, .class = class, .attempts = 3};
    memcpy(found.code, code, strlen(code) + 1);
    say(world, found);
}

static void it_is_unknown(struct world *world)
{
    say(world, (struct found){.result = FOUND_UNKNOWN});
}

static void the_store_is_away(struct world *world)
{
    say(world, (struct found){.result = FOUND_UNAVAILABLE});
}

/* ---- the end ------------------------------------------------------------------------------------ */

static void a_solution_is_read_at_another_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    w->shows_ages = true;
    look_for(w, "worker", ELSEWHERE, 0);
    it_is_solved(w, "TOKEN");
    expect(
        w,
        "[     0] find r1\n"
        "[     0] answer worker r1 solved \"TOKEN\" source api attempts 1 age 2000 left 78000\n");
    /* It is in the books of the node that has it. */
    assert_int_equal(stats_of(w)->requests, 0);
}

static void a_failure_is_read_at_another_node(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 0);
    it_failed(w, CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
    expect(w,
           "[     0] find r1\n"
           "[     0] answer worker r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n");
}

static void an_id_is_unknown_only_when_the_store_says_so(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 0);
    expect(w, "[     0] find r1\n");
    it_is_unknown(w);
    expect(w, "[     0] answer worker refused: no such request\n");
}

static void our_own_requests_cost_no_question(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    skip_lines(w);
    look(w, "worker", "r1", 0);
    expect(w, "[     0] answer worker r1 solving\n");
}

static void without_a_shared_store_nobody_is_asked(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    look_for(w, "worker", ELSEWHERE, 0);
    expect(w, "[     0] answer worker refused: no such request\n");
}

static void another_clients_request_is_looked_for_in_its_own_name(void **state)
{
    (void)state;
    static const struct client_options two[2] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                 {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.clients = two;
    options.client_count = 2;
    struct world *w = shared_world(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    look_for(w, "worker", ELSEWHERE, 0);
    it_is_solved(w, "TOKEN");
    skip_lines(w);
    look_as(w, "eve", 1, "r1");
    look_as(w, "eve", 1, "r2");
    expect(w, "[     0] find r1 of client 1\n"
              "[     0] find r2 of client 1\n");
    it_is_unknown(w);
    expect(w, "[     0] answer eve refused: no such request\n");
}

/* ---- waiting -------------------------------------------------------------------------------------- */

static void a_held_look_is_answered_at_the_end(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    it_waits(w, "K");
    pass(w, 300);
    woken(w, "K");
    it_is_solved(w, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[   300] find r1\n"
              "[   300] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_lost_wake_up_costs_a_held_look_a_second(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    it_waits(w, "K");
    pass(w, 1000);
    it_waits(w, NULL);
    pass(w, 1000);
    it_failed(w, CLASS_TIMEOUT, "ERROR_SOLVE_TIMEOUT");
    expect(w, "[     0] find r1\n"
              "[  1000] find r1\n"
              "[  2000] find r1\n"
              "[  2000] answer worker r1 failed ERROR_SOLVE_TIMEOUT (timeout) attempts 3\n");
}

static void an_end_that_overtakes_the_stores_answer_is_asked_for_again(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    it_waits(w, "K");
    pass(w, 1000);
    woken(w, "K");
    it_waits(w, "K");
    expect(w, "[     0] find r1\n"
              "[  1000] find r1\n"
              "[  1000] find r1\n");
}

static void a_held_look_that_waited_long_enough_is_told_the_state(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 500);
    it_waits(w, "K");
    pass(w, 500);
    expect(w, "[     0] find r1\n"
              "[   500] answer worker r1 solving\n");
}

static void who_hangs_up_is_not_asked_for(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    it_waits(w, "K");
    gone(w, "worker");
    woken(w, "K");
    pass(w, 60000);
    expect(w, "[     0] find r1\n");
}

/* ---- the price -------------------------------------------------------------------------------------- */

static void many_who_ask_for_one_id_are_one_question_a_second(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "ann", ELSEWHERE, 0);
    look_for(w, "bob", ELSEWHERE, 0);
    look_for(w, "cat", ELSEWHERE, 5000);
    it_waits(w, "K");
    look_for(w, "dan", ELSEWHERE, 0);
    pass(w, 999);
    look_for(w, "eve", ELSEWHERE, 0);
    expect(w, "[     0] find r1\n"
              "[     0] answer ann r1 solving\n"
              "[     0] answer bob r1 solving\n"
              "[     0] answer dan r1 solving\n"
              "[   999] answer eve r1 solving\n");
    pass(w, 1);
    it_is_solved(w, "TOKEN");
    pass(w, 5000);
    look_for(w, "fay", ELSEWHERE, 0);
    expect(w, "[  1000] find r1\n"
              "[  1000] answer cat r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer fay r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_poll_after_the_wake_up_does_not_wait_for_its_second(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "ann", ELSEWHERE, 0);
    it_waits(w, "K");
    pass(w, 100);
    woken(w, "K");
    look_for(w, "bob", ELSEWHERE, 0);
    it_is_solved(w, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[     0] answer ann r1 solving\n"
              "[   100] find r1\n"
              "[   100] answer bob r1 solved \"TOKEN\" source api attempts 1\n");
}

static void an_unknown_id_is_remembered_for_a_second_only(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_unknown(w);
    look_for(w, "bob", ELSEWHERE, 0);
    pass(w, 1000);
    look_for(w, "cat", ELSEWHERE, 0);
    it_waits(w, "K");
    expect(w, "[     0] find r1\n"
              "[     0] answer ann refused: no such request\n"
              "[     0] answer bob refused: no such request\n"
              "[  1000] find r1\n"
              "[  1000] answer cat r1 solving\n");
}

static void the_oldest_is_forgotten_when_too_many_ids_are_asked_for(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1;
    struct world *w = shared_world(&options);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_solved(w, "ONE");
    look_for(w, "bob", FURTHER, 20000);
    it_waits(w, NULL);
    look_for(w, "cat", ELSEWHERE, 0);
    expect(w, "[     0] find r1\n"
              "[     0] answer ann r1 solved \"ONE\" source api attempts 1\n"
              "[     0] find r2\n"
              "[     0] answer cat refused: too many requests are waiting, retry after 1000\n");
}

static void a_list_of_ids_is_asked_for_in_parts(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1000;
    struct world *w = shared_world(&options);
    struct event event = {.kind = EVENT_LOOK};
    for (uint32_t i = 0; i < 300; i++) {
        event.look = (struct look){.id = FURTHER + 2 * i};
        world_step(w, &event);
    }
    assert_int_equal(w->request_count, 64);
    it_is_unknown(w);
    for (uint32_t i = 300; i < 310; i++) {
        event.look = (struct look){.id = FURTHER + 2 * i};
        world_step(w, &event);
    }
    assert_int_equal(w->request_count, 65);
    look_for(w, "ann", ELSEWHERE, 0);
    assert_int_equal(w->request_count, 66);
    buf_reset(&w->log);
}

static void what_the_store_is_asked_for_keeps_its_place(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 1;
    struct world *w = shared_world(&options);
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.id = FURTHER};
    world_step(w, &event);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_unknown(w);
    look_for(w, "ann", ELSEWHERE, 0);
    expect(w, "[     0] find r1\n"
              "[     0] answer ann refused: too many requests are waiting, retry after 1000\n"
              "[     0] find r2\n");
}

/* ---- without the store ------------------------------------------------------------------------------ */

static void without_the_store_an_id_is_not_unknown(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "ann", ELSEWHERE, 0);
    the_store_is_away(w);
    look_for(w, "bob", ELSEWHERE, 0);
    pass(w, 1000);
    look_for(w, "cat", ELSEWHERE, 0);
    it_is_solved(w, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[     0] answer ann refused: the store cannot be reached, retry after 1000\n"
              "[     0] answer bob refused: the store cannot be reached, retry after 1000\n"
              "[  1000] find r1\n"
              "[  1000] answer cat r1 solved \"TOKEN\" source api attempts 1\n");
}

static void the_store_becomes(struct world *world, bool is_writable)
{
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = is_writable;
    event.store_is_away = !is_writable;
    world_step(world, &event);
}

/* Whoever finds has a connection of its own, and it is back before we know that the store is. */
static void a_store_that_is_away_does_not_know_every_id(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    the_store_becomes(w, false);
    pass(w, 3000);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_unknown(w);
    expect(w, "[  3000] find r1\n"
              "[  3000] answer ann refused: the store cannot be reached, retry after 1000\n");
}

/* Another gateway told this id from its memory meanwhile, and has not written it yet. */
static void a_store_that_was_away_may_not_know_every_id_at_once(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    the_store_becomes(w, false);
    pass(w, 3000);
    the_store_becomes(w, true);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_unknown(w);
    pass(w, 1000);
    look_for(w, "ann", ELSEWHERE, 0);
    it_is_solved(w, "TOKEN");
    look_for(w, "bob", FURTHER, 0);
    it_is_unknown(w);
    pass(w, 9000);
    look_for(w, "bob", FURTHER, 0);
    it_is_unknown(w);
    expect(w, "[  3000] find r1\n"
              "[  3000] answer ann refused: the store cannot be reached, retry after 1000\n"
              "[  4000] find r1\n"
              "[  4000] answer ann r1 solved \"TOKEN\" source api attempts 1\n"
              "[  4000] find r2\n"
              "[  4000] answer bob refused: the store cannot be reached, retry after 1000\n"
              "[ 13000] find r2\n"
              "[ 13000] answer bob refused: no such request\n");
}

static void without_the_store_what_was_known_to_wait_waits_on(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "ann", ELSEWHERE, 0);
    it_waits(w, "K");
    pass(w, 5000);
    look_for(w, "bob", ELSEWHERE, 0);
    the_store_is_away(w);
    expect(w, "[     0] find r1\n"
              "[     0] answer ann r1 solving\n"
              "[  5000] find r1\n"
              "[  5000] answer bob r1 solving\n");
}

static void a_held_look_outlives_an_absence_of_the_store(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    the_store_is_away(w);
    pass(w, 1000);
    it_is_solved(w, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[  1000] find r1\n"
              "[  1000] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_store_that_says_nothing_keeps_nobody_waiting_for_long(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 0);
    pass(w, 5000);
    expect(w, "[     0] find r1\n"
              "[  5000] answer worker refused: the store cannot be reached, retry after 1000\n");
    it_is_solved(w, "TOKEN");
}

static void an_adopted_node_sends_its_callers_elsewhere(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    look_for(w, "worker", ELSEWHERE, 20000);
    it_waits(w, "K");
    fenced(w);
    expect(w, "[     0] find r1\n"
              "[     0] answer worker refused: the store cannot be reached, retry after 1000\n");
}

/* ---- ids and rows that others can find ---------------------------------------------------------------- */

static void no_two_nodes_give_the_same_id(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    for (uint16_t node = 1; node <= 3; node++) {
        options.node = node;
        struct world *w = shared_world(&options);
        ask(w, "ann", .key = "K", .is_told = true);
        ask(w, "bob", .key = "K", .is_told = true, .id_layout = 5);
        won(w, "f1");
        const request_id ann = world_request(w, "r1");
        const request_id bob = world_request(w, "r2");
        assert_true(ann >= SHORT_ID_LIMIT && ann < REQUEST_ID_LIMIT && ann >> 44 == node);
        assert_true(bob < SHORT_ID_LIMIT && bob >> 27 == node && bob % 64 == 5);
        skip_lines(w);
    }
}

static void a_request_that_got_another_nodes_solution_has_its_row(void **state)
{
    (void)state;
    struct world *w = shared_world(NULL);
    ask(w, "ann", .key = "K");
    found(w, "f1", "TOKEN", 0);
    skip_lines(w);
    w->hides_records = false;
    ask(w, "bob", .key = "K", .is_told = true);
    expect(w, "[     0] journal 1 solution K \"TOKEN\" task T77 kept handed 3\n"
              "[     0] journal 2 request r2 solved\n"
              "[     0] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1 after 2\n");
}

static void a_crowd_is_told_over_several_steps(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 100;
    options.wake_batch = 7;
    struct world *w = shared_world(&options);
    for (int i = 0; i < 100; i++)
        look_for(w, "worker", ELSEWHERE, 20000);
    skip_lines(w);
    it_is_solved(w, "TOKEN");
    assert_int_equal(w->tally.solved, 7);
    while (engine_next_deadline(w->engine) <= WORLD_START_MS + w->now_ms)
        tick(w);
    assert_int_equal(w->tally.solved, 100);
    assert_int_equal(w->tally.finds, 1);
    skip_lines(w);
}

static void a_crowd_of_ids_of_one_key_is_woken_over_several_steps(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_callers = 100;
    options.step_batch = 7;
    struct world *w = shared_world(&options);
    for (unsigned i = 0; i < 100; i++) {
        look_for(w, "worker", ELSEWHERE + i, 20000);
        it_waits(w, "K");
    }
    woken(w, "K");
    assert_int_equal(w->tally.finds, 107);
    while (engine_next_deadline(w->engine) <= WORLD_START_MS + w->now_ms)
        tick(w);
    assert_int_equal(w->tally.finds, 200);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_solution_is_read_at_another_node),
        STORY(a_failure_is_read_at_another_node),
        STORY(an_id_is_unknown_only_when_the_store_says_so),
        STORY(our_own_requests_cost_no_question),
        STORY(without_a_shared_store_nobody_is_asked),
        STORY(another_clients_request_is_looked_for_in_its_own_name),
        STORY(a_held_look_is_answered_at_the_end),
        STORY(a_lost_wake_up_costs_a_held_look_a_second),
        STORY(an_end_that_overtakes_the_stores_answer_is_asked_for_again),
        STORY(a_held_look_that_waited_long_enough_is_told_the_state),
        STORY(who_hangs_up_is_not_asked_for),
        STORY(many_who_ask_for_one_id_are_one_question_a_second),
        STORY(a_poll_after_the_wake_up_does_not_wait_for_its_second),
        STORY(an_unknown_id_is_remembered_for_a_second_only),
        STORY(a_store_that_is_away_does_not_know_every_id),
        STORY(a_store_that_was_away_may_not_know_every_id_at_once),
        STORY(the_oldest_is_forgotten_when_too_many_ids_are_asked_for),
        STORY(a_list_of_ids_is_asked_for_in_parts),
        STORY(what_the_store_is_asked_for_keeps_its_place),
        STORY(without_the_store_an_id_is_not_unknown),
        STORY(without_the_store_what_was_known_to_wait_waits_on),
        STORY(a_held_look_outlives_an_absence_of_the_store),
        STORY(a_store_that_says_nothing_keeps_nobody_waiting_for_long),
        STORY(an_adopted_node_sends_its_callers_elsewhere),
        STORY(no_two_nodes_give_the_same_id),
        STORY(a_request_that_got_another_nodes_solution_has_its_row),
        STORY(a_crowd_is_told_over_several_steps),
        STORY(a_crowd_of_ids_of_one_key_is_woken_over_several_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
