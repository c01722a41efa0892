/* Budgets with a shared store: units of a client's day are drawn in blocks, and flights wait for them (budgets.h). */
#ifndef SOLVEGATE_ENGINE_BUDGET_H
#define SOLVEGATE_ENGINE_BUDGET_H

#include "engine/state.h"

/* Without a shared store there is none of this: a client's allowance is its budget. */
void budgets_init(struct engine *engine);
void budgets_close(struct engine *engine);

/* A client's options were set; its budget may be another one. */
void budget_configure(struct engine *engine, client_id client, uint64_t budget_before);

/* Has the store not said within the last second that the client's day is spent? */
bool budget_may_come(const struct engine *engine, client_id client);

/* May a unit be reserved at once? */
static inline bool budget_has_unit(const struct engine *engine, client_id client)
{
    const struct client *spender = &engine->clients[client];
    return spender->spent + spender->reserved < spender->allowance;
}

/* Lets a flight wait for a unit. It is reserved for it, or the flight ends. */
void budget_await(struct engine *engine, struct flight *flight);
/* Queues a flight after slots_reserve(), or lets it wait for the unit. */
void budget_queue(struct engine *engine, struct flight *flight);
/* Draws a unit for somebody who will ask again. */
void budget_want(struct engine *engine, client_id client);

/* A unit was reserved; there may be few left. */
void budget_on_reserved(struct engine *engine, client_id client);
/* Is the flight's reserved unit that of a submit which was on its way at midnight? It counts on the new day, of which
 * others may have drawn everything, and is good for no other submit. */
bool budget_is_stale(const struct engine *engine, const struct flight *flight);
/* Such a unit is about to be free without a submit that was accepted. */
void budget_on_stale(struct engine *engine, client_id client);
/* A unit is free again: somebody may wait for it. */
void budget_on_freed(struct engine *engine, client_id client);
/* Counts a submit from before a restart that may have been accepted. With a shared store its unit was drawn by an
 * earlier run, or by another node. */
void budget_spend_unheard(struct engine *engine, client_id client);

void budgets_on_restored(struct engine *engine);
void budgets_on_day(struct engine *engine);
void budgets_on_drain(struct engine *engine);
void budgets_on_beat(struct engine *engine);
void budgets_on_drawn(struct engine *engine, const struct drawn *drawn);

/* Serves those who wait, a batch of them. */
bool budgets_have_work(const struct engine *engine);
void budgets_work(struct engine *engine);

#endif
