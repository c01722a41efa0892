/* Health of the vendor's callbacks: when under half arrive, we poll as if there were none
 * (docs/design.md 5.7). */
#ifndef SOLVEGATE_ENGINE_HEALTH_H
#define SOLVEGATE_ENGINE_HEALTH_H

#include "engine/state.h"

bool health_is_good(const struct engine *engine);

/* Notes that a poll found a result whose callback has not arrived. */
void health_note_missed(struct engine *engine, struct attempt *attempt);
/* Notes that a callback arrived, possibly after a poll found the result. */
void health_note_arrival(struct engine *engine, struct attempt *attempt);

#endif
