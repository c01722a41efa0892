/* A door: a handler of requests. Each door_NAME.h declares its doors with this type. */
#ifndef SOLVEGATE_DOORS_DOOR_H
#define SOLVEGATE_DOORS_DOOR_H

#include "doors/visit.h"
#include "gate/gate_state.h"

/* number is the number in the path, if the route has one. */
typedef void door_fn(struct gate *gate, const struct http_request *request, struct visit *visit,
                     uint64_t number);

#endif
