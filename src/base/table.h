/* Intrusive chained hash table on 32-byte keys. Its size is fixed, so it never stalls to grow. */
#ifndef SOLVEGATE_BASE_TABLE_H
#define SOLVEGATE_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES 32

struct key {
    uint8_t bytes[KEY_BYTES];
};

/* `place` points at the pointer to this node, so removing needs neither hash nor search. */
struct table_node {
    struct table_node *next;
    struct table_node **place; /* NULL while it is no member */
    struct key key;
};

struct table {
    struct table_node **buckets; /* owned */
    size_t bucket_count;         /* a power of two */
    size_t count;
    uint64_t secret[2]; /* of the keyed bucket hash, against flooding */
};

/* Room for `expected` members at a load of at most one; secret is random per process. */
void table_init(struct table *table, size_t expected, const uint64_t secret[2]);

/* Frees the buckets, not the members. */
void table_close(struct table *table);

/* Several members may have the same key; the newest is found first. node->key must be set. */
void table_insert(struct table *table, struct table_node *node);

/* The node must be a member. */
void table_remove(struct table *table, struct table_node *node);

struct table_node *table_find(const struct table *table, const struct key *key);

/* The next member with node's key, or NULL. */
struct table_node *table_find_next(const struct table_node *node);

/* SipHash-1-3 of the key; the low bits choose the bucket. */
uint64_t table_hash(const struct key *key, const uint64_t secret[2]);
/* SipHash-1-3 of any bytes. */
uint64_t table_hash_bytes(const void *bytes, size_t len, const uint64_t secret[2]);

/* A number as a key (request ids). */
struct key key_from_u64(uint64_t number);
bool key_equals(const struct key *a, const struct key *b);

/* Aborts if a member is in the wrong bucket, a link is inconsistent or the count is wrong. */
void table_check(const struct table *table);

#endif
