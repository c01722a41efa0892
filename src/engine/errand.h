/* Errands: reports and withdrawals of requests that another node has. They are told to it through the shared store, so
 * that nothing is lost if it dies; whoever asked waits for its reply. */
#ifndef SOLVEGATE_ENGINE_ERRAND_H
#define SOLVEGATE_ENGINE_ERRAND_H

#include "engine/state.h"

/* Somebody wants this of a request that this node does not have: verb, client, id and caller are set. Without a shared
 * store nobody has it. */
void errand_send(struct engine *engine, const struct errand *errand);

/* Another node sends us one; or how ours ended. */
void errand_on_told(struct engine *engine, const struct errand *errand);
void errand_on_reply(struct engine *engine, const struct errand *reply);

/* The caller has waited for long enough: it may come again, the errand is under way. */
void errand_on_hold_timer(struct engine *engine, struct hold *hold);

#endif
