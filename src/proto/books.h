/* Tallies summed by client and by type: a snapshot that can be written in pieces. */
#ifndef SOLVEGATE_PROTO_BOOKS_H
#define SOLVEGATE_PROTO_BOOKS_H

#include <solvegate/stats.h>
#include <solvegate/types.h>

struct books {
    uint16_t client_count;
    struct tally *by_client; /* owned */
    struct tally by_type[TYPE_COUNT];
};

void books_add(struct tally *sum, const struct tally *tally);

/* Adds a page to a sum of pages. */
void books_add_page(struct stats *sum, const struct stats *page);

/* Requests that were neither answered nor given up: they wait. */
int64_t books_open(const struct stats *page);
int64_t books_open_of(const struct tally *tally);

/* The sum of several gateways' books. What a dead one left open is detached, unless another one adopted it: then it
 * was asked once and stands in the books of both. */
void books_settle(struct stats *sum, int64_t left_open);
void books_settle_of(struct tally *sum, int64_t left_open);

/* Replaces the contents; a zeroed struct is empty. Tallies are those of engine_tally for all clients. */
void books_sum(struct books *books, const struct tally *tallies, uint16_t client_count);
void books_close(struct books *books);

#endif
