/* Pools as JSON, for /v1/pools. */
#ifndef SOLVEGATE_PROTO_API_POOLS_H
#define SOLVEGATE_PROTO_API_POOLS_H

#include "proto/api.h"

/* The facts about a pool that the engine does not know; borrowed. */
struct pool_label {
    const char *name, *method, *type;
};

void api_write_pools(struct buf *out, const struct pool_view *views,
                     const struct pool_label *labels, size_t count);

#endif
