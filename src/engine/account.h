/* Balance and threads: each a free question to the vendor, one at a time, its answer shared by all who ask. */
#ifndef SOLVEGATE_ENGINE_ACCOUNT_H
#define SOLVEGATE_ENGINE_ACCOUNT_H

#include "engine/state.h"

void account_init(struct engine *engine);

/* Asks for the plan's threads, now and from time to time, if they are not given as a number. */
void account_watch_plan(struct engine *engine);

/* Asks the vendor unless the same question is already on its way. */
void account_probe(struct engine *engine, enum probe probe);
bool account_is_asking(const struct engine *engine);

/* A caller asks: answered from a recent probe, else held until the next one ends. */
void account_on_ask(struct engine *engine, const struct account *ask);
void account_on_probed(struct engine *engine, const struct probed *probed);
void account_on_gone(struct engine *engine, caller_id caller);

/* `slots: "auto"` asks about the plan now and then. */
void account_on_plan_timer(struct engine *engine);

/* Free threads, or a balance that is not zero. */
bool account_has_means(const struct probed *probed);

#endif
