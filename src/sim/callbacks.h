/* The callbacks of a finished task, faults included. */
#ifndef SOLVEGATE_SIM_CALLBACKS_H
#define SOLVEGATE_SIM_CALLBACKS_H

#include "sim/vendor.h"

/* Makes the callbacks the task's fault asks for; early is the connection that waits, or 0. */
void callbacks_start(struct vendor *vendor, struct task *task, slab_id early);

/* A pingback_done: counts the result and adds it to the ledger. The context is the vendor. */
void callbacks_on_done(void *vendor, const struct pingback_result *result);

#endif
