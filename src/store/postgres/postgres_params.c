#include "store/postgres/postgres_params.h"

#include "base/assert.h"

#include <libpq-fe.h>

void pg_params_add(struct pg_params *params, struct slice bytes)
{
    ASSERT(params->count < PG_PARAMS_MAX);
    params->values[params->count] = bytes.data;
    params->lengths[params->count] = (int)bytes.len;
    params->formats[params->count++] = 1;
}

void pg_params_add_integer(struct pg_params *params, uint64_t number)
{
    char *const bytes = params->integers[params->count];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)(number >> (56 - 8 * i));
    pg_params_add(params, (struct slice){.data = bytes, .len = 8});
}

bool pg_params_send(struct postgres_store *store, const char *name, const struct pg_params *params)
{
    return PQsendQueryPrepared(store->conn, name, params->count, params->values, params->lengths,
                               params->formats, 1) == 1;
}
