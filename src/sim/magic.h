/* Magic sitekeys: a sitekey that starts with SIM- determines the fate of its task. */
#ifndef SOLVEGATE_SIM_MAGIC_H
#define SOLVEGATE_SIM_MAGIC_H

#include "base/err.h"

#include "sim/fault.h"
#include "sim/params.h"

struct magic {
    struct fault faults[PLACE_COUNT];
    bool is_given[PLACE_COUNT];
    bool has_solve_ms; /* a solve time can be combined with any other fault */
    uint64_t solve_ms;
};

/* Reads magic from any parameter that can hold a sitekey; having none is not an error. ERR_INVALID
 * for an unknown word after SIM-. */
int magic_read(struct magic *magic, const struct params *params) MUST_CHECK;

#endif
