/* Idempotency keys in shadow mode: what each would stand for if it were served. */
#ifndef SOLVEGATE_ENGINE_SHADOW_MARKS_H
#define SOLVEGATE_ENGINE_SHADOW_MARKS_H

#include "engine/shadow_state.h"

enum mark_found {
    MARK_NONE,     /* the key is new, or what it stood for is over */
    MARK_SERVES,   /* serving would have replayed what it stands for */
    MARK_MISMATCH, /* serving would have refused it: it stands for something else */
};

/* Looks up the ask's idempotency key; *guess is set with MARK_SERVES. */
enum mark_found marks_find(struct engine *engine, const struct ask *ask, struct guess **guess);

/* From now on the ask's idempotency key stands for this guess. */
void marks_bind(struct engine *engine, const struct ask *ask, struct guess *guess);

#endif
