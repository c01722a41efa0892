/* Single-use solutions beside other nodes: what waits for whoever asks is offered to all nodes, and of all who want it
 * the store gives it to one, also if that is the node that has it in memory.
 *
 * The row of an offered solution names no flight. The claim that gets it writes the number of its flight there, in one
 * transaction, and that is the hand-out: no node ever hands out an offered solution in another way. */
#ifndef SOLVEGATE_ENGINE_OFFER_H
#define SOLVEGATE_ENGINE_OFFER_H

#include "engine/state.h"

/* May an ask find it in memory? Beside other nodes only to propose it to the store. */
static inline bool offer_is_open(const struct engine *engine, const struct solution *solution)
{
    return !engine->options.store_is_shared || (solution->is_offered && !solution->is_proposed);
}

/* Must the hand-out of the flight's solution be journaled? What a claim gave has been handed out by
 * that, unless an idempotency key has to find it again, or its row was written anew since. */
static inline bool offer_wants_record(const struct flight *flight)
{
    const struct solution *solution = flight->solution;
    if (!solution->is_taken)
        return flight->reuse != REUSE_SHARED;
    return solution->seq != 0 || !list_is_empty(&solution->records);
}

/* Offers a solution in the bank or in a pool, if it is for whoever asks; without other nodes nothing happens. */
void offer_make(struct engine *engine, struct solution *solution);
/* Its row, or that of a dead node, was read: what is in the bank or in a pool is as it was. */
void offer_restore(struct engine *engine, struct solution *solution,
                   const struct solution_row *row);
/* The store has lost rows: nobody knows who has it by now. */
void offer_forget(struct engine *engine, struct solution *solution);

/* The offered solution in memory that suits the ask best, or NULL. */
struct solution *offer_find(const struct engine *engine, const struct ask *ask);

/* May a new flight's claim take a solution that is offered? Nobody joins such a flight before that is decided. */
bool offer_may_take(const struct engine *engine, const struct ask *ask);
/* Proposes one of ours, which is for no other claim until this one has its result. */
void offer_propose(struct engine *engine, const struct flight *flight, struct claim *claim);

/* Memory follows what the store decided; the node that had what we took is told. */
void offer_on_claimed(struct engine *engine, const struct claimed *claimed);
/* What a claim has taken. It counts as handed out with its first answer. The caller owns the reference. */
struct solution *offer_taken(struct engine *engine, const struct solution_row *row);
/* Another node took one of ours. */
void offer_on_told(struct engine *engine, const struct taken_solution *taken);

#endif
