/* Builds the gateway's parts from the configuration. */
#ifndef SOLVEGATE_GATE_GATE_MAKE_H
#define SOLVEGATE_GATE_GATE_MAKE_H

#include "gate/gate_state.h"

struct engine *gate_make_engine(struct gate *gate);
/* Gives the running engine the options that can change; there may be new clients. */
void gate_configure_engine(struct gate *gate);
/* False with a sentence in mistake. */
bool gate_make_targets(struct gate *gate, struct buf *mistake);
struct http_server *gate_make_server(struct gate *gate, const struct http_handlers *handlers);

/* NULL with a sentence in mistake. */
struct upstream *gate_make_upstream(struct gate *gate, const struct upstream_handlers *handlers,
                                    struct buf *mistake);
void gate_make_identity(struct gate *gate);

#endif
