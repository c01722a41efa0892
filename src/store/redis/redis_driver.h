/* The journal in Redis or Valkey. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_DRIVER_H
#define SOLVEGATE_STORE_REDIS_REDIS_DRIVER_H

#include "store/store_driver.h"

extern const struct store_driver redis_driver;

#endif
