/* Which hosts a client may ask for, of parameters that the engine keeps. */
#ifndef SOLVEGATE_GATE_HOSTS_H
#define SOLVEGATE_GATE_HOSTS_H

#include "gate/gate_state.h"

/* May the client ask for these parameters by its allow_hosts? The context is the gate. */
bool hosts_allow(const void *context, client_id client, const struct blob *packed);

#endif
