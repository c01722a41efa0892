/* /v1/flights/{key}: where a captcha is now. */
#ifndef SOLVEGATE_DOORS_DOOR_FLIGHT_H
#define SOLVEGATE_DOORS_DOOR_FLIGHT_H

#include "doors/door.h"

door_fn door_flight;

#endif
