/* The JSON API of solves: /v1/solves, /v1/explain. */
#ifndef SOLVEGATE_DOORS_DOOR_API_H
#define SOLVEGATE_DOORS_DOOR_API_H

#include "doors/door.h"

door_fn door_solve, door_state, door_detach, door_report, door_explain;

#endif
