/* The lock that keeps a second gateway out of a schema: an advisory lock, which lives as long as its session. */
#ifndef SOLVEGATE_STORE_POSTGRES_POSTGRES_LOCK_H
#define SOLVEGATE_STORE_POSTGRES_POSTGRES_LOCK_H

#include "store/postgres/postgres_private.h"

/* Chooses the run's key; one that is given (see struct store_place) has the same in all its stores. */
void pg_lock_choose_run(struct postgres_store *store, const char *run);

/* Takes the lock in a new session. STORE_FAILED: another gateway has it. A session of our own that the server has not
 * yet given up is ended first. */
enum store_result pg_lock_take(struct postgres_store *store);

/* Of a gateway that shares the schema: has its lock for itself alone, which ends its share of it, and shares it again.
 * *is_alone is false if others have it. */
enum store_result pg_lock_try_alone(struct postgres_store *store, bool *is_alone);
enum store_result pg_lock_share_again(struct postgres_store *store);

/* Proves that the session still is the one that took the lock. */
enum store_result pg_lock_prove(struct postgres_store *store);

/* The key of the schema's lock; lock_of(schema) + 1 protects the creation of tables. */
int64_t pg_lock_key(const char *schema);

#endif
