/* Idempotency records: the flight or solution behind a caller's own key, per client and for a
 * limited time (docs/design.md 5.3). */
#ifndef SOLVEGATE_ENGINE_IDEMPOTENCY_H
#define SOLVEGATE_ENGINE_IDEMPOTENCY_H

#include "engine/state.h"

/* Never finds another client's record, whatever else clients share. */
struct idempotency *idempotency_find(const struct engine *engine, const struct key *digest,
                                     client_id client);

/* Does the record have a solution that a retry gets? */
bool idempotency_serves(const struct engine *engine, const struct idempotency *record);

/* Is there a place for a new record of this client, possibly after an old one is dropped (share.h)? */
bool idempotency_has_room(const struct engine *engine, client_id client);

/* Binds the record of this ask (a new or an existing one) to a running flight. There must be room
 * for a new record. */
void idempotency_bind_flight(struct engine *engine, const struct ask *ask, struct flight *flight);

/* Binds the record to a solution at hand. The answer must wait for the returned record, which says
 * how long a retry gets the same solution. */
journal_seq idempotency_bind_solution(struct engine *engine, const struct ask *ask,
                                      struct solution *solution);

/* Called when the flight ends: its records now stand for the solution, or are dropped if it failed,
 * so that the next retry may submit. */
void idempotency_settle(struct engine *engine, struct flight *flight, struct solution *solution);

/* The flight's claim was granted, or its keys are new at least: their rows are ours. */
void idempotency_confirm(struct engine *engine, struct flight *flight);

/* Is the meaning of the flight's key not known to be its own? Then the flight's row names the key. */
bool idempotency_is_awaited(struct flight *flight, struct key *digest);
/* Restores a record of such a key. */
void idempotency_await(struct engine *engine, const struct key *digest, struct flight *flight);

/* Lets the records of one flight wait for another. */
void idempotency_move(struct engine *engine, struct flight *from, struct flight *into);

/* Drops the flight's records whose clients are gone. */
void idempotency_drop_gone(struct engine *engine, struct flight *flight);

/* Restores a record from its row, if it still stands for something. */
void idempotency_restore(struct engine *engine, const struct idempotency_row *row,
                         struct flight *flight, struct solution *solution, uint64_t left_ms);

/* Drops a record that stands for a solution, to make room for others. */
void idempotency_forget(struct engine *engine, struct idempotency *record);

/* The flight of somebody here who used the key of a row that has become ours for something else, or NULL. */
struct flight *idempotency_misused(const struct engine *engine, const struct idempotency_row *row);
/* Somebody here may have repeated the key of a row that has become ours, and our record of it wait for another flight
 * of ours: binds it to the row's flight, and returns the flight that it waited for, or NULL. */
struct flight *idempotency_adopt(struct engine *engine, const struct idempotency_row *row,
                                 struct flight *flight);
/* The same for a row that stands for a solution. If somebody has a copy of it already, the row stands for that. */
struct flight *idempotency_adopt_solution(struct engine *engine, const struct idempotency_row *row,
                                          struct solution *solution, bool *is_copied);

/* Journals the record again, because it waits for another flight than its row says. */
void idempotency_rewrite(struct engine *engine, const struct key *digest, client_id client);

void idempotency_on_expiry(struct engine *engine, struct idempotency *record);

#endif
