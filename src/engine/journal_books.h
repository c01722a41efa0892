/* Rows of the books: the day's page and the clients' tallies, journaled soon after they changed. */
#ifndef SOLVEGATE_ENGINE_JOURNAL_BOOKS_H
#define SOLVEGATE_ENGINE_JOURNAL_BOOKS_H

#include "engine/state.h"

void journal_init(struct engine *engine);
/* Arms the timer that journals the books soon after they changed. */
void journal_on_step(struct engine *engine);
/* Journals today's page and all clients' tallies. */
void journal_books(struct engine *engine);
/* Journals today's page and as many tallies as fit into a step; ticks write the rest. */
void journal_on_books_timer(struct engine *engine);
bool journal_has_work(const struct engine *engine);
void journal_work(struct engine *engine);

#endif
