/* The SQLite driver: "sqlite:DIRECTORY" names a database file in a directory that one gateway at a time may use. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_DRIVER_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_DRIVER_H

#include "store/store_driver.h"

extern const struct store_driver sqlite_driver;

#endif
