/* The targets of pools: their identity, independent of clients, and the pool that a request
 * matches. */
#ifndef SOLVEGATE_GATE_TARGETS_H
#define SOLVEGATE_GATE_TARGETS_H

#include "base/buf.h"
#include "config/config.h"
#include "proto/key.h"

#include <solvegate/engine.h>

#define TARGET_NAME_MAX 128

struct target {
    struct key key;
    enum type type;
    bool wants_rest;
    bool is_for_one; /* only for this client */
    client_id client;
    char name[TARGET_NAME_MAX];
    char method[PARAM_NAME_MAX];
};

struct targets {
    struct target *items; /* owned */
    size_t count;
    struct identity_options options; /* as for requests, but without a scope */
};

/* False with a sentence in mistake if a pool's parameters are not a valid request. */
bool targets_make(struct targets *targets, const struct config *config,
                  const struct identity_options *options, struct buf *mistake);
void targets_close(struct targets *targets);

/* The pools for the engine; their parameters belong to the config, the array to the caller. */
struct pool_options *targets_pools(const struct targets *targets, const struct config *config);

/* The pool that matches these parameters, counted from 1, or 0. */
uint16_t targets_find(const struct targets *targets, const struct params *params, client_id client,
                      struct buf *scratch);

#endif
