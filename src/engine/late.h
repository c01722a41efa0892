/* Paid solutions whose attempt was given up before they came. */
#ifndef SOLVEGATE_ENGINE_LATE_H
#define SOLVEGATE_ENGINE_LATE_H

#include "engine/state.h"

/* For those who wait for the same thing now; else it is banked, or kept as a letter when nobody can ask for it. */
void late_place(struct engine *engine, const struct attempt *attempt, struct solution *solution);

#endif
