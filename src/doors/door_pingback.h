/* Callbacks of the vendor: /pingback/{nonce}. */
#ifndef SOLVEGATE_DOORS_DOOR_PINGBACK_H
#define SOLVEGATE_DOORS_DOOR_PINGBACK_H

#include "doors/door.h"

door_fn door_pingback;

/* Answers a callback: it is durable, or the vendor must call again. */
void door_pingback_end(struct gate *gate, caller_id caller, bool is_kept);

#endif
