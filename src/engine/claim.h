/* Claims: with a shared store a flight asks for its key before it is queued, and releases it at its end. */
#ifndef SOLVEGATE_ENGINE_CLAIM_H
#define SOLVEGATE_ENGINE_CLAIM_H

#include "engine/state.h"

/* Must a flight for this ask be claimed? */
bool claim_is_due(const struct engine *engine, const struct ask *ask);

/* Must the other nodes be asked about the ask's idempotency key, even if memory could answer it? */
bool claim_comes_first(const struct engine *engine, const struct ask *ask);

/* Nothing may be paid for this ask: may its claim find what is paid for at another node? Whoever gets nothing is
 * refused then. So many that got nothing in a second are enough. */
#define CLAIMS_IN_VAIN_MOST 256
bool claim_may_help(const struct engine *engine, const struct ask *ask);

/* Sends the claim of a new flight. */
void claim_begin(struct engine *engine, struct flight *flight, const struct ask *ask);
/* Sends the claim again: nobody answered, the flight follows another, or the lease is back. */
void claim_send_again(struct engine *engine, struct flight *flight);

/* A request with these demands joins a flight that is being claimed. */
void claim_on_joined(struct flight *flight, const struct ask *ask);

void claim_on_claimed(struct engine *engine, const struct claimed *claimed);
/* The store did not answer in time. */
void claim_on_deadline(struct engine *engine, struct flight *flight);

/* Ends the claim of a flight that ends, if it has one. A stray of its key keeps the claim: nothing
 * else is submitted for the key while the stray may be solved. */
void claim_end(struct engine *engine, struct flight *flight, const struct solution *solution,
               enum error_class class, struct slice code);
/* Called when a stray that has a claim ends. */
void claim_leave_stray(struct engine *engine, struct attempt *attempt);

/* What a flight that has a claim has claimed. */
const struct key *claim_name_of(struct flight *flight);
/* Releases a claim whose flight is over. */
void claim_release_lost(struct engine *engine, const struct key *name, uint64_t claim);

/* After a restart: does this flight need a claim before its next submit? If so it is sent. */
bool claim_resume(struct engine *engine, struct flight *flight);

/* Lets a flight that nobody else has be submitted, unless the means for it have run out meanwhile. */
void claim_set_out(struct engine *engine, struct flight *flight);
/* Its idempotency key stands for something else. */
void claim_refuse_mismatch(struct engine *engine, struct flight *flight);
/* The store has no unit of its client's budget left. */
void claim_refuse_budget(struct engine *engine, struct flight *flight);

#endif
