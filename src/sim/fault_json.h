/* Faults as JSON: read from PUT /sim/faults and --script, shown by GET /sim/faults. */
#ifndef SOLVEGATE_SIM_FAULT_JSON_H
#define SOLVEGATE_SIM_FAULT_JSON_H

#include "sim/faults.h"

/* {"faults": {...} or [...], "script": [...]} or a bare script array. A member that is there
 * replaces what faults had. ERR_INVALID leaves them as they were, with a sentence in problem. */
int fault_json_read(struct faults *faults, struct slice json, struct buf *problem) MUST_CHECK;

void fault_json_add(struct buf *out, const struct faults *faults);

#endif
