/* The dashboard: /. */
#ifndef SOLVEGATE_DOORS_DOOR_DASHBOARD_H
#define SOLVEGATE_DOORS_DOOR_DASHBOARD_H

#include "doors/door.h"

door_fn door_dashboard;

#endif
