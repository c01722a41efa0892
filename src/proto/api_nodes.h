/* The gateways of a cluster as JSON, for /v1/nodes. */
#ifndef SOLVEGATE_PROTO_API_NODES_H
#define SOLVEGATE_PROTO_API_NODES_H

#include "base/buf.h"

#define NODE_VIEW_PARTS 8

/* One gateway; everything is borrowed. */
struct node_view {
    const char *name;
    const char *state;
    uint64_t number; /* of this run */
    bool is_self;
    uint32_t demand, share; /* in slots */
    uint64_t silent_ms;     /* since its beat was last seen to move */
    uint64_t lease_left_ms;
    const char *differs[NODE_VIEW_PARTS]; /* the parts of its configuration that are not as ours */
    size_t differ_count;
};

/* The gateway that answers. */
struct cluster_view {
    bool is_on;     /* else all the rest is 0 */
    bool is_joined; /* the store has confirmed a beat */
    uint32_t lease_ms;
    uint32_t lease_left_ms; /* 0: it decides nothing */
    uint64_t leases_lost;
    uint32_t slots_plan; /* that all share */
    uint64_t adoptions, times_fenced;
    const char *adopted_name; /* the latest that it adopted; NULL: none yet */
    uint64_t adopted_number, adopted_rows;
    int64_t adopted_wall_ms;
};

void api_write_nodes(struct buf *out, const struct cluster_view *cluster,
                     const struct node_view *views, size_t count);

#endif
