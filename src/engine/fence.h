/* A node that finds itself adopted: it tells the store the facts that it alone may know, and everybody
 * who waits here to come back. It decides nothing any more. */
#ifndef SOLVEGATE_ENGINE_FENCE_H
#define SOLVEGATE_ENGINE_FENCE_H

#include "engine/state.h"

/* Applies an event to a fenced engine. */
void fence_dispatch(struct engine *engine, const struct event *event);
bool fence_has_work(const struct engine *engine);

#endif
