/* A driver of the store port together with what tests do to its database. To try a driver, add a kit. */
#ifndef SOLVEGATE_TESTS_STORE_KIT_H
#define SOLVEGATE_TESTS_STORE_KIT_H

#include "store/store_driver.h"

struct store_world;

struct store_kit {
    const struct store_driver *driver;
    const char *name;    /* NULL: the driver's */
    bool is_shared_only; /* only the cases of gateways that share it */
    /* What this machine lacks for it, or NULL; a NULL pointer: it lacks nothing. */
    const char *(*missing)(void);
    /* Starts and ends what the driver needs; the world's directory is there for it. */
    void (*begin)(struct store_world *world);
    void (*end)(struct store_world *world);
    void (*url)(const struct store_world *world, char *url, size_t room);
    /* How many rows of a kind the database holds, expired ones included, also while the store is open. */
    int64_t (*count_rows)(const struct store_world *world, enum record_kind kind);
    /* While it is on, writes find no room. */
    void (*set_full)(bool is_full);
    /* So many steps of writing succeed, then it is full: in the middle of a batch that needs more of them. */
    void (*fill_after)(int steps);
    /* Of a store that somebody else can empty while it is open, NULL otherwise: deletes everything; and makes it look
     * like a backup from before the latest batch. */
    void (*empty)(void);
    void (*set_back)(void);
    /* Of a store that can be shared: somebody takes over what the gateway of this name has. */
    void (*take_over)(const struct store_world *world, const char *node);
};

extern const struct store_kit *const store_kits[]; /* ends with NULL */

/* In this list if the build has the driver. */
extern const struct store_kit store_kit_postgres;
extern const struct store_kit store_kit_redis;
extern const struct store_kit store_kit_redis_cluster; /* a server that is a whole cluster */
extern const struct store_kit store_kit_valkey;

#endif
