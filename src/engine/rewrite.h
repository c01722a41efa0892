/* Writes all rows again, a batch per step, for a store that came back without them; a shared one is asked for the
 * claims first. */
#ifndef SOLVEGATE_ENGINE_REWRITE_H
#define SOLVEGATE_ENGINE_REWRITE_H

#include "engine/state.h"

/* EVENT_STORE_STATE and EVENT_STORE_LOST. */
void rewrite_on_store(struct engine *engine, const struct event *event);

/* False while it waits for the store. */
bool rewrite_has_work(const struct engine *engine);
void rewrite_work(struct engine *engine);

#endif
