/* The books: counters by day, and the last minute's submits and retries for the retry budget. */
#ifndef SOLVEGATE_ENGINE_STATS_H
#define SOLVEGATE_ENGINE_STATS_H

#include "engine/state.h"

/* Room for each client's tallies; the engine's options and clients are set. */
void stats_init(struct engine *engine);
void stats_close(struct engine *engine);

/* After a restart: the pages as they were last written, and what happened since made to fit. */
void stats_balance(struct engine *engine);

/* Takes the clocks of an event over; at midnight (UTC) a new page begins and budgets start anew. */
void stats_set_clock(struct engine *engine, uint64_t now_ms, int64_t wall_ms);
uint32_t stats_ms_to_midnight(const struct engine *engine);

void stats_count_submit(struct engine *engine, bool is_retry);
/* A submit is known to be paid for: counts the money and writes the audit line. task_id may be "". */
void stats_count_paid(struct engine *engine, const struct attempt *attempt,
                      const char task_id[TASK_ID_MAX], bool is_double);
void stats_count_failure(struct engine *engine, enum error_class class);

/* A retry counts when it is decided: a thousand that fail at once must not all find the budget unused. */
/* One more; were they a fifth of the submits of the last seconds, or more? */
bool stats_note_ambiguous(struct engine *engine, unsigned seconds);
void stats_note_retry(struct engine *engine);

/* Retries of the last minute stay within their share of its submits, with a floor (docs/design.md 5.5). */
bool stats_retry_allowed(const struct engine *engine);

#endif
