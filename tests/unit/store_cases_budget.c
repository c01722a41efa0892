#include "store_conformance.h"
#include "store_nodes.h"

#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define DAY_SECONDS 86400

static int64_t today(void)
{
    return (int64_t)time(NULL) / DAY_SECONDS;
}

/* One draw in a batch of its own. */
static struct drawn draw_for(struct node *node, const char *client, const struct draw *draw)
{
    const struct store_drawn *const drawn = node_draw(node, client, draw);
    node_send(node);
    assert_true(drawn->drawn.is_known);
    assert_int_equal(drawn->drawn.number, draw->number);
    return drawn->drawn;
}

static void expect_drawn(struct node *node, const struct draw *draw, uint64_t held, uint64_t left)
{
    struct draw at = *draw;
    at.day = at.day == 0 ? today() : at.day;
    const struct drawn drawn = draw_for(node, "alpha", &at);
    assert_int_equal(drawn.held, held);
    assert_int_equal(drawn.left, left);
}

#define drawn_by(node, held, left, ...) expect_drawn(node, &(struct draw){__VA_ARGS__}, held, left)

static void a_unit_is_drawn_by_one_gateway_only(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 1, 2, .budget = 3, .need = 1);
    drawn_by(&b, 2, 0, .budget = 3, .need = 5);
    drawn_by(&a, 1, 0, .budget = 3, .used = 1, .need = 1);
    /* Another day, and another client, have a budget of their own. */
    drawn_by(&a, 1, 2, .budget = 3, .need = 1, .day = today() + 1);
    const struct draw draw = {.budget = 3, .need = 3, .day = today(), .number = 7};
    assert_int_equal(draw_for(&b, "beta", &draw).held, 3);
    node_close(&a);
    node_close(&b);
}

static void a_block_is_a_part_of_what_is_left(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 101, 9899, .budget = 10000, .need = 1, .block = 100);
    drawn_by(&b, 3, 31, .budget = 135, .need = 1, .block = 100);
    drawn_by(&b, 5, 9894, .budget = 10000, .used = 5, .block = 0);
    node_close(&a);
    node_close(&b);
}

static void what_goes_back_is_there_for_all(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 10, 0, .budget = 10, .need = 10);
    drawn_by(&b, 0, 0, .budget = 10, .need = 1);
    drawn_by(&a, 4, 6, .budget = 10, .used = 4);
    drawn_by(&b, 6, 0, .budget = 10, .need = 9);
    node_close(&a);
    node_close(&b);
}

static void what_was_used_counts_beyond_the_budget(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 12, 0, .budget = 10, .used = 12, .need = 3, .block = 100);
    drawn_by(&b, 0, 0, .budget = 10, .need = 1);
    drawn_by(&b, 3, 5, .budget = 20, .need = 3);
    node_close(&a);
    node_close(&b);
}

static void a_draw_that_is_sent_again_draws_nothing_more(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    const struct draw draw = {.budget = 10, .need = 4, .day = today(), .number = 3};
    const struct store_drawn *const drawn = node_draw(&a, "alpha", &draw);
    node_send(&a);
    assert_int_equal(drawn->drawn.left, 6);
    node_send_again(&a);
    assert_true(drawn->drawn.is_known);
    assert_int_equal(drawn->drawn.held, 4);
    assert_int_equal(drawn->drawn.left, 6);
    drawn_by(&b, 6, 0, .budget = 10, .need = 10);
    node_close(&a);
    node_close(&b);
}

static void a_crash_loses_what_the_run_had_and_an_orderly_end_nothing(void **state)
{
    struct node a;
    node_open(&a, *state, "a");
    drawn_by(&a, 6, 4, .budget = 10, .need = 6);
    node_close(&a);
    node_open(&a, *state, "a");
    drawn_by(&a, 2, 2, .budget = 10, .before = 1, .need = 2);
    drawn_by(&a, 1, 3, .budget = 10, .before = 1, .used = 1);
    node_leave(&a);
    node_open(&a, *state, "a");
    drawn_by(&a, 3, 0, .budget = 10, .before = 2, .need = 9);
    node_close(&a);
}

/* Its rows say more than it ever drew: it was alone, or the client had no budget. */
static void what_was_spent_before_anything_was_drawn_counts(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 0, 3, .budget = 10, .before = 7);
    drawn_by(&b, 3, 0, .budget = 10, .need = 9);
    node_close(&a);
    node_open(&a, *state, "a");
    drawn_by(&a, 0, 0, .budget = 10, .before = 8, .need = 1);
    drawn_by(&b, 2, 0, .budget = 10, .used = 1, .need = 9);
    node_close(&a);
    node_close(&b);
}

static void expect_sum(struct store_backend *reader, const char *client, int64_t day,
                       uint64_t drawn)
{
    struct store_budget budgets[2] = {{.client = "nobody"}, {.drawn = 0}};
    (void)snprintf(budgets[1].client, sizeof budgets[1].client, "%s", client);
    assert_int_equal(reader->driver->sharing->sum_drawn(reader, day, budgets, 2), STORE_DONE);
    assert_int_equal(budgets[0].drawn, 0);
    assert_int_equal(budgets[1].drawn, drawn);
}

static void what_all_have_drawn_can_be_read_by_each(void **state)
{
    struct node a, b;
    node_open(&a, *state, "a");
    node_open(&b, *state, "b");
    drawn_by(&a, 5, 95, .budget = 100, .need = 5);
    drawn_by(&b, 9, 84, .budget = 100, .before = 2, .need = 9);
    drawn_by(&b, 1, 9, .budget = 10, .need = 1, .day = today() + 1);
    struct store_backend *const reader = b.backend->driver->sharing->make_pulse(b.backend);
    expect_sum(reader, "alpha", today(), 16);
    expect_sum(reader, "alpha", today() + 1, 1);
    expect_sum(reader, "alph\"a\\", today(), 0);
    node_close(&a);
    expect_sum(reader, "alpha", today(), 16);
    reader->driver->close(reader);
    node_close(&b);
}

/* ---- the rule ---------------------------------------------------------------------------- */

#define NODES 3
#define DRAWS 150

struct share {
    uint64_t earlier, held;
};

static uint64_t others_of(const struct share *shares, unsigned place)
{
    uint64_t sum = shares[place].earlier;
    for (unsigned i = 0; i < NODES; i++)
        sum += i == place ? 0 : shares[i].earlier + shares[i].held;
    return sum;
}

static void every_draw_is_decided_by_the_rule(void **state)
{
    static const char *const names[NODES] = {"a", "b", "c"};
    struct node nodes[NODES];
    struct share shares[NODES] = {{0}};
    struct rand rand;
    rand_init(&rand, 4711);
    for (unsigned i = 0; i < NODES; i++)
        node_open(&nodes[i], *state, names[i]);
    for (unsigned i = 0; i < DRAWS; i++) {
        const unsigned place = (unsigned)rand_below(&rand, NODES);
        struct share *const share = &shares[place];
        if (rand_below(&rand, 20) == 0) {
            node_close(&nodes[place]);
            node_open(&nodes[place], *state, names[place]);
            share->earlier += share->held;
            share->held = 0;
        }
        const struct draw draw = {.budget = 500 + rand_below(&rand, 3) * 100,
                                  .used = rand_below(&rand, share->held + 2),
                                  .need = rand_below(&rand, 20),
                                  .block = rand_below(&rand, 2) * 100,
                                  .day = today(),
                                  .number = i};
        struct drawn expected;
        budget_decide(&draw, others_of(shares, place), &expected);
        const struct drawn drawn = draw_for(&nodes[place], "alpha", &draw);
        assert_int_equal(drawn.held, expected.held);
        assert_int_equal(drawn.left, expected.left);
        share->held = drawn.held;
    }
    for (unsigned i = 0; i < NODES; i++)
        node_close(&nodes[i]);
}

/* ---- at the same time -------------------------------------------------------------------- */

#define RACE_BUDGET 40

/* Draws one after the other until nothing is left. */
struct racer {
    struct node node;
    uint64_t held;
    uv_thread_t thread;
};

static void race(void *context)
{
    struct racer *const racer = context;
    for (unsigned i = 0; i < 2 * RACE_BUDGET; i++) {
        const struct draw draw = {
            .budget = RACE_BUDGET, .used = racer->held, .need = 1, .day = today(), .number = i};
        const uint64_t before = racer->held;
        racer->held = draw_for(&racer->node, "alpha", &draw).held;
        if (racer->held == before)
            return;
    }
}

static void of_two_who_draw_at_the_same_time_nobody_gets_the_others_unit(void **state)
{
    struct racer racers[2] = {{.held = 0}, {.held = 0}};
    node_open(&racers[0].node, *state, "a");
    node_open(&racers[1].node, *state, "b");
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(uv_thread_create(&racers[i].thread, race, &racers[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(uv_thread_join(&racers[i].thread), 0);
    assert_int_equal(racers[0].held + racers[1].held, RACE_BUDGET);
    node_close(&racers[0].node);
    node_close(&racers[1].node);
}

const struct store_case store_budget_cases[] = {
    STORE_CASE(a_unit_is_drawn_by_one_gateway_only),
    STORE_CASE(a_block_is_a_part_of_what_is_left),
    STORE_CASE(what_goes_back_is_there_for_all),
    STORE_CASE(what_was_used_counts_beyond_the_budget),
    STORE_CASE(a_draw_that_is_sent_again_draws_nothing_more),
    STORE_CASE(a_crash_loses_what_the_run_had_and_an_orderly_end_nothing),
    STORE_CASE(what_was_spent_before_anything_was_drawn_counts),
    STORE_CASE(what_all_have_drawn_can_be_read_by_each),
    STORE_CASE(every_draw_is_decided_by_the_rule),
    STORE_CASE(of_two_who_draw_at_the_same_time_nobody_gets_the_others_unit),
    {NULL, NULL},
};
