/* Recovery after a restart: turns the surviving rows back into the engine's state (docs/reliability.md 3.2). */
#ifndef SOLVEGATE_ENGINE_RECOVER_H
#define SOLVEGATE_ENGINE_RECOVER_H

#include "engine/state.h"

/* Frees the rows gathered by engine_restore; engine_restored calls it too. */
void recovery_free(struct engine *engine);

/* Makes a solution from its row, neither cached nor journaled. The caller owns the reference. */
struct solution *recover_solution(struct engine *engine, const struct solution_row *row);

#endif
