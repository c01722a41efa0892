/* Looks for requests in a Redis that several gateways share, whichever of them has the rows. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_FIND_H
#define SOLVEGATE_STORE_REDIS_REDIS_FIND_H

#include "store/redis/redis_private.h"

struct store_sought;

/* What SCRIPT_FIND does. */
extern const char redis_find_source[];

/* As in struct store_sharing. */
enum store_result redis_find(struct store_backend *reader, struct store_sought *sought,
                             uint32_t count);

#endif
