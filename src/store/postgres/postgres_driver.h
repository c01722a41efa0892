/* The PostgreSQL driver: "postgresql://…" names a database, the store's prefix a schema that one gateway at a time may
 * use. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_DRIVER_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_DRIVER_H

#include "store/store_driver.h"

extern const struct store_driver postgres_driver;

#endif
