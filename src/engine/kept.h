/* Solutions that only finished requests and idempotency records still hold. The cache no longer
 * counts them, so they have a limit in bytes of their own (limits.finished_bytes).
 *
 * A solution is counted once, for the client that it was solved for, however many hold it. Above
 * the limit the greediest client's oldest gives way, those already read first: whoever holds it is
 * forgotten. */
#ifndef SOLVEGATE_ENGINE_KEPT_H
#define SOLVEGATE_ENGINE_KEPT_H

#include "engine/state.h"

/* A finished request with a solution begins to hold it, is read, or stops holding it. */
void kept_enter_request(struct engine *engine, struct request *request);
void kept_mark_read(struct engine *engine, struct request *request);
void kept_leave_request(struct engine *engine, struct request *request);

/* An idempotency record that stands for a solution begins or stops holding it. */
void kept_enter_record(struct engine *engine, struct idempotency *record);
void kept_leave_record(struct engine *engine, struct idempotency *record);

/* Call this when a solution enters or leaves the cache or a pool. */
void kept_update(struct engine *engine, struct solution *solution);

/* Is there more than the limit allows? */
static inline bool kept_is_over(const struct engine *engine)
{
    return engine->shares.finished_bytes.total > engine->shares.finished_bytes.room;
}
/* Forgets holders, at most a batch of them per step. Called at the end of a step, because callers
 * may hold pointers until then. */
void kept_trim(struct engine *engine);

#endif
