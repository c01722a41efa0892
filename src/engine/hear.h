/* The vendor's news about attempts: replies to submits and polls, and callbacks. */
#ifndef SOLVEGATE_ENGINE_HEAR_H
#define SOLVEGATE_ENGINE_HEAR_H

#include "engine/state.h"

/* Solves the attempt with the text that a callback brought, because the rest did not come. */
void attempt_settle(struct engine *engine, struct attempt *attempt);

void attempt_on_submitted(struct engine *engine, const struct vendor_result *result);
void attempt_on_polled(struct engine *engine, const struct vendor_result *result);
/* What a callback says, whoever it came to. */
void attempt_hear(struct engine *engine, const struct vendor_result *result);
void attempt_on_callback(struct engine *engine, const struct vendor_result *result);

#endif
