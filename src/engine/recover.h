/* Recovery after a restart: turns the surviving rows back into the engine's state (docs/reliability.md 3.2). */
#ifndef SOLVEGATE_ENGINE_RECOVER_H
#define SOLVEGATE_ENGINE_RECOVER_H

#include "engine/state.h"

/* An adoption: call engine_restore for its rows and engine_restore_claim for its claims between begin
 * and complete, in any number of steps; then go on until it says that nothing is left. */
void recovery_begin(struct engine *engine);
void recovery_complete(struct engine *engine);
bool recovery_is_complete(const struct engine *engine);
bool recovery_go_on(struct engine *engine, uint32_t batch);
/* During an adoption: may the attempt, or its flight, be changed only when all rows have come? */
bool recovery_awaits(const struct engine *engine, const struct attempt *attempt);

/* Makes a solution from its row, neither cached nor journaled. The caller owns the reference. */
struct solution *recover_solution(struct engine *engine, const struct solution_row *row);

#endif
