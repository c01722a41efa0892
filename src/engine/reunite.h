/* Flights that wait for what one idempotency key stands for, or for one shared key, when rows of both become ours:
 * after an adoption, or after a crash in the middle of one. They go on as one. */
#ifndef SOLVEGATE_ENGINE_REUNITE_H
#define SOLVEGATE_ENGINE_REUNITE_H

#include "engine/gather.h"

/* Has the flight nothing of its own yet, so that it can go on as another one? One that waits for its budget has the
 * key. */
bool reunite_can(const struct flight *flight);

/* Whoever used the row's key for something else is refused at once, before the store says so. */
void reunite_refuse(struct engine *engine, const struct idempotency_row *row);
/* The row's key stands for this flight: whoever repeated the key here will go on with it. */
void reunite_await(struct engine *engine, const struct idempotency_row *row,
                   const struct restored_flight *restored);
/* It stands for this solution: whoever repeated the key here gets a copy. */
void reunite_solved(struct engine *engine, const struct idempotency_row *row,
                    struct solution *solution);

/* All rows have come: it goes on as what its key stands for. */
void reunite_repeat(struct engine *engine, const struct repeat *repeat);
/* Before any restored flight goes on: whoever waits for this one does so as its own; and what its own idempotency key
 * stands for may be another flight of ours, or a solution, as which it goes on instead. */
void reunite(struct engine *engine, struct restored_flight *restored);
/* It has gone on: those who have come are told. */
void reunite_tell(struct engine *engine, struct flight *flight,
                  const struct restored_flight *restored);

#endif
