/* The table of numbers against a plain array that is searched from the newest to the oldest. */
#include "base/numbers.h"
#include "base/rand.h"
#include "dies.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 200
#define VALUES 60 /* fewer than nodes, so that many share a number */
#define STEPS 30000

static const uint64_t no_secret[2] = {0, 0};

struct world {
    struct rand rand;
    struct numbers numbers;
    struct numbers_node nodes[NODES];
    size_t order[NODES]; /* the oracle: members from the oldest to the newest */
    size_t count;
};

/* Numbers that differ in one bit only are the ones that a careless comparison confuses. */
static uint64_t value_of(size_t i)
{
    return UINT64_C(0x1234567890abcdef) ^ (i == 0 ? 0 : UINT64_C(1) << i);
}

static void step(struct world *world)
{
    const size_t node = (size_t)rand_below(&world->rand, NODES);
    size_t at = 0;
    while (at < world->count && world->order[at] != node)
        at++;
    if (at < world->count) {
        numbers_remove(&world->numbers, &world->nodes[node]);
        world->count--;
        memmove(world->order + at, world->order + at + 1,
                (world->count - at) * sizeof(*world->order));
    } else {
        world->nodes[node].number = value_of((size_t)rand_below(&world->rand, VALUES));
        numbers_insert(&world->numbers, &world->nodes[node]);
        world->order[world->count++] = node;
    }
}

/* Every member with this number, the newest first, and nothing else. */
static void compare_number(const struct world *world, uint64_t number)
{
    const struct numbers_node *found = numbers_find(&world->numbers, number);
    for (size_t at = world->count; at-- > 0;) {
        const struct numbers_node *node = &world->nodes[world->order[at]];
        if (node->number != number)
            continue;
        assert_ptr_equal(found, node);
        found = numbers_find_next(found);
    }
    assert_null(found);
}

static void run_against_model(size_t expected)
{
    static struct world world;
    memset(&world, 0, sizeof(world));
    rand_init(&world.rand, seed_value());
    const uint64_t secret[2] = {rand_u64(&world.rand), 0};
    numbers_init(&world.numbers, expected, secret);
    for (int i = 0; i < STEPS; i++) {
        step(&world);
        if (i % 10 != 0)
            continue;
        numbers_check(&world.numbers);
        assert_int_equal(world.numbers.count, world.count);
        for (size_t value = 0; value < VALUES; value++)
            compare_number(&world, value_of(value));
    }
    numbers_close(&world.numbers);
}

static void random_operations_agree_with_an_array(void **state)
{
    (void)state;
    run_against_model(NODES);
}

static void a_table_much_fuller_than_expected_still_agrees(void **state)
{
    (void)state;
    run_against_model(0);
}

static size_t longest_chain(const struct numbers *numbers)
{
    size_t longest = 0;
    for (size_t bucket = 0; bucket < numbers->bucket_count; bucket++) {
        size_t len = 0;
        for (const struct numbers_node *node = numbers->buckets[bucket]; node; node = node->next)
            len++;
        longest = len > longest ? len : longest;
    }
    return longest;
}

/* With the secret, and without one as in some tests. Callers are numbered one by one, rows by time
 * in their high bits, request ids at random. */
static void our_numbers_spread_over_the_buckets(void **state)
{
    (void)state;
    enum { MEMBERS = 10000, KINDS = 3 };
    struct rand rand;
    rand_init(&rand, seed_value());
    const uint64_t secrets[2][2] = {{0, 0}, {rand_u64(&rand), 0}};
    struct numbers_node *nodes = calloc(MEMBERS, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t run = 0; run < 2 * KINDS; run++) {
        struct numbers numbers;
        numbers_init(&numbers, MEMBERS, secrets[run / KINDS]);
        assert_int_equal(numbers.bucket_count, 16384);
        for (uint64_t i = 0; i < MEMBERS; i++) {
            const uint64_t kinds[KINDS] = {i, i << 20, rand_below(&rand, UINT64_C(1) << 53)};
            nodes[i].number = kinds[run % KINDS];
            numbers_insert(&numbers, &nodes[i]);
        }
        /* Even steps may meet the worst factor, where chains are longer than with random numbers. */
        assert_true(longest_chain(&numbers) <= 64);
        numbers_check(&numbers);
        numbers_close(&numbers);
    }
    free(nodes);
}

struct removal {
    struct numbers numbers;
    struct numbers_node node;
};

static void remove_node(void *context)
{
    struct removal *removal = context;
    numbers_remove(&removal->numbers, &removal->node);
}

static void check_numbers(void *context)
{
    const struct removal *removal = context;
    numbers_check(&removal->numbers);
}

static void removing_a_stranger_or_twice_aborts(void **state)
{
    (void)state;
    struct removal removal = {.node = {.number = 9}};
    struct numbers_node other = {.number = 9};
    numbers_init(&removal.numbers, 4, no_secret);
    numbers_insert(&removal.numbers, &other);
    assert_true(dies(remove_node, &removal));
    numbers_insert(&removal.numbers, &removal.node);
    assert_false(dies(remove_node, &removal));
    numbers_remove(&removal.numbers, &removal.node);
    assert_true(dies(remove_node, &removal));
    numbers_close(&removal.numbers);
}

static void check_finds_changed_numbers_wrong_counts_and_broken_links(void **state)
{
    (void)state;
    struct removal removal = {.node = {.number = 9}};
    numbers_init(&removal.numbers, 1000, no_secret);
    numbers_insert(&removal.numbers, &removal.node);
    assert_false(dies(check_numbers, &removal));
    removal.numbers.count = 2;
    assert_true(dies(check_numbers, &removal));
    removal.numbers.count = 1;
    removal.node.number = 10;
    assert_true(dies(check_numbers, &removal));
    removal.node.number = 9;
    removal.node.next = &removal.node;
    assert_true(dies(check_numbers, &removal));
    numbers_close(&removal.numbers);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_an_array),
        cmocka_unit_test(a_table_much_fuller_than_expected_still_agrees),
        cmocka_unit_test(our_numbers_spread_over_the_buckets),
        cmocka_unit_test(removing_a_stranger_or_twice_aborts),
        cmocka_unit_test(check_finds_changed_numbers_wrong_counts_and_broken_links),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
