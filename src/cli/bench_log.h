/* Reads lines of a gateway's log, in both forms that programs read: which of them tell of requests. */
#ifndef SOLVEGATE_CLI_BENCH_LOG_H
#define SOLVEGATE_CLI_BENCH_LOG_H

#include "base/slice.h"

#include <stdint.h>

/* As many as the live list of flights shows. */
#define BENCH_LOG_KEY_DIGITS 12

enum bench_log_kind {
    BENCH_LOG_OTHER,
    BENCH_LOG_REQUEST, /* a request that the gateway accepted */
    BENCH_LOG_LOST,    /* the gateway could not write `lost` lines */
};

struct bench_log_line {
    uint64_t at_ms; /* since 1970 */
    char key[BENCH_LOG_KEY_DIGITS + 1];
    char type[32];
    uint64_t lost;
};

/* What is not of the gateway's log is OTHER; a prefix, as syslog writes it, does not matter. */
enum bench_log_kind bench_log_read(struct slice text, struct bench_log_line *line);

#endif
