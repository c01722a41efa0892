/* Paid solutions that arrive after their attempt was given up. */
#ifndef SOLVEGATE_ENGINE_LATE_H
#define SOLVEGATE_ENGINE_LATE_H

#include "engine/state.h"

/* Gives the solution to a flight that waits for the same key; else banks it, or keeps it as a
 * letter when nobody can ask for it. */
void late_place(struct engine *engine, const struct attempt *attempt, struct solution *solution);

#endif
