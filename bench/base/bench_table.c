/*
 * The hash table against uthash, both intrusive, on 32-byte random keys.
 *
 * Both sides hold items of equal size that lie in arrays and were inserted in random order, and
 * meet the same keys in the same order. uthash grows as it fills, ours is sized beforehand: that is
 * its design, and of the operations only "insert" pays for it. Nobody allocates items while the
 * clock runs.
 */
#include "base/rand.h"
#include "base/table.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#define ITEM_BYTES 224
#define MOST_OPERATIONS 400000

struct our_item {
    struct table_node node;
    char rest[ITEM_BYTES - sizeof(struct table_node)];
};

struct their_item {
    struct key key;
    UT_hash_handle hh;
    char rest[ITEM_BYTES - sizeof(struct key) - sizeof(UT_hash_handle)];
};

struct world {
    struct rand rand;
    size_t size;
    size_t operations;
    uint64_t secret[2];
    struct table table;
    struct our_item *ours;
    struct their_item *theirs;
    struct their_item *head;
    struct key *members; /* the key of each item when inserted, apart from the items */
    struct key *fresh;   /* operations keys that no item has */
    uint64_t our_rounds; /* of churn: each draws keys and items of its own */
    uint64_t their_rounds;
    uint32_t *order; /* a permutation of the items */
    uint32_t *picks; /* operations random items */
};

static void fill_keys(struct rand *rand, struct key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t word = 0; word < KEY_BYTES; word += 8)
            memcpy(keys[i].bytes + word, &(uint64_t){rand_u64(rand)}, 8);
}

static double insert_ours(void *context)
{
    struct world *world = context;
    table_close(&world->table);
    for (size_t i = 0; i < world->size; i++)
        world->ours[i].node.key = world->members[i];
    const uint64_t started_ns = bench_now_ns();
    table_init(&world->table, world->size, world->secret);
    for (size_t i = 0; i < world->size; i++)
        table_insert(&world->table, &world->ours[world->order[i]].node);
    return bench_per_op(started_ns, world->size);
}

static double insert_theirs(void *context)
{
    struct world *world = context;
    HASH_CLEAR(hh, world->head);
    for (size_t i = 0; i < world->size; i++)
        world->theirs[i].key = world->members[i];
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->size; i++) {
        struct their_item *item = &world->theirs[world->order[i]];
        HASH_ADD(hh, world->head, key, KEY_BYTES, item);
    }
    return bench_per_op(started_ns, world->size);
}

static double hit_ours(void *context)
{
    const struct world *world = context;
    uint64_t found = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++)
        found += table_find(&world->table, &world->members[world->picks[i]]) != NULL;
    const double per_op = bench_per_op(started_ns, world->operations);
    if (found != world->operations)
        abort();
    return per_op;
}

static double hit_theirs(void *context)
{
    const struct world *world = context;
    uint64_t found = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++) {
        const struct their_item *item;
        HASH_FIND(hh, world->head, &world->members[world->picks[i]], KEY_BYTES, item);
        found += item != NULL;
    }
    const double per_op = bench_per_op(started_ns, world->operations);
    if (found != world->operations)
        abort();
    return per_op;
}

static double miss_ours(void *context)
{
    const struct world *world = context;
    uint64_t found = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++)
        found += table_find(&world->table, &world->fresh[i]) != NULL;
    const double per_op = bench_per_op(started_ns, world->operations);
    if (found != 0)
        abort();
    return per_op;
}

static double miss_theirs(void *context)
{
    const struct world *world = context;
    uint64_t found = 0;
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++) {
        const struct their_item *item;
        HASH_FIND(hh, world->head, &world->fresh[i], KEY_BYTES, item);
        found += item != NULL;
    }
    const double per_op = bench_per_op(started_ns, world->operations);
    if (found != 0)
        abort();
    return per_op;
}

/* Neither keys nor items of an earlier round, whose buckets might still be warm. */
static void draw_churn(struct world *world, uint64_t round)
{
    struct rand rand;
    rand_init(&rand, world->size + round);
    fill_keys(&rand, world->fresh, world->operations);
    for (size_t i = 0; i < world->operations; i++)
        world->picks[i] = (uint32_t)rand_below(&rand, world->size);
}

/* A random member leaves and comes back under a key never seen, so the bucket is a cold one. */
static double churn_ours(void *context)
{
    struct world *world = context;
    draw_churn(world, ++world->our_rounds);
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++) {
        struct our_item *item = &world->ours[world->picks[i]];
        table_remove(&world->table, &item->node);
        item->node.key = world->fresh[i];
        table_insert(&world->table, &item->node);
    }
    return bench_per_op(started_ns, world->operations);
}

static double churn_theirs(void *context)
{
    struct world *world = context;
    draw_churn(world, ++world->their_rounds);
    const uint64_t started_ns = bench_now_ns();
    for (size_t i = 0; i < world->operations; i++) {
        struct their_item *item = &world->theirs[world->picks[i]];
        HASH_DEL(world->head, item);
        item->key = world->fresh[i];
        HASH_ADD(hh, world->head, key, KEY_BYTES, item);
    }
    return bench_per_op(started_ns, world->operations);
}

static void open_world(struct world *world, size_t size)
{
    *world = (struct world){.size = size};
    rand_init(&world->rand, size);
    world->operations = size < MOST_OPERATIONS ? 200000 : MOST_OPERATIONS;
    world->secret[0] = rand_u64(&world->rand);
    world->secret[1] = rand_u64(&world->rand);
    world->ours = bench_alloc(size, sizeof(*world->ours));
    world->theirs = bench_alloc(size, sizeof(*world->theirs));
    world->members = bench_alloc(size, sizeof(*world->members));
    world->order = bench_alloc(size, sizeof(*world->order));
    world->fresh = bench_alloc(world->operations, sizeof(*world->fresh));
    world->picks = bench_alloc(world->operations, sizeof(*world->picks));
    fill_keys(&world->rand, world->members, size);
    fill_keys(&world->rand, world->fresh, world->operations);
    for (size_t i = 0; i < world->operations; i++)
        world->picks[i] = (uint32_t)rand_below(&world->rand, size);
    for (size_t i = 0; i < size; i++) {
        const size_t other = (size_t)rand_below(&world->rand, i + 1);
        world->order[i] = world->order[other];
        world->order[other] = (uint32_t)i;
    }
    table_init(&world->table, size, world->secret);
}

static void close_world(struct world *world)
{
    table_check(&world->table);
    table_close(&world->table);
    HASH_CLEAR(hh, world->head);
    free(world->ours);
    free(world->theirs);
    free(world->members);
    free(world->order);
    free(world->fresh);
    free(world->picks);
}

int main(void)
{
    static const size_t sizes[] = {10000, 100000, 1000000};
    /* Insert comes first, since it fills the table, and churn last, since it changes the keys. */
    static const struct bench_pair pairs[] = {
        {.operation = "table insert", .ours = insert_ours, .theirs = insert_theirs},
        {.operation = "table hit", .ours = hit_ours, .theirs = hit_theirs},
        {.operation = "table miss", .ours = miss_ours, .theirs = miss_theirs},
        {.operation = "table delete+insert", .ours = churn_ours, .theirs = churn_theirs},
    };
    static struct world world;
    bench_print_header();
    const size_t count = sizeof(sizes) / sizeof(*sizes) - (getenv("SOLVEGATE_BENCH_QUICK") != NULL);
    for (size_t i = 0; i < count; i++) {
        open_world(&world, sizes[i]);
        for (size_t kind = 0; kind < sizeof(pairs) / sizeof(*pairs); kind++) {
            struct bench_pair pair = pairs[kind];
            pair.size = sizes[i];
            pair.rival = "uthash";
            pair.context = &world;
            pair.target = pair.ours == churn_ours && pair.size == 100000 ? 1.0 : 0;
            bench_compare(&pair);
        }
        close_world(&world);
    }
    return bench_finish();
}
