/* Binary parameters of a prepared statement. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_PARAMS_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_PARAMS_H

#include "store/postgres/postgres_private.h"

#define PG_PARAMS_MAX 16

struct pg_params {
    const char *values[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
    int formats[PG_PARAMS_MAX];
    int count;
    char integers[PG_PARAMS_MAX][8];
};

/* Adds bytes that stay until the statement is sent. */
void pg_params_add(struct pg_params *params, struct slice bytes);
/* Adds a bigint. */
void pg_params_add_integer(struct pg_params *params, uint64_t number);

/* Sends the statement in pipeline mode. False: the connection is lost. */
bool pg_params_send(struct postgres_store *store, const char *name, const struct pg_params *params);

#endif
