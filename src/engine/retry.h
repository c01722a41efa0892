/* What a failed attempt leads to: another one at once, one after a while, or the end (docs/design.md 5.5). */
#ifndef SOLVEGATE_ENGINE_RETRY_H
#define SOLVEGATE_ENGINE_RETRY_H

#include "engine/state.h"

/* The flight's attempt ended with this result and is let go already. */
void retry_or_fail(struct engine *engine, struct flight *flight,
                   const struct vendor_result *result);

/* What it rode on came to nothing: it goes on like any other, if somebody waits and may pay. */
void retry_after_ride(struct engine *engine, struct flight *flight, enum error_class class,
                      struct slice code);

/* Nobody who waits for it started a solve so far; now the first of them does. */
void retry_note_own_solve(struct engine *engine, struct flight *flight);

/* An ambiguous submit was not confirmed within the window. */
void retry_after_window(struct engine *engine, struct flight *flight);

/* A probe told whether money or threads are short for the flights that wait for that verdict. */
void retry_judge(struct engine *engine, bool is_account);

/* min(cap, base * 2^tries) + random(0, jitter); a longer wait that was asked for counts, up to the cap. */
uint64_t retry_backoff_ms(struct engine *engine, uint64_t base_ms, uint64_t cap_ms, unsigned tries,
                          uint32_t asked_ms);

#endif
