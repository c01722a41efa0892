/* Decides what follows a failed attempt: a retry at once, a retry after a pause, or failure
 * (docs/design.md 5.5). */
#ifndef SOLVEGATE_ENGINE_RETRY_H
#define SOLVEGATE_ENGINE_RETRY_H

#include "engine/state.h"

/* Retries or fails a flight whose attempt ended with this result and is already let go. */
void retry_or_fail(struct engine *engine, struct flight *flight,
                   const struct vendor_result *result);

/* Handles a failed stray: the flight that rode on it goes on alone, if somebody waits and may pay. */
void retry_after_ride(struct engine *engine, struct flight *flight, enum error_class class,
                      struct slice code);

/* Credits the first request of a flight that now submits itself with the solve; so far all of them
 * rode on another's. */
void retry_note_own_solve(struct engine *engine, struct flight *flight);

/* Until when an ambiguous submit may prove itself: its window, or if that is shorter than
 * any retry would wait, the pause before the next retry. */
uint64_t retry_window_end_ms(struct engine *engine, const struct flight *flight);
/* Handles an ambiguous submit that was not confirmed within its window. */
void retry_after_window(struct engine *engine, struct flight *flight);

/* Gives the verdict, money or threads, to the flights that wait for it. */
void retry_judge(struct engine *engine, bool is_account);

/* How often a flight of this client is tried again after a failure of this class. */
uint16_t retry_most_tries(const struct engine *engine, const struct flight *flight,
                          enum error_class class);

/* min(cap, base * 2^tries) + random(0, jitter); a longer wait that was asked for counts, up to the cap. */
uint64_t retry_backoff_ms(struct engine *engine, uint64_t base_ms, uint64_t cap_ms, unsigned tries,
                          uint32_t asked_ms);

#endif
