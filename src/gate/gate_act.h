/* Performs the engine's actions. */
#ifndef SOLVEGATE_GATE_GATE_ACT_H
#define SOLVEGATE_GATE_GATE_ACT_H

#include "gate/gate_state.h"

void gate_perform(struct gate *gate, const struct action *action);
/* The action no longer serves anybody: it was withdrawn while it waited for the disk. */
void gate_withdrawn(struct gate *gate, const struct action *action);

/* Reports the end of a notice to the engine. */
void gate_notified(struct gate *gate, request_id request, enum notify_end end, const char *why);

#endif
