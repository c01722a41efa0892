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

/* What one gateway took from another one. */
struct adoption_view {
    const char *name, *by;
    uint64_t number, rows;
    int64_t wall_ms; /* when it had all of them */
};

#define ADOPTION_VIEWS 16

/* The gateway that answers. */
struct cluster_view {
    bool is_on;     /* else all the rest is 0 */
    bool is_joined; /* the store has confirmed a beat */
    uint32_t lease_ms;
    uint32_t lease_left_ms; /* 0: it decides nothing */
    uint64_t leases_lost;
    uint32_t slots_plan;              /* that all share */
    uint64_t adoptions, times_fenced; /* of this gateway, as is the next */
    bool has_last;
    struct adoption_view last;
    size_t adopted_count;                         /* of all */
    struct adoption_view adopted[ADOPTION_VIEWS]; /* the newest first */
};

void api_write_nodes(struct buf *out, const struct cluster_view *cluster,
                     const struct node_view *views, size_t count);

#endif
