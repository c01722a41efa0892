/* What can be said about a store without touching it. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_INSPECT_H
#define SOLVEGATE_STORE_REDIS_REDIS_INSPECT_H

#include "store/store_driver.h"

/* The rights of a user that may be ours, as a command of redis-cli. */
void redis_print_rights(const struct store_place *place, struct buf *out);
enum store_opening redis_inspect(const struct store_place *place, const char *address,
                                 struct buf *report, struct buf *mistake);

#endif
