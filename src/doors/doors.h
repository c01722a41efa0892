/* All doors together, for gate_run. */
#ifndef SOLVEGATE_DOORS_DOORS_H
#define SOLVEGATE_DOORS_DOORS_H

#include "gate/gate.h"

extern const struct gate_doors doors;

#endif
