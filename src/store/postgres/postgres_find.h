/* Looks for requests in a schema that several gateways share, whichever of them has the rows. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_FIND_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_FIND_H

#include "store/postgres/postgres_private.h"

struct store_sought;

/* As in struct store_sharing. */
enum store_result pg_find(struct store_backend *reader, struct store_sought *sought,
                          uint32_t count);

#endif
