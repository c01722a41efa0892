/* Attempts: one submit of a flight each, with its polls, callbacks and late results. */
#ifndef SOLVEGATE_ENGINE_ATTEMPT_H
#define SOLVEGATE_ENGINE_ATTEMPT_H

#include "engine/state.h"

/* Performs every change of an attempt's state. */
void attempt_enter(struct attempt *attempt, enum attempt_state state);

static inline bool attempt_is_over(const struct attempt *attempt)
{
    return attempt->state >= ATTEMPT_VOID;
}

/* True while the vendor is believed to work on the task. */
static inline bool attempt_is_working(const struct attempt *attempt)
{
    return attempt->state == ATTEMPT_WORKING;
}

/* Records the task id that the vendor gave the attempt. */
void attempt_name_task(struct engine *engine, struct attempt *attempt,
                       const char task_id[TASK_ID_MAX]);

/* Journals the intent and submits; the flight enters SUBMITTING. */
void attempt_start(struct engine *engine, struct flight *flight);

/* Polls the vendor unless a poll is already on its way. */
void attempt_poll(struct engine *engine, struct attempt *attempt);

/* Detaches the attempt from its flight. With callbacks it stays to listen for late ones, and a
 * working task is still polled a few times: a late solution is paid for and must be kept. May free
 * the attempt. */
void attempt_let_go(struct engine *engine, struct attempt *attempt);

/* Restores an attempt from its row: the newest open attempt of a living flight becomes that
 * flight's, all others only listen. `solution` is the one it brought, if any, even where the row
 * does not say so yet. */
void attempt_restore(struct engine *engine, const struct attempt_row *row, struct flight *flight,
                     const struct solution *solution, uint64_t started_ms);

/* The following functions find, release and poll attempts for hear.c. */
struct attempt *attempt_find(const struct engine *engine, attempt_id name);
void attempt_free(struct engine *engine, struct attempt *attempt);
/* Releases what it refers to. */
void attempt_close(struct attempt *attempt);
/* Decides what becomes of an attempt without a flight after news of it: it is polled again, listens
 * on, or is freed when nothing more can come of it. */
void attempt_linger(struct engine *engine, struct attempt *attempt);
uint64_t attempt_first_poll_ms(struct engine *engine, const struct attempt *attempt);
void attempt_arm_next_poll(struct engine *engine, struct flight *flight, uint32_t asked_ms);

/* Polls all working tasks at once, since nobody will be there to receive their callbacks after a drain. */
void attempts_on_drain(struct engine *engine);

void attempt_on_expiry(struct engine *engine, struct attempt *attempt);

#endif
