/* GET /v1/stats?scope=cluster: the books of all gateways that share the store. */
#ifndef SOLVEGATE_DOORS_DOOR_CLUSTER_STATS_H
#define SOLVEGATE_DOORS_DOOR_CLUSTER_STATS_H

#include "doors/visit.h"
#include "gate/gate_state.h"

void door_cluster_stats(struct gate *gate, const struct http_request *request,
                        const struct visit *visit);

/* The store's answer; not given: it could not be read. */
void door_cluster_stats_end(struct gate *gate, struct slice text);

/* For render.h: the text that came, in one piece. */
void door_cluster_stats_begin(struct gate *gate, struct buf *out);
bool door_cluster_stats_go_on(struct gate *gate, struct buf *out);

#endif
