/* The books of all gateways of a cluster as JSON; the pages are those of api_stats.h. */
#ifndef SOLVEGATE_PROTO_API_CLUSTER_STATS_H
#define SOLVEGATE_PROTO_API_CLUSTER_STATS_H

#include "proto/api_stats.h"

/* One gateway; everything is borrowed. */
struct cluster_stats_node {
    const char *name;
    bool is_adopted;
    const struct stats *stats; /* of the days that are kept */
};

/* In this order: open; the nodes; now; the pages and the budgets; close. */
void api_cluster_stats_open(struct buf *out);
void api_cluster_stats_node(struct buf *out, const struct cluster_stats_node *node);
void api_cluster_stats_now(struct buf *out, uint64_t waiting);
void api_cluster_stats_close(struct buf *out);

#endif
