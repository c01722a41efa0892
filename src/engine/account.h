/* Balance and threads of the vendor account: free probes, one of each kind at a time; every caller
 * who asks meanwhile shares the answer. */
#ifndef SOLVEGATE_ENGINE_ACCOUNT_H
#define SOLVEGATE_ENGINE_ACCOUNT_H

#include "engine/state.h"

void account_init(struct engine *engine);

/* With `slots: "auto"`, probes the plan's threads now and periodically from then on. */
void account_watch_plan(struct engine *engine);

/* Probes the vendor unless a probe of this kind is already on its way. */
void account_probe(struct engine *engine, enum probe probe);
bool account_is_asking(const struct engine *engine);

/* Answers the caller from a recent probe, or holds it until the next probe ends. */
void account_on_ask(struct engine *engine, const struct account *ask);
void account_on_probed(struct engine *engine, const struct probed *probed);
void account_on_gone(struct engine *engine, caller_id caller);

/* Probes the plan again for `slots: "auto"`. */
void account_on_plan_timer(struct engine *engine);

/* True with free threads or a balance above zero. */
bool account_has_means(const struct probed *probed);

#endif
