/* How a call to the vendor ended, told to the gate. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_TELL_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_TELL_H

#include "upstream/upstream_private.h"

/* Determine a call's outcome and tell the handler: of a finished transfer (which is free for the
 * next call before the handler runs), of a call that was never sent, and of one that cannot be
 * encoded. */
void upstream_conclude(struct upstream *upstream, struct transfer *transfer, bool is_ok);
void upstream_conclude_unsent(struct upstream *upstream, const struct due_call *call);
void upstream_conclude_unwritable(struct upstream *upstream, const struct due_call *call,
                                  int error);

#endif
