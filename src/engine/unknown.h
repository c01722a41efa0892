/* Unknown error codes, counted by name in a set of fixed size (docs/design.md 5.5). */
#ifndef SOLVEGATE_ENGINE_UNKNOWN_H
#define SOLVEGATE_ENGINE_UNKNOWN_H

#include "engine/state.h"

void unknown_count(struct engine *engine, struct slice code);

/* Aborts if the set is inconsistent. */
void unknown_check(const struct engine *engine);

#endif
