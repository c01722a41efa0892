/* Orders about dead letters that other nodes carry out: about a letter that another one has, or about many, at all. */
#ifndef SOLVEGATE_ENGINE_LETTER_ERRANDS_H
#define SOLVEGATE_ENGINE_LETTER_ERRANDS_H

#include "engine/state.h"

bool letter_order_is_for_others(const struct engine *engine, const struct letter_order *order);
void letter_errand_send(struct engine *engine, const struct letter_order *order);

/* Another node's order; or how one part of ours ended. */
void letter_errand_take(struct engine *engine, const struct errand *errand,
                        const struct letter_order *order);
void letter_errand_on_reply(struct engine *engine, struct hold *hold, const struct errand *reply);

/* Tells the caller how its order ended; none of a list that was carried out. */
void letter_order_end(struct engine *engine, caller_id caller, enum letter_verb verb,
                      enum refusal refusal, uint32_t count);

#endif
