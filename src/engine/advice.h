/* Verified advice: what callers report about solutions, by host and type, tells whether a target
 * accepts a solution more than once (docs/design.md 5.11). */
#ifndef SOLVEGATE_ENGINE_ADVICE_H
#define SOLVEGATE_ENGINE_ADVICE_H

#include "engine/state.h"

/* Somebody reported this solution, for the first time. */
void advice_note(struct engine *engine, const struct solution *solution, bool is_good);

void advice_close(struct engine *engine);

#endif
