/* Solutions that fit nothing we know: a few per attempt become letters, the others are only counted. */
#ifndef SOLVEGATE_ENGINE_ODDITY_H
#define SOLVEGATE_ENGINE_ODDITY_H

#include "engine/state.h"

/* Handles a second, different solution for one task: one of the two is somebody else's, so it
 * becomes a letter. */
void oddity_of_attempt(struct engine *engine, struct attempt *attempt,
                       const struct vendor_result *result);

/* Handles a genuine callback for an attempt that is no longer known: its solution becomes a letter,
 * so that none is lost. */
void oddity_of_unknown(struct engine *engine, const struct vendor_result *result);

void oddity_check(const struct engine *engine);

#endif
