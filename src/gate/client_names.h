/* Clients by name: what people read where the engine has numbers. */
#ifndef SOLVEGATE_GATE_CLIENT_NAMES_H
#define SOLVEGATE_GATE_CLIENT_NAMES_H

#include "gate/gate_state.h"
#include "proto/api.h"

const char *client_name(const struct gate *gate, client_id client);
struct api_names client_names(const struct gate *gate);

/* All of them, for statistics. */
struct stats_scope client_scope(const struct gate *gate, const struct api_names *names);

/* False when no client has this name, nor had it when something was paid for that is still there. */
bool client_by_name(const struct gate *gate, struct slice name, client_id *client);

/* Is it configured now? One that is not may be known by name all the same. */
bool client_is_live(const struct gate *gate, client_id client);

#endif
