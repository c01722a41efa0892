/* Dead letters: flights that ended badly, kept for inspection and replay (DESIGN.md 5.9). */
#ifndef SOLVEGATE_ENGINE_LETTERS_H
#define SOLVEGATE_ENGINE_LETTERS_H

#include "engine/state.h"

/* Remembers how the flight's current attempt ended, before it is let go. */
void history_add(struct engine *engine, struct flight *flight, enum class class, struct slice code);
void history_free(struct history *history);
/* Appends a copy of later to *earlier, the oldest notes out first; either may be NULL. */
void history_join(struct history **earlier, const struct history *later);

void letters_init(struct engine *engine);

/* Ends of a flight: letters that ride on it are settled or get its history; a flight that failed
 * for the operator to see becomes a letter itself. */
void letters_on_solved(struct engine *engine, struct flight *flight);
void letters_on_failed(struct engine *engine, struct flight *flight);

void letters_on_order(struct engine *engine, const struct letter_order *order);
void letters_on_replay_timer(struct engine *engine);
void letter_on_expiry(struct engine *engine, struct letter *letter);

#endif
