/* The hash table against a plain array that is searched from the newest to the oldest. */
#include "base/assert.h"
#include "base/rand.h"
#include "base/table.h"
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
#define KEYS 60 /* fewer than nodes, so that many share a key */
#define STEPS 30000

static const uint64_t no_secret[2] = {0, 0};

struct world {
    struct rand rand;
    struct table table;
    struct key keys[KEYS];
    struct table_node nodes[NODES];
    size_t order[NODES]; /* the oracle: members from the oldest to the newest */
    size_t count;
};

static bool model_holds(const struct world *world, size_t node, size_t *at)
{
    for (*at = 0; *at < world->count; (*at)++)
        if (world->order[*at] == node)
            return true;
    return false;
}

static void step(struct world *world)
{
    const size_t node = (size_t)rand_below(&world->rand, NODES);
    size_t at;
    if (model_holds(world, node, &at)) {
        table_remove(&world->table, &world->nodes[node]);
        world->count--;
        memmove(world->order + at, world->order + at + 1,
                (world->count - at) * sizeof(*world->order));
    } else {
        world->nodes[node].key = world->keys[rand_below(&world->rand, KEYS)];
        table_insert(&world->table, &world->nodes[node]);
        world->order[world->count++] = node;
    }
}

/* Every member with this key, the newest first, and nothing else. */
static void compare_key(const struct world *world, const struct key *key)
{
    const struct table_node *found = table_find(&world->table, key);
    for (size_t at = world->count; at-- > 0;) {
        const struct table_node *node = &world->nodes[world->order[at]];
        if (memcmp(node->key.bytes, key->bytes, KEY_BYTES) != 0)
            continue;
        assert_ptr_equal(found, node);
        found = table_find_next(found);
    }
    assert_null(found);
}

static void compare(const struct world *world)
{
    table_check(&world->table);
    assert_int_equal(world->table.count, world->count);
    for (size_t i = 0; i < KEYS; i++)
        compare_key(world, &world->keys[i]);
}

/* Keys that differ in one bit only are the ones that a careless comparison confuses. */
static void make_keys(struct world *world)
{
    for (size_t byte = 0; byte < KEY_BYTES; byte++)
        world->keys[0].bytes[byte] = (uint8_t)rand_u64(&world->rand);
    for (size_t i = 1; i < KEYS; i++) {
        world->keys[i] = world->keys[0];
        world->keys[i].bytes[i % KEY_BYTES] ^= (uint8_t)(1 << i / KEY_BYTES);
    }
}

static void run_against_model(size_t expected)
{
    static struct world world;
    memset(&world, 0, sizeof(world));
    rand_init(&world.rand, seed_value());
    const uint64_t secret[2] = {rand_u64(&world.rand), rand_u64(&world.rand)};
    make_keys(&world);
    table_init(&world.table, expected, secret);
    for (int i = 0; i < STEPS; i++) {
        step(&world);
        if (i % 10 == 0)
            compare(&world);
    }
    compare(&world);
    table_close(&world.table);
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

static void the_newest_of_equal_keys_is_found_first(void **state)
{
    (void)state;
    struct table table;
    table_init(&table, 4, no_secret);
    struct table_node nodes[3];
    for (size_t i = 0; i < 3; i++) {
        nodes[i].key = key_from_u64(5);
        table_insert(&table, &nodes[i]);
    }
    const struct key five = key_from_u64(5);
    const struct key six = key_from_u64(6);
    assert_ptr_equal(table_find(&table, &five), &nodes[2]);
    assert_ptr_equal(table_find_next(&nodes[2]), &nodes[1]);
    assert_ptr_equal(table_find_next(&nodes[1]), &nodes[0]);
    assert_null(table_find_next(&nodes[0]));
    assert_null(table_find(&table, &six));
    table_close(&table);
}

/* From CPython 3.11, which hashes bytes with SipHash-1-3: PYTHONHASHSEED=0 and 7. */
static void the_hash_is_siphash_1_3(void **state)
{
    (void)state;
    static const uint64_t secret[2] = {UINT64_C(0x12c874a1806f0e3d), UINT64_C(0x470a89d2f9d2784f)};
    struct key counting, zeros, ones;
    for (size_t i = 0; i < KEY_BYTES; i++)
        counting.bytes[i] = (uint8_t)i;
    memset(&zeros, 0, sizeof(zeros));
    memset(&ones, 0xff, sizeof(ones));
    assert_true(table_hash(&counting, no_secret) == UINT64_C(0x31ef8061c910629b));
    assert_true(table_hash(&zeros, no_secret) == UINT64_C(0xb85bed2614339b3d));
    assert_true(table_hash(&ones, no_secret) == UINT64_C(0x0914d6b87f7d5adf));
    assert_true(table_hash(&counting, secret) == UINT64_C(0xefb0a08e62aba998));
    assert_true(table_hash(&zeros, secret) == UINT64_C(0xf343443ce924ff55));
    assert_true(table_hash(&ones, secret) == UINT64_C(0x5bc3c86de174de34));
}

/* From the same, PYTHONHASHSEED=0. */
static void the_hash_of_anything_is_siphash_1_3(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t hash;
    } known[] = {
        {1, UINT64_C(0x68a914128e01e473)},  {7, UINT64_C(0x2f098ab0c751325a)},
        {8, UINT64_C(0xead411e67ebe2eea)},  {9, UINT64_C(0x75927f9d95124362)},
        {31, UINT64_C(0x169739443111d49b)}, {32, UINT64_C(0x31ef8061c910629b)},
        {33, UINT64_C(0x7fb71d24dfa4c9f6)}, {1200, UINT64_C(0x822441b3634e1ac2)},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint8_t *bytes = malloc(known[i].len); /* so that a sanitizer sees reads beyond it */
        assert_non_null(bytes);
        for (size_t at = 0; at < known[i].len; at++)
            bytes[at] = (uint8_t)at;
        assert_true(table_hash_bytes(bytes, known[i].len, no_secret) == known[i].hash);
        free(bytes);
    }
}

static size_t longest_chain(const struct table *table)
{
    size_t longest = 0;
    for (size_t bucket = 0; bucket < table->bucket_count; bucket++) {
        size_t len = 0;
        for (const struct table_node *node = table->buckets[bucket]; node; node = node->next)
            len++;
        longest = len > longest ? len : longest;
    }
    return longest;
}

static void consecutive_numbers_spread_over_the_buckets(void **state)
{
    (void)state;
    enum { MEMBERS = 10000 };
    struct rand rand;
    rand_init(&rand, seed_value());
    const uint64_t secret[2] = {rand_u64(&rand), rand_u64(&rand)};
    struct table table;
    table_init(&table, MEMBERS, secret);
    assert_int_equal(table.bucket_count, 16384);
    struct table_node *nodes = calloc(MEMBERS, sizeof(*nodes));
    assert_non_null(nodes);
    for (size_t i = 0; i < MEMBERS; i++) {
        nodes[i].key = key_from_u64(i);
        table_insert(&table, &nodes[i]);
    }
    /* At load 0.61 a chain of 13 has odds of about one in a thousand million. */
    assert_true(longest_chain(&table) <= 12);
    table_check(&table);
    free(nodes);
    table_close(&table);
}

static void numbers_become_distinct_keys(void **state)
{
    (void)state;
    const struct key one = key_from_u64(1);
    const struct key again = key_from_u64(1);
    const struct key high = key_from_u64(UINT64_C(1) << 56);
    assert_true(key_equals(&one, &again));
    assert_false(key_equals(&one, &high));
    assert_int_equal(one.bytes[0], 1);
    assert_int_equal(high.bytes[7], 1);
}

static void keys_that_differ_in_any_one_bit_are_different(void **state)
{
    (void)state;
    const struct key zero = key_from_u64(0);
    for (size_t bit = 0; bit < 8 * KEY_BYTES; bit++) {
        struct key other = zero;
        other.bytes[bit / 8] = (uint8_t)(1 << bit % 8);
        assert_false(key_equals(&zero, &other));
        assert_true(table_hash(&zero, no_secret) != table_hash(&other, no_secret));
    }
}

struct removal {
    struct table table;
    struct table_node node;
};

static void remove_node(void *context)
{
    struct removal *removal = context;
    table_remove(&removal->table, &removal->node);
}

static void check_table(void *context)
{
    const struct removal *removal = context;
    table_check(&removal->table);
}

static void removing_a_stranger_or_twice_aborts(void **state)
{
    (void)state;
    struct removal removal = {.node = {.key = key_from_u64(9)}};
    struct table_node other = {.key = key_from_u64(9)};
    table_init(&removal.table, 4, no_secret);
    table_insert(&removal.table, &other);
    assert_true(dies(remove_node, &removal));
    table_insert(&removal.table, &removal.node);
    assert_false(dies(remove_node, &removal));
    table_remove(&removal.table, &removal.node);
    assert_true(dies(remove_node, &removal));
    table_close(&removal.table);
}

static void check_finds_changed_keys_wrong_counts_and_broken_links(void **state)
{
    (void)state;
    struct removal removal = {.node = {.key = key_from_u64(9)}};
    table_init(&removal.table, 1000, no_secret);
    table_insert(&removal.table, &removal.node);
    assert_false(dies(check_table, &removal));
    removal.table.count = 2;
    assert_true(dies(check_table, &removal));
    removal.table.count = 1;
    removal.node.place = NULL;
    assert_true(dies(check_table, &removal));
    removal.node.place = &removal.table.buckets[0];
    assert_true(dies(check_table, &removal));
    table_close(&removal.table);
    table_init(&removal.table, 1000, no_secret);
    table_insert(&removal.table, &removal.node);
    removal.node.key = key_from_u64(10);
    assert_true(dies(check_table, &removal));
    table_close(&removal.table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_an_array),
        cmocka_unit_test(a_table_much_fuller_than_expected_still_agrees),
        cmocka_unit_test(the_newest_of_equal_keys_is_found_first),
        cmocka_unit_test(the_hash_is_siphash_1_3),
        cmocka_unit_test(the_hash_of_anything_is_siphash_1_3),
        cmocka_unit_test(consecutive_numbers_spread_over_the_buckets),
        cmocka_unit_test(numbers_become_distinct_keys),
        cmocka_unit_test(keys_that_differ_in_any_one_bit_are_different),
        cmocka_unit_test(removing_a_stranger_or_twice_aborts),
        cmocka_unit_test(check_finds_changed_keys_wrong_counts_and_broken_links),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
