/* No client can fill what others need: shares of requests, flights, callers, idempotency keys and solutions. */
#include "../engine_defaults.h"
#include "world.h"

#include "base/assert.h"

#define URL "https://hooks.example.com/x"

static const struct client_options equals[] = {
    {.weight = 1, .budget_per_day = UINT64_MAX},
    {.weight = 1, .budget_per_day = UINT64_MAX},
    {.weight = 1, .budget_per_day = UINT64_MAX},
};

#define GREEDY 0
#define MODEST 1
#define THIRD 2

static struct engine_options options_of_three(void)
{
    struct engine_options options = world_options();
    options.clients = equals;
    options.client_count = 3;
    options.clients_share = true;
    return options;
}

/* As many different targets as are wanted: K00, K01, and so on. */
static const char *target(unsigned number)
{
    static char names[8][4];
    static unsigned next;
    char *name = names[next++ % 8];
    ASSERT(number < 100);
    name[0] = 'K';
    name[1] = (char)('0' + number / 10);
    name[2] = (char)('0' + number % 10);
    return name;
}

static unsigned refusals(const struct world *w)
{
    return w->tally.refused;
}

/* The key is solved for this client, so that it is answered from memory from now on. */
static void have_solved(struct world *w, client_id client, const char *key, const char *attempt)
{
    ask(w, "first", .key = key, .client = client);
    solve(w, attempt, attempt, "TOKEN");
}

/* ---- requests ---------------------------------------------------------------------------- */

static void answers_that_nobody_reads_keep_nobody_out(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_requests = 8;
    struct world *w = world_new(&options);
    have_solved(w, GREEDY, "K", "a1");
    for (unsigned i = 0; i < 20; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    assert_int_equal(refusals(w), 0);
    assert_int_equal(gauges_of(w).requests, 8);
    skip_lines(w);
    ask(w, "modest", .key = "L", .client = MODEST);
    expect(w, "[  6000] submit a2 L of client 1\n");
}

/* The newest are the likeliest to be asked for. */
static void the_oldest_answer_of_the_greediest_gives_way(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_requests = 4;
    struct world *w = world_new(&options);
    ask(w, "modest", .key = "K", .client = MODEST, .is_told = true);
    for (unsigned i = 0; i < 3; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    ask(w, "third", .key = "L", .client = THIRD, .is_told = true);
    skip_lines(w);
    look_as(w, "modest", MODEST, "r1");
    look_as(w, "greedy", GREEDY, "r2");
    look_as(w, "greedy", GREEDY, "r3");
    look_as(w, "greedy", GREEDY, "r4");
    expect(w, "[  6000] answer modest r1 solved \"TOKEN\" source api attempts 1\n"
              "[  6000] answer greedy refused: no such request\n"
              "[  6000] answer greedy r3 solved \"TOKEN\" source dedup_wait attempts 1\n"
              "[  6000] answer greedy r4 solved \"TOKEN\" source dedup_wait attempts 1\n");
}

static void what_was_read_gives_way_before_what_was_not(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 3;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    ask(w, "bob", .key = "K", .is_told = true);
    ask(w, "cat", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    /* Both were told: bob in a list of ids, cat at her own address. */
    assert_string_equal(peek(w, "r2"), "solved");
    told(w, "r3", NOTICE_DELIVERED);
    ask(w, "dan", .key = "K", .is_told = true);
    ask(w, "eve", .key = "K", .is_told = true);
    assert_string_equal(peek(w, "r1"), "solved");
    assert_null(peek(w, "r2"));
    assert_null(peek(w, "r3"));
    assert_int_equal(refusals(w), 0);
    skip_lines(w);
}

/* An address that was not reached yet would never hear of it. */
static void what_is_still_to_be_told_gives_way_to_nobody(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = 1;
    struct world *w = world_new(&options);
    ask(w, "ann", .key = "K", .is_told = true, .pingback = URL);
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    ask(w, "bob", .key = "K", .is_told = true);
    told(w, "r1", NOTICE_DELIVERED);
    ask(w, "bob", .key = "K", .is_told = true);
    expect(w, "[  6000] answer bob refused: too many requests are waiting, retry after 5000\n"
              "[  6000] answer bob r2 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

static void those_who_wait_leave_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_requests = 10;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    assert_int_equal(refusals(w), 2);
    skip_lines(w);
    ask(w, "modest", .key = "L", .client = MODEST);
    ask(w, "third", .key = "M", .client = THIRD);
    expect(w, "[     0] submit a2 L of client 1\n"
              "[     0] submit a3 M of client 2\n");
}

/* Whoever fills the table by waiting does not make others forget their answers. */
static void nobody_gives_way_to_the_one_who_has_most(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_requests = 10;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 3; i++)
        ask(w, "modest", .key = "L", .client = MODEST, .is_told = true);
    solve(w, "a1", "T1", "TOKEN");
    for (unsigned i = 0; i < 8; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    assert_int_equal(refusals(w), 1);
    assert_int_equal(gauges_of(w).requests, 10);
    skip_lines(w);
    look_as(w, "modest", MODEST, "r1");
    expect(w, "[  6000] answer modest r1 solved \"TOKEN\" source api attempts 1\n");
}

static void the_only_client_has_everything(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    options.max_requests = options.max_flights = 10;
    options.slots = 1;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 11; i++)
        ask(w, "ann", .key = target(i), .is_told = true);
    assert_int_equal(gauges_of(w).flights, 10);
    assert_int_equal(refusals(w), 1);
    skip_lines(w);
}

/* Readable until it expires, however many others are read meanwhile. */
static void a_read_answer_stays_readable_while_there_is_room(void **state)
{
    (void)state;
    struct engine_options options;
    engine_options_init(&options);
    struct world *w = world_new(&options);
    have_solved(w, 0, "K", "a1");
    w->is_quiet = true;
    for (unsigned i = 0; i < 20000; i++)
        ask(w, "ann", .key = "K");
    assert_string_equal(peek(w, "r1"), "solved");
    assert_int_equal(gauges_of(w).requests, 20001);
    /* Then it goes by itself. */
    pass(w, 80000);
    assert_null(peek(w, "r1"));
    assert_int_equal(gauges_of(w).requests, 0);
    skip_lines(w);
}

/* ---- flights and callers ----------------------------------------------------------------- */

static void queued_solves_leave_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_flights = 10;
    options.slots = 9;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = target(i), .client = GREEDY, .is_told = true);
    assert_int_equal(gauges_of(w).flights, 8);
    skip_lines(w);
    ask(w, "modest", .key = "L", .client = MODEST);
    expect(w, "[     0] submit a9 L of client 1\n");
}

static void their_parameters_leave_room_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_flight_bytes = 30;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = target(i), .client = GREEDY, .is_told = true);
    assert_int_equal(gauges_of(w).flights, 8);
    skip_lines(w);
    ask(w, "modest", .key = "LLL", .client = MODEST);
    expect(w, "[     0] submit a9 LLL of client 1\n");
}

/* Who is not held is told at once that it is being solved. */
static void held_callers_leave_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_callers = 5;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 5; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY);
    ask(w, "modest", .key = "L", .client = MODEST);
    expect(w, "[     0] submit a1 K\n"
              "[     0] answer greedy r1 solving\n"
              "[     0] submit a2 L of client 1\n");
    assert_int_equal(gauges_of(w).callers, 5);
}

/* Everybody shares one solve here, and one could be all that join it. */
static void a_crowd_on_one_solve_leaves_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_per_flight = 6;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 8; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    assert_int_equal(refusals(w), 2);
    skip_lines(w);
    for (unsigned i = 0; i < 3; i++)
        ask(w, "modest", .key = "K", .client = MODEST, .is_told = true);
    expect(w, "[     0] answer modest r7 solving\n"
              "[     0] answer modest r8 solving\n"
              "[     0] answer modest refused: too many requests wait for this very solve, "
              "retry after 5000\n");
}

/* ---- idempotency keys -------------------------------------------------------------------- */

static void known_idempotency_keys_keep_nobody_out(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_idempotency = 8;
    struct world *w = world_new(&options);
    have_solved(w, GREEDY, "K", "a1");
    ask(w, "modest", .key = "K", .client = MODEST, .idempotency = "mine");
    for (unsigned i = 0; i < 20; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .idempotency = target(i));
    assert_int_equal(refusals(w), 0);
    assert_int_equal(gauges_of(w).idempotency, 8);
    skip_lines(w);
    ask(w, "third", .key = "L", .client = THIRD, .idempotency = "other");
    ask(w, "modest", .key = "K", .client = MODEST, .idempotency = "mine");
    ask(w, "greedy", .key = "K", .client = GREEDY, .idempotency = target(19));
    expect(w,
           "[  6000] submit a2 L of client 2\n"
           "[  6000] answer modest r23 solved \"TOKEN\" source idempotent attempts 1 replayed\n"
           "[  6000] answer greedy r24 solved \"TOKEN\" source idempotent attempts 1 replayed\n");
}

/* A retry has to find the paid solve, so these stay; but nobody may have them all. */
static void idempotency_keys_of_solves_under_way_leave_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_idempotency = 10;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .idempotency = target(i));
    assert_int_equal(refusals(w), 2);
    skip_lines(w);
    ask(w, "modest", .key = "L", .client = MODEST, .idempotency = "mine");
    expect(w, "[     0] submit a2 L of client 1\n");
}

/* ---- solutions --------------------------------------------------------------------------- */

static void the_solutions_of_one_do_not_push_out_those_of_another(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_solutions = 4;
    struct world *w = world_new(&options);
    have_solved(w, MODEST, "L", "a1");
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = target(i), .client = GREEDY);
    for (unsigned i = 2; i < 12; i++) {
        char name[4] = {'a', (char)('0' + i % 10), '\0'};
        if (i > 9)
            (void)memcpy(name, i == 10 ? "a10" : "a11", 4);
        callback(w, name, name, "TOKEN");
    }
    assert_int_equal(gauges_of(w).solutions, 4);
    skip_lines(w);
    ask(w, "modest", .key = "L", .client = MODEST);
    expect(w, "[  6000] answer modest r12 solved \"TOKEN\" source dedup_cache attempts 1\n");
}

/* ---- letters, addresses, balances -------------------------------------------------------- */

/* The newest attempt is refused for good. */
static void write_letter(struct world *w, client_id client, const char *key)
{
    char attempt[WORLD_NAME_MAX] = {'a'};
    ask(w, "ann", .key = key, .client = client, .at_once = true);
    ASSERT(w->attempt_count < 10);
    attempt[1] = (char)('0' + w->attempt_count);
    rejected(w, attempt, CLASS_UNSOLVABLE, "ERROR_CAPTCHA_UNSOLVABLE");
}

static uint32_t letters_of(struct world *w, client_id client)
{
    struct letter_filter filter = every_letter();
    struct letter_view view;
    uint64_t cursor = 0;
    uint32_t total = 0;
    filter.has_client = true;
    filter.client = client;
    (void)engine_list_letters(w->engine, &filter, &cursor, &view, 1, &total);
    return total;
}

static void the_letters_of_one_do_not_push_out_those_of_another(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.retry_unsolvable = 0;
    options.max_letters = 4;
    struct world *w = world_new(&options);
    write_letter(w, MODEST, "L");
    for (unsigned i = 0; i < 8; i++)
        write_letter(w, GREEDY, target(i));
    assert_int_equal(letters_of(w, MODEST), 1);
    assert_int_equal(letters_of(w, GREEDY), 3);
    skip_lines(w);
}

static void nor_do_the_bytes_of_letters(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.retry_unsolvable = 0;
    options.max_letter_bytes = 10;
    struct world *w = world_new(&options);
    write_letter(w, MODEST, "L");
    for (unsigned i = 0; i < 8; i++)
        write_letter(w, GREEDY, target(i));
    assert_int_equal(letters_of(w, MODEST), 1);
    assert_int_equal(letters_of(w, GREEDY), 3);
    skip_lines(w);
}

static void addresses_have_only_so_many_bytes_and_leave_room_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_pingback_bytes = 10 * strlen(URL);
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 10; i++)
        ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true, .pingback = URL);
    assert_int_equal(refusals(w), 2);
    ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    ask(w, "modest", .key = "K", .client = MODEST, .is_told = true, .pingback = URL);
    assert_int_equal(refusals(w), 2);
    /* Nor do another's addresses keep out who has none this time. */
    ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true);
    assert_int_equal(refusals(w), 2);
    /* Whoever was told needs its address no more. */
    solve(w, "a1", "T1", "TOKEN");
    told(w, "r1", NOTICE_DELIVERED);
    told(w, "r2", NOTICE_DELIVERED);
    ask(w, "greedy", .key = "K", .client = GREEDY, .is_told = true, .pingback = URL);
    assert_int_equal(refusals(w), 2);
    skip_lines(w);
}

static void those_who_wait_for_the_balance_leave_a_place_for_others(void **state)
{
    (void)state;
    struct engine_options options = options_of_three();
    options.max_callers = 5;
    struct world *w = world_new(&options);
    for (unsigned i = 0; i < 5; i++)
        account_as(w, "greedy", GREEDY, PROBE_BALANCE);
    assert_int_equal(refusals(w), 1);
    account_as(w, "modest", MODEST, PROBE_BALANCE);
    assert_int_equal(refusals(w), 1);
    balance(w, "1");
    skip_lines(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(answers_that_nobody_reads_keep_nobody_out),
        STORY(the_oldest_answer_of_the_greediest_gives_way),
        STORY(what_was_read_gives_way_before_what_was_not),
        STORY(what_is_still_to_be_told_gives_way_to_nobody),
        STORY(those_who_wait_leave_a_place_for_others),
        STORY(nobody_gives_way_to_the_one_who_has_most),
        STORY(the_only_client_has_everything),
        STORY(a_read_answer_stays_readable_while_there_is_room),
        STORY(queued_solves_leave_a_place_for_others),
        STORY(their_parameters_leave_room_for_others),
        STORY(held_callers_leave_a_place_for_others),
        STORY(a_crowd_on_one_solve_leaves_a_place_for_others),
        STORY(known_idempotency_keys_keep_nobody_out),
        STORY(idempotency_keys_of_solves_under_way_leave_a_place_for_others),
        STORY(the_solutions_of_one_do_not_push_out_those_of_another),
        STORY(the_letters_of_one_do_not_push_out_those_of_another),
        STORY(nor_do_the_bytes_of_letters),
        STORY(addresses_have_only_so_many_bytes_and_leave_room_for_others),
        STORY(those_who_wait_for_the_balance_leave_a_place_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
