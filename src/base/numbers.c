#include "base/numbers.h"

#include "base/assert.h"

#include <stdlib.h>

#define MIN_BITS 4
/* 2^64 divided by the golden ratio: spreads neighbours also where the secret is zero. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The high bits of a product with a random odd factor: two numbers that were chosen without knowing
 * it meet with a chance of at most two in bucket_count. */
static size_t bucket_of(const struct numbers *numbers, uint64_t number)
{
    return (size_t)(number * numbers->factor >> numbers->shift);
}

void numbers_init(struct numbers *numbers, size_t expected, const uint64_t secret[2])
{
    ASSERT(expected <= SIZE_MAX / 2 / sizeof(struct numbers_node *));
    unsigned bits = MIN_BITS;
    while ((size_t)1 << bits < expected)
        bits++;
    *numbers = (struct numbers){
        .buckets = calloc((size_t)1 << bits, sizeof(struct numbers_node *)),
        .bucket_count = (size_t)1 << bits,
        .factor = (secret[0] ^ GOLDEN) | 1,
        .shift = 64 - bits,
    };
    ASSERT(numbers->buckets != NULL);
}

void numbers_close(struct numbers *numbers)
{
    free(numbers->buckets);
    *numbers = (struct numbers){.buckets = NULL};
}

void numbers_insert(struct numbers *numbers, struct numbers_node *node)
{
    struct numbers_node **bucket = &numbers->buckets[bucket_of(numbers, node->number)];
    node->next = *bucket;
    *bucket = node;
    numbers->count++;
}

void numbers_remove(struct numbers *numbers, struct numbers_node *node)
{
    struct numbers_node **place = &numbers->buckets[bucket_of(numbers, node->number)];
    while (*place != node) {
        ASSERT(*place != NULL);
        place = &(*place)->next;
    }
    *place = node->next;
    node->next = NULL;
    numbers->count--;
}

static struct numbers_node *find_from(struct numbers_node *node, uint64_t number)
{
    while (node != NULL && node->number != number)
        node = node->next;
    return node;
}

struct numbers_node *numbers_find(const struct numbers *numbers, uint64_t number)
{
    return find_from(numbers->buckets[bucket_of(numbers, number)], number);
}

struct numbers_node *numbers_find_next(const struct numbers_node *node)
{
    return find_from(node->next, node->number);
}

void numbers_check(const struct numbers *numbers)
{
    ASSERT(numbers->bucket_count == (size_t)1 << (64 - numbers->shift));
    size_t count = 0;
    for (size_t bucket = 0; bucket < numbers->bucket_count; bucket++) {
        struct numbers_node *const *place = &numbers->buckets[bucket];
        for (; *place != NULL; place = &(*place)->next) {
            ASSERT(bucket_of(numbers, (*place)->number) == bucket);
            /* A circular chain would be counted for ever. */
            ASSERT(count < numbers->count);
            count++;
        }
    }
    ASSERT(count == numbers->count);
}
