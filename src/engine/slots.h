/* The plan's slots: a queue fair between clients, an adaptive limit, and each client's daily budget. */
#ifndef SOLVEGATE_ENGINE_SLOTS_H
#define SOLVEGATE_ENGINE_SLOTS_H

#include "engine/state.h"

/* Without threadsinfo to ask, `slots: "auto"` starts here and feels its way up. */
#define SLOTS_AUTO_START 10
#define SLOTS_AUTO_MOST 10000

/* After a reload: clients may have come and options may be others. */
void slots_configure(struct engine *engine, const struct client_options *clients, uint16_t count);
void slots_set_plan(struct engine *engine);

void slots_init(struct engine *engine, const struct client_options *clients);

/* Starts queued flights while slots are free and the breaker is closed. */
void slots_pump(struct engine *engine);

/* For flight_enter() alone. */
void slots_enqueue(struct engine *engine, struct flight *flight);
void slots_dequeue(struct engine *engine, struct flight *flight);
void slots_take(struct engine *engine, struct flight *flight);
void slots_give_back(struct engine *engine, struct flight *flight);

/* For stray.c alone: while the vendor may work on it, a stray has one of the plan's threads. */
void slots_take_for_stray(struct engine *engine, struct attempt *attempt);
void slots_give_back_of_stray(struct engine *engine, const struct attempt *attempt);

/* Budget: a unit is set aside when a flight is made, spent when a submit may have been accepted. */
void slots_reserve(struct engine *engine, struct flight *flight);
bool slots_can_reserve(const struct engine *engine, const struct flight *flight);
void slots_unreserve(struct engine *engine, struct flight *flight);
void slots_spend(struct engine *engine, struct flight *flight);
/* A submit of before a restart that may have been accepted. */
void slots_spend_unheard(struct engine *engine, client_id client);
/* The attempt was paid for when its flight let it go, and is now proven void. */
void slots_refund(struct engine *engine, const struct attempt *attempt);

/* The adaptive limit: additive increase, multiplicative decrease. */
uint32_t slots_limit(const struct engine *engine);
void slots_on_busy(struct engine *engine);
void slots_on_accepted(struct engine *engine);

/* What threadsinfo said about the plan; only `slots: "auto"` listens. */
void slots_on_plan(struct engine *engine, uint32_t threads);

#endif
