/* What kind of server it is, and whether what it acknowledges is worth anything. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_SERVER_H
#define SOLVEGATE_STORE_REDIS_REDIS_SERVER_H

#include "store/redis/redis_private.h"

#define REDIS_FACT_MAX 32

struct redis_facts {
    bool is_valkey;
    char version[REDIS_FACT_MAX];
    unsigned long major; /* of the version of Redis that it is compatible with */
    bool is_master;
    bool is_loading;
    char history[REDIS_HISTORY_MAX];    /* master_replid */
    bool has_succeeded;                 /* it was another one's replica since it was started */
    char eviction[REDIS_FACT_MAX];      /* maxmemory-policy */
    char appendonly[REDIS_FACT_MAX];    /* "yes" or "no" */
    char fsync[REDIS_FACT_MAX];         /* appendfsync; "" if it may not be asked */
    char no_fsync_then[REDIS_FACT_MAX]; /* no-appendfsync-on-rewrite */
};

enum store_result server_read(struct redis_store *store, struct redis_facts *facts);

/* True if an acknowledged write is on the server's disk. */
bool server_is_durable(const struct redis_facts *facts);
/* False with a sentence on what to do in mistake. */
bool server_fits(const struct redis_store *store, const struct redis_facts *facts,
                 struct buf *mistake);
/* Fills in what people are told about the store. */
void server_describe(struct redis_store *store, const struct redis_facts *facts);

#endif
