/* Following: a flight without slot and attempt waits for the end of another node's flight. */
#ifndef SOLVEGATE_ENGINE_FOLLOW_H
#define SOLVEGATE_ENGINE_FOLLOW_H

#include "engine/state.h"

/* How soon a follower asks again: a wake-up may be lost. Also the pause after the store did not answer. */
#define FOLLOW_ASK_MS 1000

/* Lets the flight follow, or go on following, as the store said. */
void follow_begin(struct engine *engine, struct flight *flight, const struct claimed *claimed);

/* A claim of this name ended: its followers ask for it. */
void follow_on_woken(struct engine *engine, const struct key *name);

/* Moves everybody who waits for `from` to `into`, and frees `from`. */
void follow_merge(struct engine *engine, struct flight *from, struct flight *into);

#endif
