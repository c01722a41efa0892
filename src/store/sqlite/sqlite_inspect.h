/* Looks at a database file without locking or changing it. */
#ifndef SOLVEGATE_STORE_SQLITE_SQLITE_INSPECT_H
#define SOLVEGATE_STORE_SQLITE_SQLITE_INSPECT_H

#include "store/store_driver.h"

/* As the driver's inspect(). */
enum store_opening sqlite_inspect(const struct store_place *place, const char *address,
                                  struct buf *report, struct buf *mistake);

#endif
