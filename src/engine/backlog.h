/* The backlog: records that are not durable yet, in number and in bytes. */
#ifndef SOLVEGATE_ENGINE_BACKLOG_H
#define SOLVEGATE_ENGINE_BACKLOG_H

#include "engine/state.h"

/* A record went to the gate, records became durable, and is the backlog too large? */
void journal_on_taken(struct engine *engine, journal_seq seq, const struct record *record);
void journal_on_durable(struct engine *engine, journal_seq seq);
bool journal_is_full(const struct engine *engine);
void journal_check(const struct engine *engine);

#endif
