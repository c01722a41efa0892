/* Ids of requests: long ones, and short ones that hold the form of a solution (docs/createtask.md). */
#include "world.h"

#define LAYOUT_A 5
#define LAYOUT_B 17

static unsigned form_in(request_id id)
{
    return (unsigned)(id & ((1U << SHORT_ID_LAYOUT_BITS) - 1));
}

static void short_ids_hold_their_form_and_long_ones_are_beyond_them(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true, .id_layout = LAYOUT_A);
    ask(w, "bob", .key = "K", .is_told = true);
    ask(w, "cat", .key = "K", .is_told = true, .id_layout = LAYOUT_B);
    const request_id ann = world_request(w, "r1");
    const request_id bob = world_request(w, "r2");
    const request_id cat = world_request(w, "r3");
    assert_true(ann < SHORT_ID_LIMIT && form_in(ann) == LAYOUT_A);
    assert_true(bob >= SHORT_ID_LIMIT && bob < REQUEST_ID_LIMIT);
    assert_true(cat < SHORT_ID_LIMIT && form_in(cat) == LAYOUT_B);
    assert_int_equal(w->tally.submits, 1);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    look(w, "dan", "r1", 0);
    look(w, "eve", "r2", 0);
    expect(w, "[  6000] answer dan r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer eve r2 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void short_ids_survive_a_crash(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .id_layout = LAYOUT_A);
    accepted(w, "a1", "T1");
    durable(w, w->seq);
    const request_id before = world_request(w, "r1");
    crash(w, ALL_RECORDS);
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    durable(w, w->seq);
    assert_string_equal(peek(w, "r1"), "solved");
    assert_int_equal(world_request(w, "r1"), before);
    skip_lines(w);
}

static void flights_name_the_dialect_of_who_asked_first(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    struct flight_view view;
    uint64_t cursor = 0;
    ask(w, "ann", .key = "K", .is_told = true, .dialect = DIALECT_CREATETASK);
    ask(w, "bob", .key = "K", .is_told = true, .dialect = DIALECT_VENDOR);
    assert_int_equal(engine_list_flights(w->engine, WORLD_START_MS, &cursor, &view, 1), 1);
    assert_int_equal(view.dialect, DIALECT_CREATETASK);
    assert_int_equal(stats_of(w)->requests_createtask, 1);
    assert_int_equal(stats_of(w)->requests_vendor, 1);
    assert_int_equal(stats_of(w)->requests_v1, 0);
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(short_ids_hold_their_form_and_long_ones_are_beyond_them),
        STORY(short_ids_survive_a_crash),
        STORY(flights_name_the_dialect_of_who_asked_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
