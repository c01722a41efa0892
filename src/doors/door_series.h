/* /v1/series: lines over time. */
#ifndef SOLVEGATE_DOORS_DOOR_SERIES_H
#define SOLVEGATE_DOORS_DOOR_SERIES_H

#include "doors/door.h"

door_fn door_series;

#endif
