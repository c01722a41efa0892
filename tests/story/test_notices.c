/* A caller's own address is told how its request ended: until it is heard, then a letter. */
#include "shared_world.h"

#include "base/assert.h"

#define URL "https://hooks.example.com/x"

static void a_caller_with_an_address_is_told_the_solution(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    told(w, "r1", NOTICE_DELIVERED);
    assert_int_equal(stats_of(w)->notices_delivered, 1);
    look(w, "ann", "r1", 0);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[5000..6000] poll a1 task T1\n"
              "[  6000] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_hit_is_told_at_once(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K", .is_told = true, .pingback = URL);
    told(w, "r2", NOTICE_DELIVERED);
    expect(w, "[  6000] notify https://hooks.example.com/x of r2: TOKEN\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void a_failure_is_told_as_the_vendor_does(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, "r1", NOTICE_DELIVERED);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer ann r1 solving\n"
              "[     0] notify https://hooks.example.com/x of r1: ERROR_BAD_PROXY\n");
}

static void an_address_that_does_not_listen_is_told_again_and_becomes_a_letter(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    told(w, "r1", NOTICE_REFUSED);
    pass(w, 1000);
    told(w, "r1", NOTICE_BUSY);
    pass(w, 1000);
    told(w, "r1", NOTICE_REFUSED);
    pass(w, 2000);
    told(w, "r1", NOTICE_REFUSED);
    assert_int_equal(gauges_of(w).letters, 1);
    assert_int_equal(stats_of(w)->notices_failed, 1);
    struct letter_view view;
    struct letter_filter every = every_letter();
    uint64_t cursor = 0;
    uint32_t total;
    assert_int_equal(engine_list_letters(w->engine, &every, &cursor, &view, 1, &total), 1);
    assert_int_equal(view.kind, LETTER_OF_NOTICE);
    assert_int_equal(view.note_count, 3);
    assert_string_equal(view.pingback.data, URL);
    assert_string_equal(view.text.data, "TOKEN");
    expect(w, "[  7000] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[  8000] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[ 10000] notify https://hooks.example.com/x of r1: TOKEN\n");
}

static void a_letter_about_a_callback_is_replayed_by_telling_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    told(w, "r1", NOTICE_REFUSED);
    skip_lines(w);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    told(w, "r1", NOTICE_REFUSED);
    assert_int_equal(gauges_of(w).letters, 1);
    pass(w, 1000);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    told(w, "r1", NOTICE_DELIVERED);
    assert_int_equal(gauges_of(w).letters, 0);
    expect(w, "[  6000] letters operator 1\n"
              "[  6000] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[  7000] letters operator 1\n"
              "[  7000] notify https://hooks.example.com/x of r1: TOKEN\n");
}

static void whoever_detaches_is_told_nothing_more(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    told(w, "r1", NOTICE_REFUSED);
    skip_lines(w);
    detach(w, "ann", "r1");
    pass(w, 60000);
    expect(w, "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void a_request_stays_until_its_caller_was_told(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = 20;
    options.notice_cap_ms = 600000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    look(w, "ann", "r1", 0);
    for (int i = 0; i < 9; i++) {
        told(w, "r1", NOTICE_REFUSED);
        pass(w, 600000);
    }
    assert_int_equal(gauges_of(w).requests, 1);
    told(w, "r1", NOTICE_DELIVERED);
    pass(w, 60000);
    assert_int_equal(gauges_of(w).requests, 0);
    skip_lines(w);
}

static void after_a_crash_the_address_is_told_again(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    crash(w, ALL_RECORDS);
    told(w, "r1", NOTICE_DELIVERED);
    expect(w, "[  6000] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[  6000] journal 1 request r1 solved\n");
    crash(w, ALL_RECORDS);
    look(w, "ann", "r1", 0);
    expect(w, "[  6000] answer ann r1 solved \"TOKEN\" source api attempts 1\n");
}

static void no_address_hears_of_a_request_that_is_not_on_disk(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.has_journal = true;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K");
    solve(w, "a1", "T1", "TOKEN");
    durable(w, w->seq);
    skip_lines(w);
    const journal_seq before = w->seq;
    ask(w, "bob", .key = "K", .is_told = true, .pingback = URL);
    assert_int_equal(w->seq, before + 1);
    expect(w, "[  6000] journal 9 request r2 solved tells https://hooks.example.com/x\n"
              "[  6000] notify https://hooks.example.com/x of r2: TOKEN after 9\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1 after 9\n");
}

static void letters_under_way_leave_a_place_for_every_request(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 1;
    options.notice_retries = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, "r1", NOTICE_REFUSED);
    look(w, "ann", "r1", 0);
    order_letters(w, LETTER_REPLAY, every_letter());
    pass(w, 0);
    ask(w, "bob", .key = "L", .is_told = true, .pingback = URL);
    rejected(w, "a2", CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, "r2", NOTICE_DELIVERED);
    told(w, "r1", NOTICE_DELIVERED);
    assert_int_equal(stats_of(w)->notices_delivered, 2);
    skip_lines(w);
}

static void letters_are_told_again_however_many_were_before(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = 0;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, "r1", NOTICE_REFUSED);
    w->is_quiet = true;
    for (int i = 0; i < 300; i++) {
        order_letters(w, LETTER_REPLAY, every_letter());
        pass(w, 1000);
        told(w, "r1", NOTICE_REFUSED);
    }
    assert_int_equal(stats_of(w)->letters_replayed, 300);
    skip_lines(w);
}

static void waits_between_two_tries_grow_to_the_cap(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_cap_ms = 3000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    skip_lines(w);
    for (int i = 0; i < 3; i++) {
        told(w, "r1", NOTICE_REFUSED);
        pass(w, 3000);
    }
    told(w, "r1", NOTICE_DELIVERED);
    expect(w, "[  1000] notify https://hooks.example.com/x of r1: ERROR_BAD_PROXY\n"
              "[  5000] notify https://hooks.example.com/x of r1: ERROR_BAD_PROXY\n"
              "[  9000] notify https://hooks.example.com/x of r1: ERROR_BAD_PROXY\n");
}

static void a_letter_about_an_address_is_its_clients(void **state)
{
    (void)state;
    static const struct client_options two[] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.notice_retries = 0;
    options.clients = two;
    options.client_count = 2;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL, .client = 1);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    told(w, "r1", NOTICE_REFUSED);
    struct letter_filter of_client = every_letter();
    of_client.has_client = true;
    of_client.client = 1;
    skip_lines(w);
    order_letters(w, LETTER_DROP, of_client);
    expect(w, "[     0] letters operator 1\n");
}

static void of_very_many_tries_a_letter_tells_the_last(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.notice_retries = NOTES_MAX + 8;
    options.notice_cap_ms = 1000;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    rejected(w, "a1", CLASS_PROXY, "ERROR_BAD_PROXY");
    for (int i = 0; i <= NOTES_MAX + 8; i++) {
        told(w, "r1", NOTICE_REFUSED);
        pass(w, 1000);
    }
    struct letter_view view;
    struct letter_filter every = every_letter();
    uint64_t cursor = 0;
    uint32_t total;
    assert_int_equal(engine_list_letters(w->engine, &every, &cursor, &view, 1, &total), 1);
    assert_int_equal(view.note_count, NOTES_MAX);
    for (int i = 0; i < NOTES_MAX; i++)
        assert_int_equal(view.notes[i].wall_ms, WORLD_START_WALL_MS + 1000 * (i + 9));
    skip_lines(w);
}

/* ---- a gateway that dies, and another one that shares its store ---------------------------- */

/* Ann's task is at the vendor, who knows her address; her gateway is about to die. */
static struct world *world_with_address(void)
{
    struct world *w = leased_world(NULL);
    beat(w, 0);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    won(w, "f1");
    accepted(w, "a1", "T1");
    return w;
}

static void adopted_by_another(struct world *w)
{
    const struct member me = {.id = DEAD_NODE + 1, .beat = 1, .is_self = true};
    const struct member it = {.id = DEAD_NODE, .beat = 1, .is_leaving = true};
    members(w, me, it);
    skip_lines(w);
    (void)adopted(w, 99);
}

static void who_adopts_the_task_tells_the_solution_once(void **state)
{
    (void)state;
    struct world *w = world_with_address();
    dies(w, "K", "f1");
    adopted_by_another(w);
    solved(w, "a1", "TOKEN");
    told(w, "r1", NOTICE_REFUSED);
    pass(w, 1000);
    told(w, "r1", NOTICE_DELIVERED);
    pass(w, 60000);
    expect(w, "[     0] poll a1 task T1\n"
              "[     1] release f1 K solved\n"
              "[     1] notify https://hooks.example.com/x of r1: TOKEN\n"
              "[  1001] notify https://hooks.example.com/x of r1: TOKEN\n");
    assert_int_equal(stats_of(w)->notices_delivered, 1);
}

static void what_the_dead_one_was_not_heard_with_is_told_by_its_adopter(void **state)
{
    (void)state;
    struct world *w = world_with_address();
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    dies(w, NULL, NULL);
    adopted_by_another(w);
    told(w, "r1", NOTICE_DELIVERED);
    pass(w, 60000);
    expect(w, "[  6000] notify https://hooks.example.com/x of r1: TOKEN\n");
}

static void what_the_dead_one_has_told_is_not_told_again(void **state)
{
    (void)state;
    struct world *w = world_with_address();
    pass(w, 6000);
    solved(w, "a1", "TOKEN");
    told(w, "r1", NOTICE_DELIVERED);
    dies(w, NULL, NULL);
    adopted_by_another(w);
    look(w, "worker", "r1", 0);
    pass(w, 60000);
    expect(w, "[  6001] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_caller_with_an_address_is_told_the_solution),
        STORY(a_hit_is_told_at_once),
        STORY(a_failure_is_told_as_the_vendor_does),
        STORY(an_address_that_does_not_listen_is_told_again_and_becomes_a_letter),
        STORY(a_letter_about_a_callback_is_replayed_by_telling_again),
        STORY(whoever_detaches_is_told_nothing_more),
        STORY(a_request_stays_until_its_caller_was_told),
        STORY(after_a_crash_the_address_is_told_again),
        STORY(no_address_hears_of_a_request_that_is_not_on_disk),
        STORY(letters_under_way_leave_a_place_for_every_request),
        STORY(letters_are_told_again_however_many_were_before),
        STORY(waits_between_two_tries_grow_to_the_cap),
        STORY(a_letter_about_an_address_is_its_clients),
        STORY(of_very_many_tries_a_letter_tells_the_last),
        STORY(who_adopts_the_task_tells_the_solution_once),
        STORY(what_the_dead_one_was_not_heard_with_is_told_by_its_adopter),
        STORY(what_the_dead_one_has_told_is_not_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
