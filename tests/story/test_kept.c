/* Solutions that left the cache stay readable, but only so many bytes of them. */
#include "world.h"

#include <string.h>

#define LARGE 60000
/* Three of them fit, with what each costs besides its text, and a fourth does not. */
#define ROOM 200000

static const struct client_options equals[] = {
    {.weight = 1, .budget_per_day = UINT64_MAX},
    {.weight = 1, .budget_per_day = UINT64_MAX},
};

#define GREEDY 0
#define MODEST 1

/* The cache holds none of them. */
static struct engine_options small_room(void)
{
    struct engine_options options = world_options();
    options.clients = equals;
    options.client_count = 2;
    options.max_solution_bytes = 1000;
    options.max_finished_bytes = ROOM;
    options.has_journal = true;
    return options;
}

static const char *large_text(char first)
{
    static char text[LARGE + 1];
    memset(text, first, LARGE);
    return text;
}

static const char *attempt_name(unsigned number)
{
    static char names[8][4];
    static unsigned next;
    char *name = names[next++ % 8];
    name[0] = 'a';
    name[1] = (char)('0' + number);
    return name;
}

/* One more attempt brings a large text to this client's request, which is told only its id. */
static void have_large(struct world *w, client_id client, char letter)
{
    const char key[] = {letter, '\0'};
    ask(w, "who", .key = key, .client = client, .is_told = true);
    solve(w, attempt_name((unsigned)w->attempt_count), key, large_text(letter));
    skip_lines(w);
}

/* The answer counts as read then. */
static bool is_readable(struct world *w, const char *request, client_id client)
{
    struct answer answer;
    const bool is_known = engine_peek(w->engine, client, world_request(w, request), &answer);
    assert_true(!is_known || answer.state == REQUEST_SOLVED);
    answer_close(&answer);
    return is_known;
}

static void only_so_many_bytes_stay_readable_and_the_oldest_go_first(void **state)
{
    (void)state;
    const struct engine_options options = small_room();
    struct world *w = world_new(&options);
    for (char letter = 'K'; letter < 'P'; letter++)
        have_large(w, GREEDY, letter);
    assert_true(gauges_of(w).finished_bytes <= ROOM);
    assert_int_equal(gauges_of(w).requests, 3);
    durable(w, w->seq);
    assert_false(is_readable(w, "r1", GREEDY));
    assert_false(is_readable(w, "r2", GREEDY));
    assert_true(is_readable(w, "r3", GREEDY));
    assert_true(is_readable(w, "r5", GREEDY));
    /* Nor does the disk keep what was forgotten. */
    assert_int_equal(disk_count(&w->disk, RECORD_REQUEST), 3);
    assert_int_equal(disk_count(&w->disk, RECORD_SOLUTION), 3);
}

static void what_was_read_goes_before_what_was_not(void **state)
{
    (void)state;
    const struct engine_options options = small_room();
    struct world *w = world_new(&options);
    have_large(w, GREEDY, 'K');
    have_large(w, GREEDY, 'L');
    have_large(w, GREEDY, 'M');
    durable(w, w->seq);
    assert_true(is_readable(w, "r2", GREEDY));
    have_large(w, GREEDY, 'N');
    durable(w, w->seq);
    assert_false(is_readable(w, "r2", GREEDY));
    assert_true(is_readable(w, "r1", GREEDY));
}

static void the_greediest_client_gives_way(void **state)
{
    (void)state;
    const struct engine_options options = small_room();
    struct world *w = world_new(&options);
    have_large(w, MODEST, 'K');
    for (char letter = 'L'; letter < 'Q'; letter++)
        have_large(w, GREEDY, letter);
    durable(w, w->seq);
    assert_true(is_readable(w, "r1", MODEST));
    assert_false(is_readable(w, "r4", GREEDY));
    assert_true(is_readable(w, "r5", GREEDY));
    assert_true(is_readable(w, "r6", GREEDY));
}

/* A crowd that joined one solve holds one text. */
static void a_crowd_counts_its_solution_once_and_loses_it_together(void **state)
{
    (void)state;
    struct engine_options options = small_room();
    options.step_batch = 2;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 5; i++)
        ask(w, "crowd", .key = "K", .is_told = true);
    solve(w, "a1", "K", large_text('K'));
    have_large(w, GREEDY, 'L');
    have_large(w, GREEDY, 'M');
    assert_int_equal(gauges_of(w).requests, 7);
    have_large(w, GREEDY, 'N');
    pass(w, 0);
    assert_int_equal(gauges_of(w).requests, 3);
    assert_true(gauges_of(w).finished_bytes <= ROOM);
    skip_lines(w);
}

/* The work is spread over several ticks, however many hold the solution. */
static void a_crowd_is_forgotten_in_batches(void **state)
{
    (void)state;
    struct engine_options options = small_room();
    options.step_batch = 2;
    options.wake_batch = 10000;
    options.max_finished_bytes = 1000;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 7; i++)
        ask(w, "crowd", .key = "K", .is_told = true);
    accepted(w, "a1", "K");
    pass(w, 6000);
    const uint32_t before = gauges_of(w).requests;
    solved(w, "a1", large_text('K'));
    assert_int_equal(gauges_of(w).requests, before - 2);
    tick(w);
    assert_int_equal(gauges_of(w).requests, before - 4);
    pass(w, 0);
    assert_int_equal(gauges_of(w).requests, 0);
    skip_lines(w);
}

static void an_idempotency_key_holds_its_solution_too(void **state)
{
    (void)state;
    const struct engine_options options = small_room();
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .idempotency = "I", .is_told = true);
    solve(w, "a1", "K", large_text('K'));
    durable(w, w->seq);
    detach(w, "ann", "r1");
    assert_true(gauges_of(w).finished_bytes > LARGE);
    for (char letter = 'L'; letter < 'O'; letter++)
        have_large(w, GREEDY, letter);
    assert_int_equal(gauges_of(w).idempotency, 0);
    assert_true(gauges_of(w).finished_bytes <= ROOM);
    skip_lines(w);
    ask(w, "ann", .key = "K", .idempotency = "I");
    assert_int_equal(w->tally.submits, 5);
    skip_lines(w);
}

static void the_cache_counts_its_own(void **state)
{
    (void)state;
    struct engine_options options = small_room();
    options.max_solution_bytes = 10 * LARGE;
    options.max_finished_bytes = 1000;
    struct world *w = world_new(&options);
    have_large(w, GREEDY, 'K');
    have_large(w, GREEDY, 'L');
    assert_int_equal(gauges_of(w).finished_bytes, 0);
    durable(w, w->seq);
    assert_true(is_readable(w, "r1", GREEDY));
    /* Reported bad, it leaves the cache: now only the request holds it. */
    report_bad(w, "ann", "r1");
    assert_int_equal(gauges_of(w).finished_bytes, 0);
    assert_int_equal(gauges_of(w).requests, 1);
    skip_lines(w);
}

static void a_restart_counts_them_again(void **state)
{
    (void)state;
    const struct engine_options options = small_room();
    struct world *w = world_new(&options);
    for (char letter = 'K'; letter < 'N'; letter++)
        have_large(w, GREEDY, letter);
    const uint64_t bytes = gauges_of(w).finished_bytes;
    assert_true(bytes > 3 * LARGE);
    crash(w, ALL_RECORDS);
    assert_int_equal(gauges_of(w).finished_bytes, bytes);
    w->options.max_finished_bytes = ROOM / 2;
    crash(w, ALL_RECORDS);
    pass(w, 1);
    assert_int_equal(gauges_of(w).requests, 1);
    durable(w, w->seq);
    assert_true(is_readable(w, "r3", GREEDY));
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(only_so_many_bytes_stay_readable_and_the_oldest_go_first),
        STORY(what_was_read_goes_before_what_was_not),
        STORY(the_greediest_client_gives_way),
        STORY(a_crowd_counts_its_solution_once_and_loses_it_together),
        STORY(a_crowd_is_forgotten_in_batches),
        STORY(an_idempotency_key_holds_its_solution_too),
        STORY(the_cache_counts_its_own),
        STORY(a_restart_counts_them_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
