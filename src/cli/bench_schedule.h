/* When each request of an open loop is due, whatever became of those before it. */
#ifndef SOLVEGATE_CLI_BENCH_SCHEDULE_H
#define SOLVEGATE_CLI_BENCH_SCHEDULE_H

#include "cli/bench_plan.h"

#define BENCH_NEVER UINT64_MAX
/* The ramp and the steps. */
#define BENCH_STAGES_MAX (BENCH_STEPS_MAX + 1)

/* The rate changes evenly from the first to the last during a stage. */
struct bench_stage {
    double first, last; /* requests per nanosecond */
    double length_ns;
    double begin_ns; /* since the start */
    double before;   /* requests of the stages before */
};

struct bench_schedule {
    struct bench_stage stages[BENCH_STAGES_MAX];
    size_t count;
    size_t at; /* the stage of the request that was asked for last */
};

/* For a plan with steps. The duration is split evenly among the steps; without one, all steps but the last
 * would never end, so a plan with several has one. The ramp is the first part of the first step. */
void bench_schedule_init(struct bench_schedule *schedule, const struct bench_plan *plan);

/* Nanoseconds from the start until the request with this number (from 0) is due; BENCH_NEVER after the last. Numbers
 * must not decrease. */
uint64_t bench_schedule_due(struct bench_schedule *schedule, uint64_t number);

#endif
