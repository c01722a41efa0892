/* Attempts: one submit of a flight each, its polls, its callbacks, and what comes late. */
#ifndef SOLVEGATE_ENGINE_ATTEMPT_H
#define SOLVEGATE_ENGINE_ATTEMPT_H

#include "engine/state.h"

/* The one door between an attempt's states. */
void attempt_enter(struct attempt *attempt, enum attempt_state state);

static inline bool attempt_is_over(const struct attempt *attempt)
{
    return attempt->state >= ATTEMPT_VOID;
}

/* The vendor works on it, for all that is known. */
static inline bool attempt_is_working(const struct attempt *attempt)
{
    return attempt->state == ATTEMPT_WORKING;
}

/* The vendor told what its task is called. */
void attempt_name_task(struct engine *engine, struct attempt *attempt,
                       const char task_id[TASK_ID_MAX]);

/* Journals the intent and submits; the flight enters SUBMITTING. */
void attempt_start(struct engine *engine, struct flight *flight);

/* Asks the vendor whether it is done, unless such a question is already on its way. */
void attempt_poll(struct engine *engine, struct attempt *attempt);

/* Its flight is done with it. It is listened for where callbacks come, and asked for a few times where the
 * vendor works on it: a late solution is paid for and must find its place. */
void attempt_let_go(struct engine *engine, struct attempt *attempt);

/* The attempt of a row: the newest open one of a living flight is that flight's, others are only
 * listened for. A solution that it brought may be known although its row does not say so yet. */
void attempt_restore(struct engine *engine, const struct attempt_row *row, struct flight *flight,
                     const struct solution *solution, uint64_t started_ms);

/* For hear.c: finding, forgetting, and asking again. */
struct attempt *attempt_find(const struct engine *engine, attempt_id name);
void attempt_free(struct engine *engine, struct attempt *attempt);
/* One that its flight let go, after something was heard of it: asked for again, or listened for, or, when
 * nothing more can come of it, forgotten. */
void attempt_linger(struct engine *engine, struct attempt *attempt);
uint64_t attempt_first_poll_ms(struct engine *engine, const struct attempt *attempt);
void attempt_arm_next_poll(struct engine *engine, struct flight *flight, uint32_t asked_ms);

/* Nothing new from now on, and nobody will be there to hear callbacks: what is being solved is asked for. */
void attempts_on_drain(struct engine *engine);

/* Solves it with what a callback brought: the rest did not come. */
void attempt_settle(struct engine *engine, struct attempt *attempt);

void attempt_on_submitted(struct engine *engine, const struct vendor_result *result);
void attempt_on_polled(struct engine *engine, const struct vendor_result *result);
void attempt_on_callback(struct engine *engine, const struct vendor_result *result);
void attempt_on_expiry(struct engine *engine, struct attempt *attempt);

#endif
