/* Adoption in PostgreSQL: one transaction fences the dead node, moves its rows and reads them. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ADOPTION_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ADOPTION_H

#include "store/postgres/postgres_private.h"

/* Adds the migration to version 3. */
void pg_adoption_add_sql(struct buf *sql);

/* How a flight counts one more adoption: not in its body, which somebody may have damaged. */
#define PG_ADOPTIONS_COUNTED "adoptions = least(255, adoptions + 1)"

/* As in struct store_sharing. */
enum store_result pg_adoption_adopt(struct store_backend *backend, const struct store_member *dead,
                                    bool is_again, bool *is_ours, const struct store_adopted *to);

#endif
