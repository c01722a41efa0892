/* /v1/flights/{key}: where a captcha is now. */
#ifndef SOLVEGATE_DOORS_DOOR_FLIGHT_H
#define SOLVEGATE_DOORS_DOOR_FLIGHT_H

#include "doors/door.h"

door_fn door_flight;

/* As show and shown of struct gate_doors. */
struct blob *door_flight_show(struct gate *gate, const struct fact *fact, enum shown *shown);
void door_flight_shown(struct gate *gate, const struct visit *visit,
                       const struct shown_answer *answer);

#endif
