/* Clients that are no longer configured but still own something of value in the journal or at the
 * vendor. */
#ifndef SOLVEGATE_GATE_GONE_H
#define SOLVEGATE_GATE_GONE_H

#include "gate/gate_state.h"

/* The number of such a client, made when its name is met first; false if there are too many. Only
 * while rows are restored. */
bool gone_meet(struct gate *gate, struct slice name, client_id *client);

/* Logs a warning for each such client that has tasks at the vendor, and for each pool that one of
 * them paid for; call it after rows were restored or a reload removed clients. */
void gone_warn(struct gate *gate);

#endif
