/* Looks as errands: a client asks here for an id that another gateway gave together with its solution, so that no row
 * tells of it. */
#include "lines.h"
#include "shared_world.h"

/* The story's node is the first. Requests that the second and the third one gave an id. */
#define ELSEWHERE (UINT64_C(2) << 44 | 5)
#define FURTHER (UINT64_C(3) << 44 | 5)
#define SELF 1
#define OTHER 2

/* Two others live. */
static struct world *world_of_three(const struct engine_options *options)
{
    struct world *w = leased_world(options);
    members(w, {.id = 1, .node = SELF, .is_self = true}, {.id = 2, .node = OTHER},
            {.id = 3, .node = 3});
    return w;
}

static void look_as_client(struct world *world, const char *who, client_id client, request_id id,
                           uint32_t hold_ms)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){
        .caller = world_caller(world, who), .client = client, .id = id, .hold_ms = hold_ms};
    world_step(world, &event);
}

static void look_for(struct world *world, const char *who, request_id id)
{
    look_as_client(world, who, 0, id, 0);
}

/* Nobody in particular wants to know: it is one of a list. */
static void list_id(struct world *world, request_id id)
{
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.id = id};
    world_step(world, &event);
}

static void store_says(struct world *world, enum found_result result)
{
    struct event event = {.kind = EVENT_FOUND};
    event.found = (struct found){.id = world->last_find.id,
                                 .client = world->last_find.client,
                                 .ticket = world->last_find.ticket,
                                 .result = result};
    world_step(world, &event);
}

static struct event reply(struct world *world, uint64_t number, enum refusal refusal)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_REPLY;
    event.told.errand = world->last_errand;
    event.told.errand.to = SELF;
    event.told.errand.refusal = refusal;
    return event;
}

static void it_is_solved(struct world *world, uint64_t number, const char *text)
{
    struct event event = reply(world, number, REFUSAL_NONE);
    const int64_t wall_ms = WORLD_START_WALL_MS + (int64_t)world->now_ms;
    event.told.sighting = (struct sighting){.state = REQUEST_SOLVED,
                                            .source = SOURCE_DEDUP_CACHE,
                                            .attempts = 1,
                                            .born_wall_ms = wall_ms - 2000,
                                            .expires_wall_ms = wall_ms + 78000};
    event.told.result.text = blob_new(slice_from(text));
    world_step(world, &event);
    blob_unref(event.told.result.text);
}

static void it_failed(struct world *world, uint64_t number)
{
    struct event event = reply(world, number, REFUSAL_NONE);
    event.told.sighting = (struct sighting){.state = REQUEST_FAILED, .attempts = 3};
    event.told.result.class = CLASS_UNSOLVABLE;
    memcpy(event.told.result.code, "ERROR_CAPTCHA_UNSOLVABLE", sizeof "ERROR_CAPTCHA_UNSOLVABLE");
    world_step(world, &event);
}

static void it_is_unknown(struct world *world, uint64_t number)
{
    struct event event = reply(world, number, REFUSAL_UNKNOWN_ID);
    world_step(world, &event);
}

/* ---- asking -------------------------------------------------------------------------------------- */

static void an_id_without_a_row_is_asked_for_at_the_node_that_gave_it(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    w->shows_ages = true;
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n");
    pass(w, 20);
    it_is_solved(w, 5, "TOKEN");
    expect(w, "[    20] answer worker r1 solved \"TOKEN\" source dedup_cache attempts 1 age 2000 "
              "left 78000\n"
              "[    20] forget 5\n");
    /* It is remembered, and in the books of the node that has it. */
    pass(w, 5000);
    look_for(w, "worker", ELSEWHERE);
    expect(w, "[  5020] answer worker r1 solved \"TOKEN\" source dedup_cache attempts 1 age 2000 "
              "left 78000\n");
    assert_int_equal(stats_of(w)->requests, 0);
}

static void a_failure_is_told_as_it_was_there(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    skip_lines(w);
    it_failed(w, 5);
    expect(w, "[     0] answer worker r1 failed ERROR_CAPTCHA_UNSOLVABLE (unsolvable) attempts 3\n"
              "[     0] forget 5\n");
}

static void all_who_ask_for_it_are_one_errand(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "ann", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    look_for(w, "bob", ELSEWHERE);
    look_as_client(w, "cat", 0, ELSEWHERE, 20000);
    it_is_solved(w, 5, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n"
              "[     0] answer ann r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] answer bob r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] answer cat r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[     0] forget 5\n");
}

static void what_the_store_knows_is_no_errand(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_WAITING);
    expect(w, "[     0] find r1\n"
              "[     0] answer worker r1 queued\n");
}

static void an_id_is_unknown_if_its_node_says_so(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "ann", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    it_is_unknown(w, 5);
    pass(w, 10000);
    look_for(w, "bob", ELSEWHERE);
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n"
              "[     0] answer ann refused: no such request\n"
              "[     0] forget 5\n"
              "[ 10000] answer bob refused: no such request\n");
}

static void nobody_is_asked_for_an_id_of_our_own(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "worker", UINT64_C(1) << 44 | 5);
    store_says(w, FOUND_UNKNOWN);
    expect(w, "[     0] find r1\n"
              "[     0] answer worker refused: no such request\n");
}

static void nor_for_one_of_a_node_that_is_dead_or_has_left(void **state)
{
    (void)state;
    struct world *w = leased_world(NULL);
    members(w, {.id = 1, .node = SELF, .is_self = true}, {.id = 2, .node = OTHER},
            {.id = 3, .node = 3});
    pass(w, LEASE_MS);
    members(w, {.id = 1, .node = SELF, .beat = 1, .is_self = true}, {.id = 2, .node = OTHER},
            {.id = 3, .node = 3, .is_leaving = true});
    skip_lines(w);
    look_for(w, "ann", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    look_for(w, "bob", FURTHER);
    store_says(w, FOUND_UNKNOWN);
    look_for(w, "cat", UINT64_C(9) << 44 | 5);
    store_says(w, FOUND_UNKNOWN);
    expect(w, "[ 10000] find r1\n"
              "[ 10000] answer ann refused: no such request\n"
              "[ 10000] find r2\n"
              "[ 10000] answer bob refused: no such request\n"
              "[ 10000] find r3\n"
              "[ 10000] answer cat refused: no such request\n");
}

static void it_is_asked_for_in_the_name_of_its_client(void **state)
{
    (void)state;
    static const struct client_options two[2] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                 {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.clients = two;
    options.client_count = 2;
    struct world *w = world_of_three(&options);
    look_as_client(w, "eve", 1, ELSEWHERE, 0);
    store_says(w, FOUND_UNKNOWN);
    expect(w, "[     0] find r1 of client 1\n"
              "[     0] tell n2: look for r1 of client 1\n");
}

static void a_node_that_says_nothing_keeps_nobody_waiting_for_long(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "ann", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    pass(w, 5000);
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n"
              "[  5000] answer ann refused: the store cannot be reached, retry after 1000\n");
    /* What comes too late is nobody's; the store is asked again. */
    it_is_solved(w, 5, "TOKEN");
    skip_lines(w);
    pass(w, 1000);
    look_for(w, "bob", ELSEWHERE);
    expect(w, "[  6000] find r1\n");
}

static void the_reply_to_an_earlier_errand_is_not_the_next_ones(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    w->last_errand.ticket--;
    it_is_solved(w, 5, "TOKEN");
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n"
              "[     0] forget 5\n");
}

static void a_held_look_outlives_an_errand_in_vain(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_as_client(w, "worker", 0, ELSEWHERE, 20000);
    store_says(w, FOUND_UNKNOWN);
    pass(w, 5000);
    skip_lines(w);
    pass(w, 1000);
    expect(w, "[  6000] find r1\n");
    store_says(w, FOUND_UNKNOWN);
    it_is_solved(w, 6, "TOKEN");
    expect(w, "[  6000] tell n2: look for r1\n"
              "[  6000] answer worker r1 solved \"TOKEN\" source dedup_cache attempts 1\n"
              "[  6000] forget 6\n");
}

static void while_the_store_cannot_be_written_nobody_is_asked_in_vain(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    struct event full = {.kind = EVENT_STORE_STATE};
    world_step(w, &full);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    expect(w, "[     0] find r1\n"
              "[     0] answer worker refused: the store cannot be reached, retry after 1000\n");
}

/* ---- made-up ids --------------------------------------------------------------------------------- */

static struct world *world_of_many(void)
{
    static const struct client_options five[5] = {{.weight = 1, .budget_per_day = UINT64_MAX},
                                                  {.weight = 1, .budget_per_day = UINT64_MAX},
                                                  {.weight = 1, .budget_per_day = UINT64_MAX},
                                                  {.weight = 1, .budget_per_day = UINT64_MAX},
                                                  {.weight = 1, .budget_per_day = UINT64_MAX}};
    struct engine_options options = world_options();
    options.clients = five;
    options.client_count = 5;
    options.max_callers = 1000;
    return world_of_three(&options);
}

/* So many ids that nobody knows; returns how many were errands. */
static unsigned make_up(struct world *world, client_id client, unsigned count, bool is_known)
{
    static request_id id = ELSEWHERE;
    unsigned sent = 0;
    for (unsigned i = 0; i < count; i++) {
        look_as_client(world, "eve", client, ++id, 0);
        world->last_errand.id = 0;
        store_says(world, FOUND_UNKNOWN);
        if (world->last_errand.id != id)
            continue;
        sent++;
        if (is_known)
            it_is_solved(world, id, "TOKEN");
        else
            it_is_unknown(world, id);
    }
    buf_reset(&world->log);
    return sent;
}

static void ids_that_nobody_knows_are_so_many_a_second(void **state)
{
    (void)state;
    struct world *w = world_of_many();
    assert_int_equal(make_up(w, 0, 100, false), 32);
    pass(w, 999);
    assert_int_equal(make_up(w, 0, 100, false), 0);
    pass(w, 1);
    assert_int_equal(make_up(w, 0, 100, false), 32);
    /* Those of others are asked for all the same, up to a bound. */
    assert_int_equal(make_up(w, 2, 100, false), 32);
    assert_int_equal(make_up(w, 3, 100, false), 32);
    assert_int_equal(make_up(w, 4, 100, false), 32);
    assert_int_equal(make_up(w, 1, 100, false), 0);
    buf_reset(&w->log);
}

static void whoever_asks_for_one_more_is_told_to_come_again(void **state)
{
    (void)state;
    struct world *w = world_of_many();
    (void)make_up(w, 0, 32, false);
    w->last_find.id = 0;
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    assert_non_null(strstr(buf_slice(&w->log).data, "refused: the store cannot be reached"));
    buf_reset(&w->log);
    pass(w, 1000);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    assert_non_null(strstr(buf_slice(&w->log).data, "tell n2: look for"));
    buf_reset(&w->log);
}

static void ids_that_are_found_do_not_count(void **state)
{
    (void)state;
    struct world *w = world_of_many();
    assert_int_equal(make_up(w, 0, 200, true), 200);
}

static void of_a_list_so_many_are_under_way(void **state)
{
    (void)state;
    struct world *w = world_of_many();
    for (unsigned i = 0; i < 100; i++)
        list_id(w, FURTHER + i);
    assert_int_equal(w->tally.finds, 64);
    buf_reset(&w->log);
}

/* ---- replying ------------------------------------------------------------------------------------ */

static void sent_as(struct world *world, uint64_t number, client_id client, request_id id)
{
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = number;
    event.told.kind = FACT_ERRAND;
    event.told.errand = (struct errand){.verb = ERRAND_LOOK,
                                        .from = OTHER,
                                        .to = SELF,
                                        .client = client,
                                        .id = id,
                                        .caller = 77,
                                        .ticket = number};
    world_step(world, &event);
}

/* ann got TOKEN for K from a1, and bob the same from memory. */
static struct world *world_with_token(void)
{
    struct world *w = world_of_three(NULL);
    ask(w, "ann", .key = "K");
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    beat(w, 0);
    ask(w, "bob", .key = "K");
    skip_lines(w);
    return w;
}

static void another_node_is_told_what_a_look_here_would_be_told(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    sent_as(w, 5, 0, world_request(w, "r1"));
    sent_as(w, 6, 0, world_request(w, "r2"));
    expect(w, "[  6000] tell n2: accepted, solved \"TOKEN\" source api\n"
              "[  6000] forget 5\n"
              "[  6000] tell n2: accepted, solved \"TOKEN\" source dedup_cache\n"
              "[  6000] forget 6\n");
}

static void a_hit_writes_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    w->hides_records = false;
    ask(w, "cat", .key = "K");
    expect(w, "[  6000] answer cat r3 solved \"TOKEN\" source dedup_cache attempts 1 after 6\n");
}

static void another_clients_request_is_not_told(void **state)
{
    (void)state;
    struct world *w = world_with_token();
    sent_as(w, 5, 1, world_request(w, "r1"));
    sent_as(w, 6, UINT16_MAX, world_request(w, "r1"));
    sent_as(w, 7, 0, UINT64_C(1) << 44 | 5);
    expect(w, "[  6000] tell n2: no such request\n"
              "[  6000] forget 5\n"
              "[  6000] tell n2: no such request\n"
              "[  6000] forget 6\n"
              "[  6000] tell n2: no such request\n"
              "[  6000] forget 7\n");
}

/* Whoever asked there may have been answered meanwhile, or be gone: the solution, which is stale on arrival, is kept as
 * long as any that nobody has read. */
static void what_another_node_was_told_nobody_has_read(void **state)
{
    (void)state;
    struct engine_options options = world_options();
    for (int type = 0; type < TYPE_COUNT; type++)
        options.ttl_ms[type] = 5000;
    struct world *w = world_of_three(&options);
    ask(w, "ann", .key = "K", .is_told = true);
    won(w, "f1");
    solve(w, "a1", "T1", "TOKEN");
    skip_lines(w);
    sent_as(w, 5, 0, world_request(w, "r1"));
    pass(w, 25000);
    look(w, "worker", "r1", 0);
    expect(w, "[  6000] tell n2: accepted, solved \"TOKEN\" source api\n"
              "[  6000] forget 5\n"
              "[ 31000] answer worker r1 solved \"TOKEN\" source api attempts 1\n");
}

static void one_that_comes_back_is_unknown(void **state)
{
    (void)state;
    struct world *w = world_of_three(NULL);
    look_for(w, "worker", ELSEWHERE);
    store_says(w, FOUND_UNKNOWN);
    struct event event = {.kind = EVENT_TOLD};
    event.told.number = 5;
    event.told.kind = FACT_ERRAND;
    event.told.errand = w->last_errand;
    world_step(w, &event);
    expect(w, "[     0] find r1\n"
              "[     0] tell n2: look for r1\n"
              "[     0] answer worker refused: no such request\n"
              "[     0] forget 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_id_without_a_row_is_asked_for_at_the_node_that_gave_it),
        STORY(a_failure_is_told_as_it_was_there),
        STORY(all_who_ask_for_it_are_one_errand),
        STORY(what_the_store_knows_is_no_errand),
        STORY(an_id_is_unknown_if_its_node_says_so),
        STORY(nobody_is_asked_for_an_id_of_our_own),
        STORY(nor_for_one_of_a_node_that_is_dead_or_has_left),
        STORY(it_is_asked_for_in_the_name_of_its_client),
        STORY(a_node_that_says_nothing_keeps_nobody_waiting_for_long),
        STORY(the_reply_to_an_earlier_errand_is_not_the_next_ones),
        STORY(a_held_look_outlives_an_errand_in_vain),
        STORY(while_the_store_cannot_be_written_nobody_is_asked_in_vain),
        STORY(ids_that_nobody_knows_are_so_many_a_second),
        STORY(whoever_asks_for_one_more_is_told_to_come_again),
        STORY(ids_that_are_found_do_not_count),
        STORY(of_a_list_so_many_are_under_way),
        STORY(another_node_is_told_what_a_look_here_would_be_told),
        STORY(a_hit_writes_nothing),
        STORY(another_clients_request_is_not_told),
        STORY(what_another_node_was_told_nobody_has_read),
        STORY(one_that_comes_back_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
