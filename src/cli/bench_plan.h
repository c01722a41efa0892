/* What a benchmark does: how many requests, how fast, for which targets, in which dialect. */
#ifndef SOLVEGATE_CLI_BENCH_PLAN_H
#define SOLVEGATE_CLI_BENCH_PLAN_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_PARAMS_MAX 32
#define BENCH_STEPS_MAX 16
#define BENCH_RATE_MAX 100000.0
#define BENCH_CONCURRENCY_MAX 20000U

struct bench_trace;

enum bench_dialect { BENCH_V1, BENCH_VENDOR, BENCH_CREATETASK, BENCH_DIALECT_COUNT };
#define BENCH_DIALECT_WORDS "v1 vendor createtask"

struct bench_param {
    struct slice name; /* borrowed, as is the value */
    const char *value;
};

struct bench_plan {
    enum bench_dialect dialect;
    const char *method;            /* borrowed, as all texts here */
    const char *sitekey, *pageurl; /* NULL: made up */
    const char *reuse;             /* NULL: as configured */
    struct bench_param params[BENCH_PARAMS_MAX];
    size_t param_count;
    double steps[BENCH_STEPS_MAX]; /* requests a second, one after the other; none: closed loop */
    size_t step_count;
    uint64_t ramp_ms;      /* the rate, or the number at once, grows that long */
    uint32_t concurrency;  /* closed loop: requests at once */
    uint64_t duration_ms;  /* of sending; 0: until all requests are sent */
    uint64_t requests;     /* 0: until the duration is over */
    uint64_t wait_ms;      /* for one answer */
    uint64_t poll_ms;      /* between two looks; 0: the gateway holds the reply */
    const char *callbacks; /* where notices come to, instead of looks or beside them; or NULL */
    double repeat;         /* the share of requests for a target that was asked for before */
    double zipf;           /* how unevenly repeats are spread over the targets; 0: evenly */
    uint64_t seed;
    const struct bench_trace *trace; /* what is sent, and when; NULL: made up */
    double speed;                    /* of the trace: so many times as fast */
};

/* All of these return false for a text that is wrong, and leave the value as it is. */

/* "200/s", "200", "90/m", "0.5/s". */
bool bench_parse_rate(const char *text, double *per_second);
/* "50/s,100/s,200/s"; returns how many there are, 0 if the text is wrong. */
size_t bench_parse_steps(const char *text, double steps[BENCH_STEPS_MAX]);
/* A number from least to most, with decimals. */
bool bench_parse_real(const char *text, double least, double most, double *number);
bool bench_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *number);
bool bench_parse_dialect(const char *text, enum bench_dialect *dialect);

const char *bench_dialect_name(enum bench_dialect dialect);
bool bench_is_open_loop(const struct bench_plan *plan);
/* The highest rate of all steps. */
double bench_top_rate(const struct bench_plan *plan);
/* False if the ramp is longer than the part of the duration that the first rate has, or a closed loop. */
bool bench_ramp_fits(const struct bench_plan *plan);
/* How many requests the plan sends, 0 if only the answers' speed decides that. */
uint64_t bench_expected_requests(const struct bench_plan *plan);

#endif
