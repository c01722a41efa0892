#include "store_conformance.h"
#include "store_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- joining ----------------------------------------------------------------------------- */

static void a_name_keeps_its_number_and_every_run_has_another_incarnation(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    assert_true(a.backend->node != 0 && a.backend->node != b.backend->node);
    assert_true(a.backend->incarnation < b.backend->incarnation);
    const uint16_t number = a.backend->node;
    const uint64_t incarnation = b.backend->incarnation;
    node_close(&a);
    node_open(&a, *state, "a");
    assert_true(a.backend->node == number && a.backend->incarnation > incarnation);
    node_leave(&a);
    node_open(&a, *state, "a");
    assert_true(a.backend->node == number && a.backend->incarnation > incarnation + 1);
    node_close(&a);
    node_close(&b);
}

static void two_cannot_run_under_one_name(void **state)
{
    struct node a, twin;
    node_open(&a, *state, "a");
    node_open_with(&twin, *state, "a", NODE_LEASE_MS);
    assert_int_equal(twin.opening, STORE_LOCKED);
    assert_non_null(strstr(twin.mistake, "cluster.node"));
    node_close(&a);
}

/* As after a partition: nobody told the server that the first one is over. */
static void a_lock_that_the_same_run_left_behind_is_its_own(void **state)
{
    struct node before, after, stranger;
    node_open_run(&before, *state, "a", "0123456789abcdef");
    assert_int_equal(before.opening, STORE_OPENED);
    node_open_run(&stranger, *state, "a", "fedcba9876543210");
    assert_int_equal(stranger.opening, STORE_LOCKED);
    node_open_run(&after, *state, "a", "0123456789abcdef");
    assert_int_equal(after.opening, STORE_OPENED);
    assert_int_equal(after.backend->node, before.backend->node);
    assert_true(after.backend->incarnation > before.backend->incarnation);
    /* The end of the first one takes nothing from the second. */
    node_close(&before);
    node_open_run(&stranger, *state, "a", "fedcba9876543210");
    assert_int_equal(stranger.opening, STORE_LOCKED);
    struct record record = solution_of(*state, 2, 2, true);
    node_put(&after, &record);
    node_send(&after);
    node_close(&after);
}

struct seen {
    unsigned rows;
};

static void see_row(void *context, enum record_kind kind, const struct row_value *values)
{
    (void)kind;
    (void)values;
    ((struct seen *)context)->rows++;
}

static unsigned count_own(struct node *node)
{
    struct seen seen = {.rows = 0};
    assert_int_equal(node->backend->driver->load(node->backend, WORLD_NOW, see_row, &seen),
                     STORE_DONE);
    return seen.rows;
}

static struct claim claim_held(uint32_t key, uint64_t flight)
{
    struct claim claim = claim_shared(key, flight);
    claim.reuse = REUSE_NONE;
    claim.is_held = true;
    return claim;
}

/* It stays who it is. What it had claimed it asks for again, and nothing else before the others had time to do so. */
static void a_node_whose_rows_are_lost_goes_on(void **state)
{
    const struct store_world *const world = *state;
    struct node a, b;
    if (world->kit->empty == NULL)
        skip();
    node_open(&a, *state, "a");
    struct record record = solution_of(*state, 1, 1, true);
    node_put(&a, &record);
    node_send(&a);
    const struct claim before = claim_shared(11, 11);
    assert_int_equal(node_ask(&a, &before).result, CLAIM_WON);
    const uint64_t incarnation = a.backend->incarnation;
    world->kit->empty();
    record = world_record(*state, RECORD_REQUEST, 7);
    node_put(&a, &record);
    node_send(&a);
    assert_int_equal(a.backend->losses, 1);
    assert_int_equal(a.backend->incarnation, incarnation);
    const struct claim other = claim_shared(12, 12);
    assert_int_equal(node_ask(&a, &other).result, CLAIM_UNAVAILABLE);
    const struct claim held = claim_held(11, 11);
    assert_int_equal(node_ask(&a, &held).result, CLAIM_WON);
    assert_int_equal(count_own(&a), 1);
    node_open(&b, *state, "b");
    const struct claim late = claim_held(11, 13);
    assert_int_equal(node_ask(&b, &late).result, CLAIM_FOLLOW);
    assert_int_equal(a.backend->driver->beat(a.backend), STORE_DONE);
    assert_int_equal(a.backend->losses, 1);
    node_close(&a);
    node_close(&b);
}

static void all_have_the_same_lease(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open_with(&b, *state, "b", 7000);
    assert_int_equal(b.opening, STORE_UNUSABLE);
    assert_non_null(strstr(b.mistake, "cluster.lease"));
    assert_non_null(strstr(b.mistake, "10000 ms"));
    /* Also of one that crashed, since the others wait for as long before they believe it. */
    node_close(&a);
    node_open_with(&b, *state, "b", 7000);
    assert_int_equal(b.opening, STORE_UNUSABLE);
    node_open(&a, *state, "a");
    node_leave(&a);
    node_open_with(&b, *state, "b", 7000);
    assert_int_equal(b.opening, STORE_OPENED);
    node_close(&b);
}

/* A gateway that says every now and then that it lives. */
struct liver {
    const struct node *node;
    struct store_backend *pulse;
    uv_thread_t thread;
    uv_sem_t stop;
};

static void live(void *context)
{
    static struct store_members members;
    struct liver *const liver = context;
    const struct demand none = {.slots = 0};
    while (uv_sem_trywait(&liver->stop) != 0) {
        const enum store_result result =
            liver->pulse->driver->sharing->pulse_beat(liver->pulse, &none, &members);
        assert_int_not_equal(result, node_refusal(liver->node));
        uv_sleep(100);
    }
}

static void live_on(struct liver *liver, const struct node *node)
{
    liver->node = node;
    liver->pulse = node->backend->driver->sharing->make_pulse(node->backend);
    assert_int_equal(uv_sem_init(&liver->stop, 0), 0);
    assert_int_equal(uv_thread_create(&liver->thread, live, liver), 0);
}

static void live_no_more(struct liver *liver)
{
    uv_sem_post(&liver->stop);
    assert_int_equal(uv_thread_join(&liver->thread), 0);
    uv_sem_destroy(&liver->stop);
    liver->pulse->driver->close(liver->pulse);
}

static void one_that_has_the_store_for_itself_excludes_all_others(void **state)
{
    struct node single, a;
    node_open(&single, *state, NULL);
    assert_int_equal(single.backend->node, 0);
    node_open_with(&a, *state, "a", NODE_LEASE_MS);
    assert_int_equal(a.opening, STORE_LOCKED);
    assert_non_null(strstr(a.mistake, "cluster.enabled"));
    node_close(&single);
    node_open(&a, *state, "a");
    struct liver liver;
    live_on(&liver, &a);
    node_open_with(&single, *state, NULL, 0);
    assert_int_equal(single.opening, STORE_LOCKED);
    live_no_more(&liver);
    node_close(&a);
}

static void put_all(struct node *node)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        struct record record = world_record(node->world, (enum record_kind)kind, 7);
        node_put(node, &record);
    }
    node_send(node);
}

static void rows_follow_when_a_gateway_joins_and_when_it_is_alone_again(void **state)
{
    struct node single, a, b;
    node_open(&single, *state, NULL);
    put_all(&single);
    node_close(&single);
    node_open(&a, *state, "a");
    assert_int_equal(count_own(&a), RECORD_KIND_COUNT);
    node_leave(&a);
    node_open(&single, *state, NULL);
    assert_int_equal(count_own(&single), RECORD_KIND_COUNT);
    node_close(&single);
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    assert_int_equal(count_own(&b), 0);
    node_leave(&a);
    node_leave(&b);
    node_open_with(&single, *state, NULL, 0);
    assert_int_equal(single.opening, STORE_UNUSABLE);
    assert_non_null(strstr(single.mistake, "2 gateways"));
}

/* ---- the pulse --------------------------------------------------------------------------- */

struct woken {
    struct key names[1024];
    unsigned count;
};

static void on_woken(void *context, const struct key *name)
{
    struct woken *const woken = context;
    assert_true(woken->count < 1024);
    woken->names[woken->count++] = *name;
}

struct pages {
    unsigned days, tallies;
    uint64_t requests;
};

static void see_page(void *context, enum record_kind kind, const struct row_value *values)
{
    struct pages *const pages = context;
    struct record record = {.kind = kind};
    struct slice client;
    assert_true(row_from_values(values, &record, &client));
    assert_true(kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT);
    pages->days += kind == RECORD_DAY;
    pages->tallies += kind == RECORD_TALLY;
    if (kind == RECORD_DAY)
        pages->requests += record_stats(&record.day).requests;
    else
        assert_true(client.len > 0);
    record_close(&record);
}

static struct pages pages_of(struct store_backend *reader, uint16_t node)
{
    struct pages pages = {.days = 0};
    assert_int_equal(reader->driver->sharing->books(reader, node, WORLD_NOW, see_page, &pages),
                     STORE_DONE);
    return pages;
}

static void the_books_of_each_can_be_read_by_all_also_of_the_dead(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    put_all(&a);
    struct record day = world_record(a.world, RECORD_DAY, 8);
    blob_unref(day.day.stats);
    day.day.stats = record_pack_stats(&(struct stats){.requests = 5});
    node_put(&b, &day);
    node_send(&b);
    struct store_backend *const reader = b.backend->driver->sharing->make_pulse(b.backend);
    assert_int_equal(pages_of(reader, a.backend->node).days, 1);
    assert_int_equal(pages_of(reader, a.backend->node).tallies, 1);
    assert_int_equal(pages_of(reader, b.backend->node).days, 1);
    assert_int_equal(pages_of(reader, b.backend->node).requests, 5);
    assert_int_equal(pages_of(reader, b.backend->node).tallies, 0);
    assert_int_equal(pages_of(reader, 77).days, 0);
    const uint16_t number = a.backend->node;
    node_leave(&a);
    assert_int_equal(pages_of(reader, number).days, 1);
    /* Reading changed nothing of the reader's own. */
    assert_int_equal(reader->node, b.backend->node);
    b.backend->driver->close(reader);
    node_close(&b);
}

static void an_end_wakes_the_others_and_many_do_at_once(void **state)
{
    static struct store_members members;
    static struct woken woken;
    struct node a, b;
    woken.count = 0;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct store_sharing *const sharing = a.backend->driver->sharing;
    struct store_backend *const pulse = sharing->make_pulse(b.backend);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sharing->pulse_beat(pulse, &(struct demand){.slots = 0, .pools = 0}, &members),
                     STORE_DONE);
    for (unsigned i = 1; i <= 250; i++) {
        const struct claim claim = claim_shared(i, i);
        (void)node_claim(&a, &claim);
    }
    node_send(&a);
    assert_int_equal(sharing->pulse_wait(pulse, ends[0], 100, on_woken, &woken), STORE_DONE);
    assert_int_equal(woken.count, 0);
    for (unsigned i = 1; i <= 250; i++) {
        const struct release end = {.flight = i, .name = key_of(i)};
        node_release(&a, &end);
    }
    node_send(&a);
    for (unsigned i = 0; i < 50 && woken.count < 250; i++)
        assert_int_equal(sharing->pulse_wait(pulse, ends[0], 100, on_woken, &woken), STORE_DONE);
    assert_int_equal(woken.count, 250);
    bool is_seen[251] = {false};
    for (unsigned i = 0; i < woken.count; i++) {
        uint32_t number;
        memcpy(&number, woken.names[i].bytes + 4, sizeof(number));
        assert_in_range(number, 1, 250);
        is_seen[number] = true;
    }
    for (unsigned i = 1; i <= 250; i++)
        assert_true(is_seen[i]);
    a.backend->driver->close(pulse);
    (void)close(ends[0]);
    (void)close(ends[1]);
    node_close(&a);
    node_close(&b);
}

/* ---- races ------------------------------------------------------------------------------- */

#define KEYS 200
#define BATCH 16

/* Claims all keys from a thread of its own. */
struct racer {
    struct node node;
    uv_thread_t thread;
    uint64_t first_flight;
    bool has_digests;
    bool is_single;
    struct claimed results[KEYS];
};

static struct claim claim_of(const struct racer *racer, unsigned i)
{
    const uint64_t flight = racer->first_flight + i;
    if (racer->is_single)
        return claim_single(i % 4, flight);
    /* The same idempotency keys for different things, too. */
    const unsigned key = racer->has_digests && i % 2 == 0 ? i + (unsigned)racer->first_flight : i;
    const struct claim claim = claim_shared(key, flight);
    return racer->has_digests ? claim_with(claim, 100000 + i) : claim;
}

static void race(void *context)
{
    struct racer *const racer = context;
    const struct store_asked *asked[BATCH];
    for (unsigned first = 0; first < KEYS; first += BATCH) {
        unsigned count = 0;
        for (unsigned i = first; i < KEYS && count < BATCH; i++) {
            /* Not in the order of their names. */
            const struct claim claim = claim_of(racer, i);
            asked[count++] = node_claim(&racer->node, &claim);
        }
        node_send(&racer->node);
        for (unsigned i = 0; i < count; i++)
            racer->results[first + i] = asked[i]->claimed;
    }
}

static void run_both(struct racer *a, struct racer *b)
{
    assert_int_equal(uv_thread_create(&a->thread, race, a), 0);
    assert_int_equal(uv_thread_create(&b->thread, race, b), 0);
    assert_int_equal(uv_thread_join(&a->thread), 0);
    assert_int_equal(uv_thread_join(&b->thread), 0);
}

static void of_two_who_ask_at_the_same_time_one_wins(void **state)
{
    static struct racer a, b;
    a = (struct racer){.first_flight = 1000};
    b = (struct racer){.first_flight = 2000};
    node_open(&a.node, *state, "a");
    node_open(&b.node, *state, "b");
    run_both(&a, &b);
    for (unsigned i = 0; i < KEYS; i++) {
        const bool a_won = a.results[i].result == CLAIM_WON;
        assert_int_equal(a.results[i].result, a_won ? CLAIM_WON : CLAIM_FOLLOW);
        assert_int_equal(b.results[i].result, a_won ? CLAIM_FOLLOW : CLAIM_WON);
        assert_int_equal((a_won ? b : a).results[i].followed, (a_won ? a : b).first_flight + i);
    }
    node_close(&a.node);
    node_close(&b.node);
}

static void of_two_who_use_an_idempotency_key_one_decides_what_it_stands_for(void **state)
{
    static struct racer a, b;
    a = (struct racer){.first_flight = 1000, .has_digests = true};
    b = (struct racer){.first_flight = 2000, .has_digests = true};
    node_open(&a.node, *state, "a");
    node_open(&b.node, *state, "b");
    run_both(&a, &b);
    for (unsigned i = 0; i < KEYS; i++) {
        const enum claim_result lost = i % 2 == 0 ? CLAIM_MISMATCH : CLAIM_FOLLOW;
        const bool a_won = a.results[i].result == CLAIM_WON;
        assert_int_equal(a.results[i].result, a_won ? CLAIM_WON : lost);
        assert_int_equal(b.results[i].result, a_won ? lost : CLAIM_WON);
        if (i % 2 == 1)
            assert_true((a_won ? b : a).results[i].is_replayed);
    }
    node_close(&a.node);
    node_close(&b.node);
}

static void of_two_who_want_a_single_use_solution_one_gets_it(void **state)
{
    static struct racer a, b;
    struct node gone;
    a = (struct racer){.first_flight = 1000, .is_single = true};
    b = (struct racer){.first_flight = 2000, .is_single = true};
    node_open(&gone, *state, "gone");
    for (unsigned i = 0; i < 100; i++) {
        struct record solution = solution_of(*state, i + 1, i % 4, false);
        node_put(&gone, &solution);
    }
    node_send(&gone);
    node_leave(&gone);
    node_open(&a.node, *state, "a");
    node_open(&b.node, *state, "b");
    run_both(&a, &b);
    unsigned taken = 0;
    for (unsigned i = 0; i < KEYS; i++)
        taken += (a.results[i].result == CLAIM_TAKEN ? 1U : 0U) +
                 (b.results[i].result == CLAIM_TAKEN ? 1U : 0U);
    assert_int_equal(taken, 100);
    node_close(&a.node);
    node_close(&b.node);
}

/* Ends the flights of all keys, each with its solution. */
static void end_all(void *context)
{
    struct racer *const racer = context;
    for (unsigned i = 0; i < KEYS; i++) {
        struct record solution = solution_of(racer->node.world, 5000 + i, i, true);
        const struct release end = {
            .flight = racer->first_flight + i, .name = key_of(i), .solution = 5000 + i};
        node_put(&racer->node, &solution);
        node_release(&racer->node, &end);
        node_send(&racer->node);
    }
}

/* Neither of the two looks of the one who asks may miss both the claim and the solution. */
static void who_asks_at_the_moment_of_the_end_does_not_solve_it_again(void **state)
{
    static struct racer a, b;
    a = (struct racer){.first_flight = 1000};
    b = (struct racer){.first_flight = 2000};
    node_open(&a.node, *state, "a");
    node_open(&b.node, *state, "b");
    race(&a);
    const struct claim first = claim_shared(0, b.first_flight);
    assert_int_equal(node_ask(&b.node, &first).result, CLAIM_FOLLOW);
    assert_int_equal(uv_thread_create(&a.thread, end_all, &a), 0);
    unsigned followed = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        struct claim claim = claim_shared(i, b.first_flight + i);
        struct claimed claimed;
        do {
            claimed = node_ask(&b.node, &claim);
            followed += claimed.result == CLAIM_FOLLOW;
        } while (claimed.result == CLAIM_FOLLOW);
        assert_int_equal(claimed.result, CLAIM_SOLVED);
    }
    assert_int_equal(uv_thread_join(&a.thread), 0);
    /* None on a machine that is so busy that everything ended before the second question. */
    (void)printf("# %u questions before the end\n", followed);
    node_close(&a.node);
    node_close(&b.node);
}

const struct store_case store_node_cases[] = {
    STORE_CASE(a_name_keeps_its_number_and_every_run_has_another_incarnation),
    STORE_CASE(two_cannot_run_under_one_name),
    STORE_CASE(a_lock_that_the_same_run_left_behind_is_its_own),
    STORE_CASE(a_node_whose_rows_are_lost_goes_on),
    STORE_CASE(all_have_the_same_lease),
    STORE_CASE(one_that_has_the_store_for_itself_excludes_all_others),
    STORE_CASE(rows_follow_when_a_gateway_joins_and_when_it_is_alone_again),
    STORE_CASE(the_books_of_each_can_be_read_by_all_also_of_the_dead),
    STORE_CASE(an_end_wakes_the_others_and_many_do_at_once),
    STORE_CASE(of_two_who_ask_at_the_same_time_one_wins),
    STORE_CASE(of_two_who_use_an_idempotency_key_one_decides_what_it_stands_for),
    STORE_CASE(of_two_who_want_a_single_use_solution_one_gets_it),
    STORE_CASE(who_asks_at_the_moment_of_the_end_does_not_solve_it_again),
    {NULL, NULL},
};
