/* A gateway that another one took for dead and adopted: it tells its facts, sends away whoever waits here, and
 * starts over as a new node, in the same process. */
#ifndef SOLVEGATE_GATE_REJOIN_H
#define SOLVEGATE_GATE_REJOIN_H

#include <stdbool.h>

struct gate;

/* The store says that this node was adopted. */
void rejoin_begin(struct gate *gate);

/* Does whatever comes next; once a turn of the loop. */
void rejoin_look(struct gate *gate);

/* From when the store of the run before is closed, or closing. */
bool rejoin_is_closing(const struct gate *gate);

/* For the end, as reload_abandon(). */
bool rejoin_abandon(struct gate *gate);

#endif
