/* Strays: tasks without a flight that may still be solved. Who asks for the same thing rides on one of
 * them instead of paying again. */
#ifndef SOLVEGATE_ENGINE_STRAY_H
#define SOLVEGATE_ENGINE_STRAY_H

#include "engine/state.h"

/* Until when the vendor may still solve what it has accepted. */
uint64_t stray_life_ms(const struct engine *engine, const struct attempt *attempt);

/* Until when nothing else is submitted for its key; 0: it is no stray, or nothing can come of it. */
uint64_t stray_until_ms(const struct engine *engine, const struct attempt *attempt);

/* It can be found exactly while it may be ridden on: to be called after all that changes this. */
void stray_update(struct engine *engine, struct attempt *attempt);
/* It is freed, or has a flight again. */
void stray_leave(struct engine *engine, struct attempt *attempt);

/* One that this client may ride on, or NULL. */
struct attempt *stray_find(const struct engine *engine, const struct key *key, client_id client,
                           enum reuse reuse);

/* One of this flight's client and key whose window is over and that nobody has heard of since, or NULL: what is
 * submitted now is sent again, whoever asked for it. Each is the reason of one resend only. */
const struct attempt *stray_find_unheard(const struct engine *engine, const struct flight *flight);
/* Nobody knows whether it is paid for, and none was sent in its stead. */
bool stray_is_unheard(const struct attempt *attempt);

/* The flight waits for this task from now on as if it had submitted it. */
void stray_ride(struct engine *engine, struct flight *flight, struct attempt *attempt);

/* Does this flight wait for a task that another one paid for? */
bool flight_is_riding(const struct flight *flight);

#endif
