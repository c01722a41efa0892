/* Adoption in PostgreSQL: one transaction fences the dead node, moves its rows and reads them. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_ADOPTION_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_ADOPTION_H

#include "store/postgres/postgres_private.h"

/* Adds the migration to version 3. */
void pg_adoption_add_sql(struct buf *sql);

/* How a flight's body counts one more adoption. One that somebody has damaged stays what it is: an error would keep all
 * of the node's rows from being adopted. */
#define PG_ADOPTIONS_COUNTED                                                   \
    "CASE WHEN json_typeof(body) <> 'object' OR"                               \
    " position('\\u0000' in body::text) > 0 THEN body"                         \
    " WHEN coalesce(body->>'adoptions', '0') !~ '^[0-9]{1,9}$' THEN body ELSE" \
    " (body::jsonb || jsonb_build_object('adoptions', least(255,"              \
    " coalesce((body->>'adoptions')::bigint, 0) + 1)))::json END"

/* As in struct store_sharing. */
enum store_result pg_adoption_adopt(struct store_backend *backend, const struct store_member *dead,
                                    bool is_again, bool *is_ours, const struct store_adopted *to);

#endif
