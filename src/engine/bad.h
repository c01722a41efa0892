/* Bad solutions in a cluster: once reported, no node hands one out any more, whichever has a copy. */
#ifndef SOLVEGATE_ENGINE_BAD_H
#define SOLVEGATE_ENGINE_BAD_H

#include "engine/state.h"

void bad_init(struct engine *engine);
void bad_close(struct engine *engine);

/* A caller of ours reported this solution as bad: drops it, and tells the other nodes and the store.
 * False if that was known. */
bool bad_report(struct engine *engine, struct solution *solution);
/* Another node did. */
void bad_on_told(struct engine *engine, const struct bad_solution *bad);

/* Was what this attempt brought reported as bad a moment ago? The store may have given it to us before. */
bool bad_is_known(const struct engine *engine, attempt_id attempt);

#endif
