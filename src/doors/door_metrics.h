/* /metrics: written in pieces (render.h). */
#ifndef SOLVEGATE_DOORS_DOOR_METRICS_H
#define SOLVEGATE_DOORS_DOOR_METRICS_H

#include "doors/door.h"

door_fn door_metrics;

/* Begin a text, and write its next piece; false if it was the last. */
void door_metrics_begin(struct gate *gate, struct buf *out);
bool door_metrics_go_on(struct gate *gate, struct buf *out);

#endif
