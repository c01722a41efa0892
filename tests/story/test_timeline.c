/* What is known of one key: where a captcha is now, who may see it, and what is left of it afterwards. */
#include "lines.h"
#include "usual_worlds.h"

#include <solvegate/timeline.h>

#include <string.h>

static struct key_view view;

static bool look_up_as(struct world *w, const char *name, struct onlooker onlooker)
{
    const struct key_prefix prefix = {.key = key_named(name), .digits = 64};
    return engine_look_up(w->engine, &prefix, &onlooker, WORLD_START_MS + w->now_ms, &view);
}

static bool look_up(struct world *w, const char *name)
{
    return look_up_as(w, name, (struct onlooker){.sees_all = true});
}

static const struct timeline *flight(void)
{
    assert_int_equal(view.flight_count, 1);
    return &view.flights[0];
}

static void a_flight_tells_when_it_was_asked_sent_and_accepted(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "A");
    pass(w, 200);
    accepted(w, "a1", "T1");
    pass(w, 1000);
    assert_true(look_up(w, "A"));
    assert_string_equal(flight()->state, "solving");
    assert_int_equal(flight()->age_ms, 1200);
    assert_int_equal(flight()->created_wall_ms, WORLD_START_WALL_MS);
    assert_string_equal(flight()->next, "poll");
    assert_true(flight()->next_in_ms > 0 && flight()->deadline_in_ms > 0);
    assert_int_equal(flight()->request_count, 1);
    assert_true(flight()->requests[0].is_held);
    assert_int_equal(flight()->attempt_count, 1);
    const struct timeline_attempt *attempt = &flight()->attempts[0];
    assert_string_equal(attempt->state, "working");
    assert_int_equal(attempt->started_wall_ms, WORLD_START_WALL_MS);
    assert_int_equal(attempt->accepted_wall_ms, WORLD_START_WALL_MS + 200);
    assert_int_equal(attempt->took_ms, 1200);
    assert_memory_equal(attempt->task_id.data, "T1", attempt->task_id.len);
    skip_lines(w);
}

static void attempts_that_failed_stay_with_their_codes(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "A");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    failed(w, "a1", CLASS_UNSOLVABLE, "UNSOLVABLE");
    pass(w, 1);
    assert_true(look_up(w, "A"));
    assert_int_equal(flight()->attempt_count, 2);
    assert_string_equal(flight()->attempts[0].state, "failed");
    assert_int_equal(flight()->attempts[0].class, CLASS_UNSOLVABLE);
    assert_memory_equal(flight()->attempts[0].code.data, "UNSOLVABLE",
                        flight()->attempts[0].code.len);
    assert_true(flight()->attempts[0].took_ms >= 6000);
    assert_string_equal(flight()->attempts[1].state, "sent");
    skip_lines(w);
}

static void what_is_solved_is_remembered_while_its_solution_is(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "A");
    accepted(w, "a1", "T1");
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    assert_true(look_up(w, "A"));
    assert_int_equal(view.flight_count, 0);
    assert_true(view.has_solution && view.expires_in_ms > 0);
    assert_int_equal(view.solution_attempts, 1);
    pass(w, HOURS_MS(24));
    assert_false(look_up(w, "A"));
    assert_false(look_up(w, "B"));
    skip_lines(w);
}

static void a_client_sees_its_own_and_what_it_joined(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(true, false);
    ask(w, "ann", .key = "A", .client = CRAWLER);
    assert_true(look_up_as(w, "A", (struct onlooker){.client = CRAWLER}));
    assert_false(look_up_as(w, "A", (struct onlooker){.client = SHOP}));
    ask(w, "bob", .key = "A", .client = SHOP);
    assert_true(look_up_as(w, "A", (struct onlooker){.client = SHOP}));
    assert_int_equal(flight()->request_count, 1);
    assert_int_equal(flight()->requests[0].client, SHOP);
    assert_true(look_up(w, "A"));
    assert_int_equal(flight()->request_count, 2);
    skip_lines(w);
}

static void what_is_left_of_anothers_flight_is_not_shown(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    const struct onlooker shop = {.client = SHOP};
    ask(w, "ann", .key = "A", .client = CRAWLER);
    solve(w, "a1", "T1", "TOKEN");
    assert_true(look_up_as(w, "A", (struct onlooker){.client = CRAWLER}));
    assert_true(view.has_solution);
    assert_false(look_up_as(w, "A", shop));
    ask(w, "bob", .key = "B", .client = CRAWLER, .has_max_retries = true);
    accepted(w, "a2", "T2");
    pass(w, 6000);
    failed(w, "a2", CLASS_UNSOLVABLE, "UNSOLVABLE");
    assert_true(look_up_as(w, "B", (struct onlooker){.client = CRAWLER}));
    assert_true(view.letter != 0);
    assert_int_equal(view.letter_attempt_count, 1);
    assert_false(look_up_as(w, "B", shop));
    skip_lines(w);
}

static void a_task_that_nobody_waits_for_is_shown_to_its_client(void **state)
{
    (void)state;
    struct world *w = crawler_and_shop(false, false);
    ask(w, "ann", .key = "A", .client = CRAWLER, .has_max_retries = true);
    accepted(w, "a1", "T1");
    pass(w, w->options.solve_timeout_ms + 1000);
    assert_true(look_up_as(w, "A", (struct onlooker){.client = CRAWLER}));
    assert_int_equal(view.flight_count, 0);
    assert_int_equal(view.stray_count, 1);
    assert_string_equal(view.strays[0].state, "working");
    assert_false(look_up_as(w, "A", (struct onlooker){.client = SHOP}));
    skip_lines(w);
}

static void the_first_digits_are_enough_while_it_flies(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "A");
    ask(w, "bob", .key = "B");
    const struct key whole = key_named("B");
    const struct onlooker admin = {.sees_all = true};
    for (size_t digits = 8; digits <= 64; digits++) {
        struct key_prefix prefix = {.digits = digits};
        memcpy(prefix.key.bytes, whole.bytes, (digits + 1) / 2);
        if (digits % 2 == 1)
            prefix.key.bytes[digits / 2] &= 0xf0;
        assert_true(engine_look_up(w->engine, &prefix, &admin, 0, &view));
        assert_memory_equal(view.key.bytes, whole.bytes, KEY_BYTES);
        prefix.key.bytes[0] ^= 0x10;
        assert_false(engine_look_up(w->engine, &prefix, &admin, 0, &view));
    }
    skip_lines(w);
}

static void a_flight_that_nobody_may_join_is_found_too(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "A", .reuse = REUSE_NONE);
    ask(w, "bob", .key = "A", .reuse = REUSE_NONE);
    assert_true(look_up(w, "A"));
    assert_int_equal(view.flight_count, 2);
    skip_lines(w);
}

static void of_many_flights_the_oldest_are_shown(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    for (int i = 0; i < 6; i++) {
        ask(w, "ann", .key = "A", .reuse = i % 2 == 0 ? REUSE_SINGLE : REUSE_NONE);
        pass(w, 100);
    }
    assert_true(look_up(w, "A"));
    assert_int_equal(view.flight_count,
                     TIMELINE_FLIGHTS < view.flight_total ? TIMELINE_FLIGHTS : view.flight_total);
    assert_int_equal(view.flights[0].age_ms, 600);
    for (size_t i = 1; i < view.flight_count; i++)
        assert_true(view.flights[i].age_ms < view.flights[i - 1].age_ms);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_flight_tells_when_it_was_asked_sent_and_accepted),
        STORY(attempts_that_failed_stay_with_their_codes),
        STORY(what_is_solved_is_remembered_while_its_solution_is),
        STORY(a_client_sees_its_own_and_what_it_joined),
        STORY(what_is_left_of_anothers_flight_is_not_shown),
        STORY(a_task_that_nobody_waits_for_is_shown_to_its_client),
        STORY(the_first_digits_are_enough_while_it_flies),
        STORY(of_many_flights_the_oldest_are_shown),
        STORY(a_flight_that_nobody_may_join_is_found_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
