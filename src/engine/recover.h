/* After a restart: the surviving rows become the engine's state again (docs/reliability.md 3.2). */
#ifndef SOLVEGATE_ENGINE_RECOVER_H
#define SOLVEGATE_ENGINE_RECOVER_H

#include "engine/state.h"

/* Frees what engine_restore gathered; engine_restored does it too. */
void recovery_free(struct engine *engine);

#endif
