#include "base/table.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define KEY_WORDS (KEY_BYTES / 8)
#define MIN_BUCKETS 16

/* Little endian as in SipHash; compilers turn this into one load. */
static uint64_t load_word(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
           (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
           (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

/* Forced inline: a hash takes eight rounds and a request three hashes, so calls would cost as much
 * as the work. */
static inline __attribute__((always_inline)) void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static inline __attribute__((always_inline)) void sip_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

static inline __attribute__((always_inline)) void sip_begin(uint64_t v[4], const uint64_t secret[2])
{
    v[0] = secret[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = secret[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = secret[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = secret[1] ^ UINT64_C(0x7465646279746573);
}

static inline __attribute__((always_inline)) uint64_t sip_end(uint64_t v[4])
{
    v[2] ^= 0xff;
    for (int round = 0; round < 3; round++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t table_hash(const struct key *key, const uint64_t secret[2])
{
    uint64_t v[4];
    sip_begin(v, secret);
    for (size_t word = 0; word < KEY_WORDS; word++)
        sip_absorb(v, load_word(key->bytes + 8 * word));
    sip_absorb(v, (uint64_t)KEY_BYTES << 56);
    return sip_end(v);
}

uint64_t table_hash_bytes(const void *bytes, size_t len, const uint64_t secret[2])
{
    const uint8_t *at = bytes;
    uint8_t rest[8] = {0};
    uint64_t v[4];
    sip_begin(v, secret);
    for (size_t words = len / 8; words > 0; words--, at += 8)
        sip_absorb(v, load_word(at));
    if (len % 8 > 0)
        memcpy(rest, at, len % 8);
    sip_absorb(v, load_word(rest) | (uint64_t)len << 56);
    return sip_end(v);
}

static struct table_node **bucket_of(const struct table *table, const struct key *key)
{
    return &table->buckets[table_hash(key, table->secret) & (table->bucket_count - 1)];
}

void table_init(struct table *table, size_t expected, const uint64_t secret[2])
{
    ASSERT(expected <= SIZE_MAX / 2 / sizeof(struct table_node *));
    size_t bucket_count = MIN_BUCKETS;
    while (bucket_count < expected)
        bucket_count *= 2;
    *table = (struct table){
        .buckets = calloc(bucket_count, sizeof(struct table_node *)),
        .bucket_count = bucket_count,
        .secret = {secret[0], secret[1]},
    };
    ASSERT(table->buckets != NULL);
}

void table_close(struct table *table)
{
    free(table->buckets);
    *table = (struct table){.buckets = NULL};
}

void table_insert(struct table *table, struct table_node *node)
{
    struct table_node **bucket = bucket_of(table, &node->key);
    node->next = *bucket;
    node->place = bucket;
    if (node->next != NULL)
        node->next->place = &node->next;
    *bucket = node;
    table->count++;
}

void table_remove(struct table *table, struct table_node *node)
{
    ASSERT(node->place != NULL && *node->place == node);
    ASSERT(table->count > 0);
    *node->place = node->next;
    if (node->next != NULL)
        node->next->place = node->place;
    node->next = NULL;
    node->place = NULL;
    table->count--;
}

static struct table_node *find_from(struct table_node *node, const struct key *key)
{
    while (node != NULL && !key_equals(&node->key, key))
        node = node->next;
    return node;
}

struct table_node *table_find(const struct table *table, const struct key *key)
{
    /* Some tables are nearly always empty, and the hash is most of a look-up's cost. */
    if (table->count == 0)
        return NULL;
    return find_from(*bucket_of(table, key), key);
}

struct table_node *table_find_next(const struct table_node *node)
{
    return find_from(node->next, &node->key);
}

struct key key_from_u64(uint64_t number)
{
    /* Written out like load_word, so that compilers turn it into one store. */
    return (struct key){{
        (uint8_t)number,
        (uint8_t)(number >> 8),
        (uint8_t)(number >> 16),
        (uint8_t)(number >> 24),
        (uint8_t)(number >> 32),
        (uint8_t)(number >> 40),
        (uint8_t)(number >> 48),
        (uint8_t)(number >> 56),
    }};
}

bool key_equals(const struct key *a, const struct key *b)
{
    return memcmp(a->bytes, b->bytes, KEY_BYTES) == 0;
}

void table_check(const struct table *table)
{
    const size_t mask = table->bucket_count - 1;
    ASSERT(table->bucket_count > 0 && (table->bucket_count & mask) == 0);
    size_t count = 0;
    for (size_t bucket = 0; bucket < table->bucket_count; bucket++) {
        struct table_node *const *place = &table->buckets[bucket];
        for (; *place != NULL; place = &(*place)->next) {
            const struct table_node *node = *place;
            ASSERT(node->place == place);
            ASSERT((table_hash(&node->key, table->secret) & mask) == bucket);
            /* A circular chain would be counted for ever. */
            ASSERT(count < table->count);
            count++;
        }
    }
    ASSERT(count == table->count);
}
