/* Idempotency records: what a caller's own key stands for, per client and for a while (docs/design.md 5.3). */
#ifndef SOLVEGATE_ENGINE_IDEMPOTENCY_H
#define SOLVEGATE_ENGINE_IDEMPOTENCY_H

#include "engine/state.h"

/* Never another client's, whatever else clients share. */
struct idempotency *idempotency_find(const struct engine *engine, const struct key *digest,
                                     client_id client);

/* Has it a solution that its retry gets? */
bool idempotency_serves(const struct engine *engine, const struct idempotency *record);

/* Is there a place for a new one of this client, perhaps after somebody's oldest gives way (share.h)? */
bool idempotency_has_room(const struct engine *engine, client_id client);

/* Makes the record of this ask (or takes the old one over) stand for a running flight. There must be
 * room: a new record needs a free place. */
void idempotency_bind_flight(struct engine *engine, const struct ask *ask, struct flight *flight);

/* The same for a solution at hand. Whoever is given it waits for the record that is returned: it says how long
 * a retry gets the same. */
journal_seq idempotency_bind_solution(struct engine *engine, const struct ask *ask,
                                      struct solution *solution);

/* The flight ended: its records stand for the solution now, or, when it failed, are gone, so that
 * the next retry may submit. */
void idempotency_settle(struct engine *engine, struct flight *flight, struct solution *solution);

/* Forgets those of its records whose clients are gone. */
void idempotency_drop_gone(struct engine *engine, struct flight *flight);

/* The record of a row, if it still stands for something. */
void idempotency_restore(struct engine *engine, const struct idempotency_row *row,
                         struct flight *flight, struct solution *solution, uint64_t left_ms);

void idempotency_on_expiry(struct engine *engine, struct idempotency *record);

#endif
