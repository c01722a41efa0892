/* The lock against a second gateway: a key that expires, with the name of who has it. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LEASE_H
#define SOLVEGATE_STORE_REDIS_REDIS_LEASE_H

#include "store/redis/redis_private.h"

/* Chooses a name that no other gateway has; a run that is given (see struct store_place) has the same in all its
 * stores. */
void lease_choose_owner(struct redis_store *store, const char *run);
/* A new token for a new connection: what an older one still has on its way is refused from then on. */
void lease_choose_token(struct redis_store *store);

/* Adds a look at the lock that makes the server refuse the next transaction if the lock changes meanwhile. */
void lease_add_watch(struct redis_store *store);
/* Reads the replies to it; is_held then says whether the lock is ours. */
void lease_read_watch(struct redis_store *store);

/* Takes the lock if it is free, or was ours. STORE_FAILED: another gateway has it. */
enum store_result lease_take(struct redis_store *store);
/* The same, but takes the lock of a process of this machine that has died, and waits until the lease of any other
 * gateway that gives no sign of life has run out. */
enum store_opening lease_wait(struct redis_store *store, struct buf *mistake);
void lease_release(struct redis_store *store);

#endif
