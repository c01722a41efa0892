/* Errands: reports and withdrawals of requests, and orders about letters (letter_errands.h), that another node has.
 * They are told to it through the shared store, so that nothing is lost if it dies; whoever asked waits for the
 * reply. */
#ifndef SOLVEGATE_ENGINE_ERRAND_H
#define SOLVEGATE_ENGINE_ERRAND_H

#include "engine/state.h"

/* By then its node has answered, or it is dead and another one has to take its place first. */
#define ERRAND_PATIENCE_MS 5000

/* Somebody wants this of a request that this node does not have: verb, client, id and caller are set. Without a shared
 * store nobody has it. */
void errand_send(struct engine *engine, const struct errand *errand);

/* Another node sends us one; or how ours ended. */
void errand_on_told(struct engine *engine, const struct fact *fact);
/* Tells a fact of this kind; its errand is to be set. */
struct fact *errand_push(struct engine *engine, enum fact_kind kind);
/* Replies to whoever sent the errand. */
void errand_reply(struct engine *engine, const struct errand *errand, enum refusal refusal,
                  uint32_t count);
void errand_on_reply(struct engine *engine, const struct fact *reply);

/* The caller has waited for long enough: it may come again, the errand is under way. */
void errand_on_hold_timer(struct engine *engine, struct hold *hold);

#endif
