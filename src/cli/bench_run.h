/* Runs a benchmark's plan: sends what is due, follows each request to its end, and counts. */
#ifndef SOLVEGATE_CLI_BENCH_RUN_H
#define SOLVEGATE_CLI_BENCH_RUN_H

#include "cli/bench_guard.h"
#include "cli/bench_tally.h"

struct bench_run;

/* How a run stands, for whoever shows it. */
struct bench_state {
    const struct bench_plan *plan;
    const struct bench_tally *tally;
    uint64_t elapsed_ns;
    uint64_t in_flight;
    bool is_sending; /* else the last answers are waited for */
};

struct bench_run_setup {
    const struct bench_plan *plan; /* borrowed, as is everything here */
    const struct bench_talk *talk;
    struct bench_tally *tally;
    const char *url;
    bench_guard_rule *allows; /* NULL: every address */
    uint64_t in_flight_max;   /* of an open loop; at most BENCH_CONCURRENCY_MAX */
    double pace; /* at most so many calls a second go out, looks included; 0: no limit */
    /* Called a few times a second, and once at the end; may be NULL. */
    void (*on_state)(void *context, const struct bench_state *state);
    void *context;
};

struct bench_end {
    uint64_t load_ns;   /* until all was sent: the duration, or when one more would have been due */
    uint64_t solved_ns; /* until the last solution */
    uint64_t elapsed_ns; /* until the last answer */
    uint64_t unfinished; /* requests without an end */
    uint64_t costly;     /* of a vendor: requests that it may have accepted */
    bool was_full;       /* requests had to wait because in_flight_max of them were in flight */
};

/* Returns when all answers are there or a signal came (term_signal). False if it could not start; then
 * mistake says why. */
bool bench_run(const struct bench_run_setup *setup, struct bench_end *end, struct buf *mistake);

#endif
