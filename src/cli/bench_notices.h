/* Where a benchmark hears of the end of its requests: an address of its own that the gateway, or the vendor, calls. */
#ifndef SOLVEGATE_CLI_BENCH_NOTICES_H
#define SOLVEGATE_CLI_BENCH_NOTICES_H

#include "base/buf.h"
#include "cli/bench_talk.h"

struct bench_notices;
struct uv_loop_s;

struct bench_notices_setup {
    const char *address; /* "127.0.0.1:8500" */
    uint64_t run;        /* tells calls of an earlier run from those of this one */
    void *context;
    /* code is the failure's, or empty for a solution. */
    void (*on_notice)(void *context, uint64_t number, const char *code);
};

/* NULL if nobody can listen there; then the mistake says why. */
struct bench_notices *bench_notices_new(struct uv_loop_s *loop,
                                        const struct bench_notices_setup *setup,
                                        struct buf *mistake);
/* The loop must run until its handles are closed. notices may be NULL here and below. */
void bench_notices_close(struct bench_notices *notices);
void bench_notices_free(struct bench_notices *notices);

/* The address that is to be called for this request. */
#define BENCH_NOTICE_MAX 160
void bench_notices_write(const struct bench_notices *notices, uint64_t number,
                         char text[BENCH_NOTICE_MAX]);

#endif
