/* Dead letters that are replayed by themselves: some classes, so many times, so long after they failed. */
#ifndef SOLVEGATE_ENGINE_LETTERS_RETRY_H
#define SOLVEGATE_ENGINE_LETTERS_RETRY_H

#include "engine/state.h"

/* At the start and after a reload: letters are looked through now and then, or no longer. */
void letters_watch(struct engine *engine);
void letters_on_sweep_timer(struct engine *engine);

/* The letter goes: whoever looks through them goes on behind it. */
void letters_sweep_past(struct engine *engine, const struct letter *letter);

#endif
