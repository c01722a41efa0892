/* Adoption: finds dead members, takes their rows and goes on with them, a batch per step. */
#ifndef SOLVEGATE_ENGINE_ADOPT_H
#define SOLVEGATE_ENGINE_ADOPT_H

#include "engine/state.h"

/* Notes whose beats moved; call it before the members are taken over. */
void adopt_watch(struct engine *engine, const struct beat *beat);
/* Asks for the rows of a dead member, if there is one, and room for its rows. */
void adopt_one(struct engine *engine);

/* Does a member with this number live, and is it not this node? */
bool adopt_is_other_alive(const struct engine *engine, uint16_t node);

void adopt_on_adopted(struct engine *engine, const struct adopted *adopted);

/* Goes on with flights whose rows have all come; ticks do it. */
void adopt_work(struct engine *engine);
bool adopt_has_work(const struct engine *engine);

#endif
