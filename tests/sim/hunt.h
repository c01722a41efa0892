/* Running many seeds: one by one, on several cores until the time is up, and making a failing one small. */
#ifndef SOLVEGATE_TESTS_SIM_HUNT_H
#define SOLVEGATE_TESTS_SIM_HUNT_H

#include "sim.h"

/* What the command line changes about a drawn plan, so that a failing seed can be made smaller. */
struct narrowing {
    uint32_t needs; /* 0: as drawn */
    uint32_t keys;
    bool without[FAULT_COUNT];
};

void narrow(struct plan *plan, const struct narrowing *narrowing);

/* Does this seed break a rule? In a process of its own, which may not say anything. */
bool hunt_fails(uint64_t seed, const struct narrowing *narrowing);

/* Drops faults, needs and keys as long as the seed still fails, and prints how to replay what is left. */
void shrink(uint64_t seed, struct narrowing *narrowing);

struct hunt {
    uint64_t first_seed;
    unsigned seconds;
    unsigned jobs;
    struct narrowing narrowing;
};

struct hunt_result {
    uint64_t worlds, solves, answers, crashes, steps;
    uint64_t milliseconds;
    uint64_t cpu_ms; /* of all workers: other work on the machine does not count */
    bool has_failed;
    uint64_t failed_seed;
};

/* Seeds from the first on, on so many cores, until the time is up or one fails. */
void hunt_run(const struct hunt *hunt, struct hunt_result *result);

#endif
