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
uint64_t orphan_expires_ms(const struct engine *engine, const struct letter *letter);
uint64_t orphan_born_ms(const struct engine *engine, const struct letter *letter);

/* Turns the letter into a solution of this client, which costs nothing; the reference is the caller's. NULL: it has
 * none that is fresh. */
struct solution *orphan_take(struct engine *engine, struct letter *letter, client_id client);
/* The same for the letter's own client: whoever asks next gets it. */
bool orphan_bank(struct engine *engine, struct letter *letter);

#endif
