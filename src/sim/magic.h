/* Magic sitekeys: a sitekey that starts with SIM- forces what happens to its task. */
#ifndef SOLVEGATE_SIM_MAGIC_H
#define SOLVEGATE_SIM_MAGIC_H

#include "base/err.h"

#include "sim/fault.h"
#include "sim/params.h"

struct magic {
    struct fault faults[PLACE_COUNT];
    bool is_given[PLACE_COUNT];
    bool has_solve_ms; /* a solve time goes together with every other fate of the task */
    uint64_t solve_ms;
};

/* Reads the magic out of whichever parameter can hold it; nothing magic is no error.
 * ERR_INVALID for a word that starts like magic and is none. */
int magic_read(struct magic *magic, const struct params *params) MUST_CHECK;

#endif
