/* Orphan letters by key: a client that is configured again gets what it paid for out of its letters (docs/design.md
 * 5.9). */
#ifndef SOLVEGATE_ENGINE_ORPHAN_H
#define SOLVEGATE_ENGINE_ORPHAN_H

#include "engine/state.h"

/* A letter is complete, or its client or key is about to change, or it goes. */
void orphan_enter(struct engine *engine, struct letter *letter);
void orphan_leave(struct engine *engine, struct letter *letter);

/* The letter whose solution would serve this request, or NULL. */
struct letter *orphan_find(const struct engine *engine, const struct ask *ask);
/* The letter that holds this very solution, or NULL: a crash came between the two rows. */
struct letter *orphan_of(const struct engine *engine, const struct solution *solution);
uint64_t orphan_born_ms(const struct engine *engine, const struct letter *letter);

/* Turns the letter into a solution of its client, which costs nothing. False: it has none that is fresh. */
bool orphan_bank(struct engine *engine, struct letter *letter);
/* The same for this client, which has the name again that the letter's had. */
bool orphan_give_back(struct engine *engine, struct letter *letter, client_id client);

#endif
