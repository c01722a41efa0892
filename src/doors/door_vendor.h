/* The vendor's dialect: /in.php, /solve.php, /res.php. */
#ifndef SOLVEGATE_DOORS_DOOR_VENDOR_H
#define SOLVEGATE_DOORS_DOOR_VENDOR_H

#include "doors/door.h"

door_fn door_in, door_recognise, door_res;

#endif
