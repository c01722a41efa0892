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

/* Replaces the contents; a zeroed struct is empty. Tallies are those of engine_tally for all clients. */
void books_sum(struct books *books, const struct tally *tallies, uint16_t client_count);
void books_close(struct books *books);

#endif
