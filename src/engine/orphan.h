/* Orphan letters by key: a client that is configured again gets the solutions it paid for back from
 * its letters (docs/design.md 5.9). */
#ifndef SOLVEGATE_ENGINE_ORPHAN_H
#define SOLVEGATE_ENGINE_ORPHAN_H

#include "engine/state.h"

/* Enter or leave the table of orphans: the letter is complete, or its client or key is about to
 * change, or it is freed. */
void orphan_enter(struct engine *engine, struct letter *letter);
void orphan_leave(struct engine *engine, struct letter *letter);

/* The letter whose solution serves this ask, or NULL. */
struct letter *orphan_find(const struct engine *engine, const struct ask *ask);
/* The letter that holds this very solution, or NULL. Both exist if a crash came between their two rows. */
struct letter *orphan_of(const struct engine *engine, const struct solution *solution);
uint64_t orphan_expires_ms(const struct engine *engine, const struct letter *letter);
uint64_t orphan_born_ms(const struct engine *engine, const struct letter *letter);

/* Turns the letter into a solution of this client at no cost; the caller owns the reference. NULL
 * if the letter has no fresh one. */
struct solution *orphan_take(struct engine *engine, struct letter *letter, client_id client);
/* Turns the letter into a solution of its own client and banks it for the next request. */
bool orphan_bank(struct engine *engine, struct letter *letter);

#endif
