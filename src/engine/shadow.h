/* Shadow mode: each request has a flight of its own, and a guess beside it says what serving would
 * have done instead (docs/design.md 5.11). */
#ifndef SOLVEGATE_ENGINE_SHADOW_H
#define SOLVEGATE_ENGINE_SHADOW_H

#include "engine/state.h"

/* The ask as it is carried out in shadow mode: it shares nothing and is submitted once. */
struct ask shadow_alone(const struct ask *ask);

/* Guesses where serving would have placed this ask; the flight is the one that it really gets. */
void shadow_guess(struct engine *engine, struct flight *flight, const struct ask *ask);

/* What became of a flight that has a seat; the guess follows. */
void shadow_on_paid(struct engine *engine, struct flight *flight);
void shadow_on_solved(struct engine *engine, struct flight *flight,
                      const struct solution *solution);
void shadow_on_failed(struct engine *engine, struct flight *flight, enum error_class class);
/* Its last request left, but it is paid for: serving would offer it to the next who asks. */
void shadow_on_deserted(struct engine *engine, struct flight *flight);

/* A solution was reported as bad: serving would not hand it out any more. */
void shadow_on_bad(struct engine *engine, const struct solution *solution);

void shadow_close(struct engine *engine);
void shadow_check(const struct engine *engine);

#endif
