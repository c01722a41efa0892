/* Taking back what was asked of the shell and may not have left yet. */
#ifndef SOLVEGATE_ENGINE_WITHDRAW_H
#define SOLVEGATE_ENGINE_WITHDRAW_H

#include "engine/state.h"

/* Nobody is served any more by this attempt's submit, or by its poll. */
void withdraw_submit(struct engine *engine, const struct attempt *attempt);
void withdraw_poll(struct engine *engine, const struct attempt *attempt);

/* The submit was taken back: it is void, and its flight, if somebody wants it again, waits for its turn. */
void withdraw_on_submit(struct engine *engine, struct attempt *attempt);

#endif
