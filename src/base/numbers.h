/* Intrusive chained hash table on 64-bit numbers of our own making. Its size is fixed, like that of a table. */
#ifndef SOLVEGATE_BASE_NUMBERS_H
#define SOLVEGATE_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Removing searches the bucket again, which takes one multiplication: a way back would cost each node 8 bytes. */
struct numbers_node {
    struct numbers_node *next;
    uint64_t number;
};

struct numbers {
    struct numbers_node **buckets; /* owned */
    size_t bucket_count;           /* a power of two */
    size_t count;
    uint64_t factor; /* odd, random per process */
    unsigned shift;  /* leaves the bits of a product that choose the bucket */
};

/* Room for `expected` members at a load of at most one; secret is random per process. */
void numbers_init(struct numbers *numbers, size_t expected, const uint64_t secret[2]);

/* Frees the buckets, not the members. */
void numbers_close(struct numbers *numbers);

/* Several members may have the same number; the newest is found first. node->number must be set. */
void numbers_insert(struct numbers *numbers, struct numbers_node *node);

/* The node must be a member. */
void numbers_remove(struct numbers *numbers, struct numbers_node *node);

struct numbers_node *numbers_find(const struct numbers *numbers, uint64_t number);

/* The next member with node's number, or NULL. */
struct numbers_node *numbers_find_next(const struct numbers_node *node);

/* Aborts if a member is in the wrong bucket, a link is inconsistent or the count is wrong. */
void numbers_check(const struct numbers *numbers);

#endif
