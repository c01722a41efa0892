/* The line that shows how a benchmark stands, on a terminal only. */
#ifndef SOLVEGATE_CLI_BENCH_LIVE_H
#define SOLVEGATE_CLI_BENCH_LIVE_H

#include "cli/bench_run.h"

struct bench_live {
    bool is_shown;   /* standard error is a terminal */
    uint64_t solved; /* at the last look, for the rate */
    uint64_t looked_ns;
    double rate;
};

void bench_live_init(struct bench_live *live);
/* For bench_run_setup.on_state; context is the struct bench_live. */
void bench_live_show(void *context, const struct bench_state *state);
/* Erases the line. */
void bench_live_end(struct bench_live *live);

/* Writes the line, without its end, at most `columns` wide. */
void bench_live_write(struct buf *out, const struct bench_state *state, double rate,
                      unsigned columns);

/* "0.31ms", "4.2ms", "312ms", "4.21s", "2m05s": at most six columns. */
void bench_add_time(struct buf *out, uint64_t us);

#endif
