/* Solutions that fit nothing we know: a few of each attempt are kept as letters, the others only counted. */
#ifndef SOLVEGATE_ENGINE_ODDITY_H
#define SOLVEGATE_ENGINE_ODDITY_H

#include "engine/state.h"

/* Two solutions for one task: one of them is somebody else's. It is kept for a person to look at. */
void oddity_of_attempt(struct engine *engine, struct attempt *attempt,
                       const struct vendor_result *result);

/* Genuine, but for an attempt of long ago: never a loss, so a letter. */
void oddity_of_unknown(struct engine *engine, const struct vendor_result *result);

void oddity_check(const struct engine *engine);

#endif
