/* Are the vendor's callbacks arriving? When under half do, we poll as if there were none (5.7). */
#ifndef SOLVEGATE_ENGINE_HEALTH_H
#define SOLVEGATE_ENGINE_HEALTH_H

#include "engine/state.h"

/* A solve whose callback came, or one that a poll had to find. */
void health_count_arrived(struct engine *engine);
void health_count_missed(struct engine *engine);

/* The callback came after all, only later than our poll. */
void health_correct(struct engine *engine);

bool health_is_good(const struct engine *engine);

/* A poll found out what no callback has said. */
void health_note_missed(struct engine *engine, struct attempt *attempt);
/* It came: at once, or after a poll had to find out. */
void health_note_arrival(struct engine *engine, struct attempt *attempt);

#endif
