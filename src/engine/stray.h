/* Strays: attempts without a flight whose tasks may still be solved. A new request for the same key
 * rides on one instead of paying again. */
#ifndef SOLVEGATE_ENGINE_STRAY_H
#define SOLVEGATE_ENGINE_STRAY_H

#include "engine/state.h"

/* Until when the vendor may still solve an accepted task. */
uint64_t stray_life_ms(const struct engine *engine, const struct attempt *attempt);

/* Until when nothing else is submitted for the stray's key; 0 if the attempt is no stray or nothing
 * can come of it. */
uint64_t stray_until_ms(const struct engine *engine, const struct attempt *attempt);

/* Enters or removes the attempt as a stray; call it after every change that matters to stray_until_ms(). */
void stray_update(struct engine *engine, struct attempt *attempt);
/* Removes the attempt, which is freed or has a flight again. */
void stray_leave(struct engine *engine, struct attempt *attempt);

/* A stray that this client may ride on, or NULL. */
struct attempt *stray_find(const struct engine *engine, const struct key *key, client_id client,
                           enum reuse reuse);

/* An attempt of this flight's key and client that was never confirmed within its window, or NULL:
 * the next submit is a resend of it, whoever asked. Each is the reason of one resend only. */
const struct attempt *stray_find_unheard(const struct engine *engine, const struct flight *flight);
/* True if nobody knows whether the attempt is paid for, and no other was sent in its stead. */
bool stray_is_unheard(const struct attempt *attempt);

/* Makes the flight wait for this task as if it had submitted it. */
void stray_ride(struct engine *engine, struct flight *flight, struct attempt *attempt);

/* Does this flight wait for a task that another flight submitted? */
bool flight_is_riding(const struct flight *flight);

#endif
