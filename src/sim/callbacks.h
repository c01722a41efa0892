/* What a finished task does about its pingback, faults included. */
#ifndef SOLVEGATE_SIM_CALLBACKS_H
#define SOLVEGATE_SIM_CALLBACKS_H

#include "sim/vendor.h"

/* Makes the callbacks the task's fault asks for; early is the connection that waits, or 0. */
void callbacks_start(struct vendor *vendor, struct task *task, slab_id early);

/* The pingback_done: counts the result and shows it in the ledger. The context is the vendor. */
void callbacks_on_done(void *vendor, const struct pingback_result *result);

#endif
