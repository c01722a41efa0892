/* The lease: with a shared store this gateway submits, claims and hands out single-use solutions only
 * while no other node can have taken it for dead. Whatever waits for the lease goes on when it is back. */
#ifndef SOLVEGATE_ENGINE_LEASE_H
#define SOLVEGATE_ENGINE_LEASE_H

#include "engine/state.h"

/* Is the lease valid by our own clock? Always without a shared store. */
static inline bool lease_is_valid(const struct engine *engine)
{
    return engine->options.lease_ms == 0 || engine->now_ms < engine->lease_until_ms;
}

/* A beat was confirmed: the lease is as long as it was when the beat was sent. */
void lease_on_beat(struct engine *engine, const struct beat *beat);

/* The flight's claim is sent as soon as the lease is valid. */
void lease_await_claim(struct engine *engine, struct flight *flight);
/* Nobody gets the solved flight's solution before the lease is valid. */
void lease_await_hand_out(struct engine *engine, struct flight *flight);

/* Sends claims that waited, at most a batch; ticks do the rest. */
void lease_work(struct engine *engine);
bool lease_has_work(const struct engine *engine);

#endif
