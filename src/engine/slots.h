/* The plan's slots: a queue that is fair between clients, an adaptive limit, and each client's daily budget. */
#ifndef SOLVEGATE_ENGINE_SLOTS_H
#define SOLVEGATE_ENGINE_SLOTS_H

#include "engine/state.h"

/* `slots: "auto"` starts here until threadsinfo answers, and grows from here if it never does. */
#define SLOTS_AUTO_START 10
#define SLOTS_AUTO_MOST 10000

/* Takes over the clients and options of a reload; there may be new clients. */
void slots_configure(struct engine *engine, const struct client_options *clients, uint16_t count);
void slots_set_plan(struct engine *engine);

void slots_init(struct engine *engine, const struct client_options *clients);

/* Starts queued flights while slots are free and the breaker is closed. */
void slots_pump(struct engine *engine);

/* Queue and slots of a flight, for flight_enter(); flight_dismiss() also calls slots_dequeue(). */
void slots_enqueue(struct engine *engine, struct flight *flight);
void slots_dequeue(struct engine *engine, struct flight *flight);
void slots_take(struct engine *engine, struct flight *flight);
void slots_give_back(struct engine *engine, struct flight *flight);

/* Only for stray.c: a stray holds a slot while the vendor may work on it. */
void slots_take_for_stray(struct engine *engine, struct attempt *attempt);
void slots_give_back_of_stray(struct engine *engine, const struct attempt *attempt);

/* Only for budget.c: whether the client may start anything has changed. */
void slots_update_turn(struct engine *engine, struct client *client);

/* Budget: a unit is reserved when a flight is made, and spent when a submit may have been accepted. With a shared
 * store the flight may have to wait for the unit. */
void slots_reserve(struct engine *engine, struct flight *flight);
bool slots_can_reserve(const struct engine *engine, const struct flight *flight);
void slots_unreserve(struct engine *engine, struct flight *flight);
void slots_spend(struct engine *engine, struct flight *flight);
/* Gives back the unit of an attempt that was let go before its reply and is now proven void. */
void slots_refund(struct engine *engine, const struct attempt *attempt);

/* The adaptive limit: additive increase, multiplicative decrease. */
uint32_t slots_limit(const struct engine *engine);
void slots_on_busy(struct engine *engine);
void slots_on_accepted(struct engine *engine);

/* Takes over the number of threads that threadsinfo reported; only with `slots: "auto"`. */
void slots_on_plan(struct engine *engine, uint32_t threads);

#endif
