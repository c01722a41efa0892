/* What a benchmark counts while it runs: ends of requests, their times, and how both went from second to second. */
#ifndef SOLVEGATE_CLI_BENCH_TALLY_H
#define SOLVEGATE_CLI_BENCH_TALLY_H

#include "base/percentiles.h"
#include "cli/bench_plan.h"
#include "cli/bench_talk.h"

/* More codes than these are counted together as "other". */
#define BENCH_CODES_MAX 24
/* When so many intervals are full, each two become one. */
#define BENCH_INTERVALS_MAX 600

struct bench_code {
    char code[BENCH_CODE_MAX];
    uint64_t count;
};

/* A second of the run, or several. */
struct bench_interval {
    uint64_t sent, solved, failed;
    uint64_t in_flight; /* at its end */
    uint64_t p50_us, p99_us;
};

/* The part of a run with one rate. */
struct bench_step {
    uint64_t sent, failed;
    struct percentiles latency_us; /* its count is of solved requests */
};

struct bench_tally {
    uint64_t sent, solved, failed;
    struct percentiles latency_us; /* of solved requests, from when they should have been sent */
    struct percentiles lag_us;     /* of all requests: how much later than due they were sent */
    struct percentiles told_us; /* of solved requests: how much sooner a notice came than a look */
    uint64_t sources[SOURCE_COUNT];
    struct bench_code codes[BENCH_CODES_MAX];
    size_t code_count;
    struct bench_interval intervals[BENCH_INTERVALS_MAX];
    size_t interval_count;
    unsigned interval_s;       /* the length of an interval */
    struct bench_interval now; /* the interval that is not over */
    struct percentiles now_us;
    unsigned now_seconds;
    struct bench_step steps[BENCH_STEPS_MAX];
};

/* Large: on the heap. Never NULL. */
struct bench_tally *bench_tally_new(void);
void bench_tally_free(struct bench_tally *tally);

void bench_tally_sent(struct bench_tally *tally, size_t step, uint64_t lag_us);
/* source is one of enum source, or negative if it is not known. */
void bench_tally_solved(struct bench_tally *tally, size_t step, uint64_t latency_us, int source);
/* A notice told of the solution so much sooner than the look that found it. */
void bench_tally_told(struct bench_tally *tally, uint64_t sooner_us);
void bench_tally_failed(struct bench_tally *tally, size_t step, const char *code);

/* Call it once a second. */
void bench_tally_second(struct bench_tally *tally, uint64_t in_flight);

/* The run is over: what is left becomes the last interval, which is shorter than the others. */
void bench_tally_end(struct bench_tally *tally, uint64_t in_flight);

/* Sorts the codes, most frequent first. */
void bench_tally_sort(struct bench_tally *tally);

#endif
