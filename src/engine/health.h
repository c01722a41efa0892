/* Health of the vendor's callbacks: when under half arrive, we poll as if there were none
 * (docs/design.md 5.7). */
#ifndef SOLVEGATE_ENGINE_HEALTH_H
#define SOLVEGATE_ENGINE_HEALTH_H

#include "engine/state.h"

/* Counts a solve whose callback arrived, or one that a poll had to find. */
void health_count_arrived(struct engine *engine);
void health_count_missed(struct engine *engine);

/* Corrects the count for a callback that arrived after our poll. */
void health_correct(struct engine *engine);

bool health_is_good(const struct engine *engine);

/* Notes that a poll found a result whose callback has not arrived. */
void health_note_missed(struct engine *engine, struct attempt *attempt);
/* Notes that a callback arrived, possibly after a poll found the result. */
void health_note_arrival(struct engine *engine, struct attempt *attempt);

#endif
