/* How a flight's attempts ended, kept for the letter it may become. */
#ifndef SOLVEGATE_ENGINE_HISTORY_H
#define SOLVEGATE_ENGINE_HISTORY_H

#include "engine/state.h"

/* Notes an attempt that was never confirmed, made before a restart or by an earlier flight. */
void history_earlier(struct engine *engine, struct flight *flight, const struct attempt *attempt);
/* Notes why a restored flight was retried when the attempt itself is gone. */
void history_reason(struct engine *engine, struct flight *flight);
/* Adds a note about an event that is not an attempt: it started at started_ms and failed now. */
void history_note(struct engine *engine, struct history **history, uint64_t started_ms,
                  struct slice code);

/* Notes how the flight's current attempt ended; call it before attempt_let_go(). */
void history_add(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code);
/* Copies the notes for a record; the caller owns the array. */
void history_copy(const struct history *history, struct attempt_note **notes, size_t *count);
/* Restores the notes of a record; NULL when there are none. */
struct history *history_restore(const struct attempt_note *notes, size_t count);
void history_free(struct history *history);
/* Appends a copy of `later` to *earlier and drops the oldest notes when full; either may be NULL. */
void history_join(struct history **earlier, const struct history *later);

#endif
