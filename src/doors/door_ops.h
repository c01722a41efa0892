/* Small doors for the operator: /v1/flights, /v1/pools, /livez, /readyz, /openapi.json. */
#ifndef SOLVEGATE_DOORS_DOOR_OPS_H
#define SOLVEGATE_DOORS_DOOR_OPS_H

#include "doors/door.h"

door_fn door_flights, door_pools, door_livez, door_readyz, door_openapi;

#endif
