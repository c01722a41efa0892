/* Withdraws submits and polls that may not have been sent yet. */
#ifndef SOLVEGATE_ENGINE_WITHDRAW_H
#define SOLVEGATE_ENGINE_WITHDRAW_H

#include "engine/state.h"

/* Withdraw the attempt's submit, or its poll, which no longer serves anybody. */
void withdraw_submit(struct engine *engine, const struct attempt *attempt);
void withdraw_poll(struct engine *engine, const struct attempt *attempt);

/* Handles a withdrawn submit: the attempt is void, and its flight is queued again if somebody wants it. */
void withdraw_on_submit(struct engine *engine, struct attempt *attempt);

#endif
