/* A connection that is ready for use: known to the server, with a server that fits, and with the lock. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_SESSION_H
#define SOLVEGATE_STORE_REDIS_REDIS_SESSION_H

#include "store/redis/redis_private.h"

/* Connects and says who we are; waits while the server reads its file. Anything but STORE_DONE leaves no connection
 * and a reason in why. */
enum store_result session_connect(struct redis_store *store, unsigned loading_wait_ms);

/* Checks that the prefix is ours and its version is known, or that nobody uses it. */
enum store_result session_judge(struct redis_store *store);
/* The same, and makes it ours. What an older version has written is brought up to date, by gateways that share it only
 * when they join. */
enum store_result session_claim(struct redis_store *store, bool *is_new);
/* What {prefix}:schema has. */
struct slice session_schema(void);
/* Reads how far stored times are from those of the wall clock. */
enum store_result session_read_moved(struct redis_store *store);

/* Leaves the number of this run in the store; see store_kept.h. */
enum store_result session_begin_progress(struct redis_store *store);

/* As in struct store_driver: the server's settings may have changed. */
enum store_result session_look(struct store_backend *backend);

/* Makes a lost connection again; STORE_DONE if there is one already. */
enum store_result session_ensure(struct redis_store *store);

#endif
