/* The books: counters by day, and the last minute's submits and retries for the retry budget. */
#ifndef SOLVEGATE_ENGINE_STATS_H
#define SOLVEGATE_ENGINE_STATS_H

#include "engine/state.h"

/* Allocates the tallies; the engine's options and clients must be set. */
void stats_init(struct engine *engine);
void stats_close(struct engine *engine);

/* After a restart, restores the last journaled pages and makes them balance. */
void stats_balance(struct engine *engine);

/* Takes over an event's clocks; at midnight (UTC) a new page and new budgets begin. */
void stats_set_clock(struct engine *engine, uint64_t now_ms, int64_t wall_ms);
uint32_t stats_ms_to_midnight(const struct engine *engine);

void stats_count_submit(struct engine *engine, bool is_retry);
/* Counts a submit that is known to be paid for, and writes the audit line. task_id may be NULL. */
void stats_count_paid(struct engine *engine, const struct attempt *attempt,
                      const struct blob *task_id, bool is_double);
void stats_count_failure(struct engine *engine, enum error_class class);

/* Counts an ambiguous submit. Are they at least a fifth of the submits of the last `seconds`? */
bool stats_note_ambiguous(struct engine *engine, unsigned seconds);
/* Counts a retry when it is decided, not when it is sent: a thousand flights that fail at once must
 * not all find the retry budget unused. */
void stats_note_retry(struct engine *engine);

/* Are the last minute's retries within their share of its submits? A few are always allowed
 * (docs/design.md 5.5). */
bool stats_retry_allowed(const struct engine *engine);

#endif
