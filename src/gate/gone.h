/* Clients that are no longer configured and still have something of value in the journal or at the vendor. */
#ifndef SOLVEGATE_GATE_GONE_H
#define SOLVEGATE_GATE_GONE_H

#include "gate/gate_state.h"

/* The place of such a client, made when it is met first; false when there are too many of them. Only while rows
 * are restored. */
bool gone_meet(struct gate *gate, struct slice name, client_id *client);

/* After rows were restored, or a reload took clients away: a warning for each of them that has tasks at the vendor. */
void gone_warn(struct gate *gate);

#endif
