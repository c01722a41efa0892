/* What other nodes know of a key: all that live are asked through their inboxes, and one that solves it is believed at
 * once. */
#ifndef SOLVEGATE_ENGINE_SHOW_ERRAND_H
#define SOLVEGATE_ENGINE_SHOW_ERRAND_H

#include "engine/state.h"

/* Ends in an ACTION_SHOWN. */
void show_errand_send(struct engine *engine, const struct show *show);

/* Another node asks; the gate has written what is known here. Or one of the others replies. */
void show_errand_take(struct engine *engine, const struct fact *fact);
void show_errand_on_reply(struct engine *engine, const struct fact *reply);

/* Not all have replied in time; false if the ticket is that of another kind of errand. */
bool show_errand_give_up(struct engine *engine, uint64_t ticket);

void show_errands_free(struct engine *engine);

#endif
