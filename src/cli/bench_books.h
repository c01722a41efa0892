/* What a benchmark cost, by the gateway's own statistics before and after it. */
#ifndef SOLVEGATE_CLI_BENCH_BOOKS_H
#define SOLVEGATE_CLI_BENCH_BOOKS_H

#include "cli/remote.h"

#include <solvegate/types.h>

/* A gateway writes its books once a second, and what is asked of the store is kept for another one. */
#define BENCH_BOOKS_LATE_MS 2500

/* Counters since the gateway's start, or what was added to them. */
struct bench_books {
    uint64_t requests;
    uint64_t answered[SOURCE_COUNT];
    uint64_t submits_paid;
    uint64_t submits_refused;
    uint64_t retries;
    uint64_t polls;
    uint64_t callbacks;
    uint64_t vendor_calls; /* submits, also refused ones, polls and callbacks */
    double money;          /* spent */
    bool has_money;        /* prices are configured */
    bool is_cluster;       /* of all gateways that share the store, up to BENCH_BOOKS_LATE_MS old */
};

enum bench_books_result {
    BOOKS_READ,
    BOOKS_SECRET,     /* the key lacks the scope, or the server has no statistics */
    BOOKS_UNREACHABLE /* nobody answers; told on stderr */
};

/* Asks the gateway. *code is the exit code if nobody answers. */
enum bench_books_result bench_books_fetch(const struct command *command, struct remote *remote,
                                          struct bench_books *books, int *code);

/* Takes the counters from the text of GET /v1/stats; false if it is something else. */
bool bench_books_read(struct slice json, struct bench_books *books);

struct bench_books bench_books_between(const struct bench_books *before,
                                       const struct bench_books *after);

#endif
