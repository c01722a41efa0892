/* Automatic replay of dead letters: configured classes, a limited number of times, some time after
 * the failure. */
#ifndef SOLVEGATE_ENGINE_LETTERS_RETRY_H
#define SOLVEGATE_ENGINE_LETTERS_RETRY_H

#include "engine/state.h"

/* Starts or stops the periodic sweep; called at the start and after a reload. */
void letters_watch(struct engine *engine);
void letters_on_sweep_timer(struct engine *engine);

/* Moves the sweep past a letter that is about to be freed. */
void letters_sweep_past(struct engine *engine, const struct letter *letter);

#endif
