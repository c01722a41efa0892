/* Errors that no table knows, counted by name in a set that cannot grow (docs/design.md 5.5). */
#ifndef SOLVEGATE_ENGINE_UNKNOWN_H
#define SOLVEGATE_ENGINE_UNKNOWN_H

#include "engine/state.h"

void unknown_count(struct engine *engine, struct slice code);

/* Aborts if the set holds what it must not. */
void unknown_check(const struct engine *engine);

#endif
