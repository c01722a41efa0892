/* Faults as JSON: read from PUT /sim/faults and --script, shown by GET /sim/faults. */
#ifndef SOLVEGATE_SIM_FAULT_JSON_H
#define SOLVEGATE_SIM_FAULT_JSON_H

#include "sim/faults.h"

/* Reads {"faults": {...} or [...], "script": [...]} or a bare script array. A member that is given
 * replaces the old one. ERR_INVALID leaves faults unchanged, with a sentence in problem. */
int fault_json_read(struct faults *faults, struct slice json, struct buf *problem) MUST_CHECK;

void fault_json_add(struct buf *out, const struct faults *faults);

#endif
