/* /v1/stats: written in pieces (render.h). */
#ifndef SOLVEGATE_DOORS_DOOR_STATS_H
#define SOLVEGATE_DOORS_DOOR_STATS_H

#include "doors/door.h"

door_fn door_stats;

/* Begin a text, and write its next piece; false if it was the last. */
void door_stats_begin(struct gate *gate, struct buf *out);
bool door_stats_go_on(struct gate *gate, struct buf *out);

#endif
