/* What gateways that share a Redis decide there: scripts, each of which happens as a whole or not at all. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_SCRIPT_H
#define SOLVEGATE_STORE_REDIS_REDIS_SCRIPT_H

#include "store/redis/redis_private.h"

/* Every script gets the beginning of all keys first, then the words. STORE_DONE: *reply is the caller's, and no error.
 * After it the lock is watched anew, since a script renews it. */
enum store_result script_run(struct redis_store *store, enum redis_script script,
                             const struct slice *words, size_t count, struct redis_reply **reply);

/* The same in parts, for several in one go, of scripts that leave the lock alone: once the script is ready, begin and
 * add calls, and take the replies in order. */
enum store_result script_ready(struct redis_store *store, enum redis_script script);
void script_add(struct redis_store *store, enum redis_script script, const struct slice *words,
                size_t count);
enum store_result script_take(struct redis_store *store, struct redis_reply **reply);

/* Whether the node was adopted, or its name has another run: then why says so. */
bool script_is_fenced(struct redis_store *store, const struct redis_reply *reply);

#endif
