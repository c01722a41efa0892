/* Orders about dead letters: list, replay, drop; each carried out over as many steps as it takes. */
#ifndef SOLVEGATE_ENGINE_LETTER_ORDERS_H
#define SOLVEGATE_ENGINE_LETTER_ORDERS_H

#include "engine/state.h"

void letters_on_order(struct engine *engine, const struct letter_order *order);
/* Carries out an order that an errand brought, and replies at its end; false if there are too many orders already. */
bool letter_job_take(struct engine *engine, const struct letter_order *order,
                     const struct errand *errand);
/* The caller hung up: its orders are still carried out, but nobody is told of their end. */
void letters_on_gone(struct engine *engine, caller_id caller);
void letter_jobs_work(struct engine *engine);
/* Moves orders past a letter that is about to be freed. */
void letter_jobs_pass(struct engine *engine, const struct letter *letter);
void letter_jobs_free(struct engine *engine);

/* NULL: there is none of this number. */
struct letter *letter_find(const struct engine *engine, uint64_t number);

#endif
