/* Letters of kind `answer` by key: a paid answer that cannot be handed out is not bought again while
 * its letter is kept (docs/design.md 5.9). */
#ifndef SOLVEGATE_ENGINE_UNDELIVERABLE_H
#define SOLVEGATE_ENGINE_UNDELIVERABLE_H

#include "engine/state.h"

/* Enter or leave the table: the letter is complete, or its client or key is about to change, or it
 * is freed. */
void undeliverable_enter(struct engine *engine, struct letter *letter);
void undeliverable_leave(struct engine *engine, struct letter *letter);

/* The letter because of which nothing is paid for this client's key, or NULL. */
struct letter *undeliverable_find(const struct engine *engine, const struct key *key,
                                  client_id client);

#endif
