/* Names of clients, for people; the engine has only numbers. */
#ifndef SOLVEGATE_GATE_CLIENT_NAMES_H
#define SOLVEGATE_GATE_CLIENT_NAMES_H

#include "gate/gate_state.h"
#include "proto/api.h"

const char *client_name(const struct gate *gate, client_id client);
struct api_names client_names(const struct gate *gate);

/* All clients, for statistics. */
struct stats_scope client_scope(const struct gate *gate, const struct api_names *names);

/* False if no client has this name; clients that are no longer configured but still own paid work
 * are found, too. */
bool client_by_name(const struct gate *gate, struct slice name, client_id *client);

/* True if the client is configured now. One that is not may still have a name. */
bool client_is_live(const struct gate *gate, client_id client);

#endif
