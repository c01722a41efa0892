/* What the operator sees of a cluster: /v1/nodes, and its part of /metrics. */
#ifndef SOLVEGATE_DOORS_DOOR_NODES_H
#define SOLVEGATE_DOORS_DOOR_NODES_H

#include "doors/door.h"

door_fn door_nodes;

void door_nodes_metrics(struct gate *gate, struct buf *out);

#endif
