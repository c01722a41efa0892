/* Claims that a store has lost: whoever has them asks for them again. */
#ifndef SOLVEGATE_ENGINE_RECLAIM_H
#define SOLVEGATE_ENGINE_RECLAIM_H

#include "engine/state.h"

/* Asks for the claim of a flight, or of a stray, that has one. */
void reclaim_flight(struct engine *engine, struct flight *flight);
void reclaim_stray(struct engine *engine, const struct attempt *attempt);

/* The store's answer to either. */
void reclaim_on_claimed(struct engine *engine, const struct claimed *claimed);

#endif
