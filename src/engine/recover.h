/* Recovery after a restart: turns the surviving rows back into the engine's state (docs/reliability.md 3.2). */
#ifndef SOLVEGATE_ENGINE_RECOVER_H
#define SOLVEGATE_ENGINE_RECOVER_H

#include "engine/state.h"

/* Frees the rows gathered by engine_restore; engine_restored calls it too. */
void recovery_free(struct engine *engine);

#endif
