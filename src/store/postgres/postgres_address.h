/* Reads the URL of a PostgreSQL server, and keeps its password out of every message. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ADDRESS_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ADDRESS_H

#include "store/postgres/postgres_private.h"

/* Fills in the address; location is the URL behind the colon of its scheme. False with a sentence in mistake; close the
 * address in both cases. */
bool pg_address_init(struct pg_address *address, const struct store_place *place,
                     const char *location, struct buf *mistake);
void pg_address_close(struct pg_address *address);

/* The schema of a place, or NULL with a sentence in mistake if its prefix is no good. */
const char *pg_address_schema(const struct store_place *place, struct buf *mistake);

/* Adds a message of libpq or the server as one line, with "***" instead of passwords. */
void pg_address_add_message(const struct pg_address *address, const char *message, struct buf *out);

#endif
