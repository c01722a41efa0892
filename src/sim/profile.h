/* Presets for --profile: a kind of vendor in one word. */
#ifndef SOLVEGATE_SIM_PROFILE_H
#define SOLVEGATE_SIM_PROFILE_H

#include <stdint.h>

#define PROFILE_TIMES_MAX 8
#define PROFILE_FAULTS_MAX 8

struct profile {
    const char *name;
    uint64_t slots;                             /* 0: no limit */
    const char *price;                          /* as of --price */
    const char *busy_code;                      /* NULL: the default */
    const char *solve_times[PROFILE_TIMES_MAX]; /* as of --solve-time; NULL ends them, as below */
    const char *faults[PROFILE_FAULTS_MAX];     /* as of --fault */
};

/* NULL if there is none of that name. */
const struct profile *profile_find(const char *name);

#endif
