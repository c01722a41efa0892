#include "store/redis/redis_server.h"

#include "store/redis/redis_call.h"

#include <stdio.h>
#include <stdlib.h>

#define MAJOR_LEAST 7

/* ---- reading ----------------------------------------------------------------------------- */

/* A line "name:value" of INFO. */
static bool find_info(const char *info, const char *name, char *value, size_t room)
{
    const size_t len = strlen(name);
    for (const char *line = info; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) != 0 || line[len] != ':')
            continue;
        const char *const start = line + len + 1;
        const size_t count = strcspn(start, "\r\n");
        (void)snprintf(value, room, "%.*s", (int)count, start);
        return true;
    }
    value[0] = '\0';
    return false;
}

static void take_info(const char *info, struct redis_facts *facts)
{
    char value[REDIS_FACT_MAX];
    (void)find_info(info, "redis_version", facts->version, sizeof facts->version);
    facts->major = strtoul(facts->version, NULL, 10);
    /* Valkey tells the version of Redis that it is compatible with as well. */
    if (find_info(info, "valkey_version", value, sizeof value)) {
        facts->is_valkey = true;
        memcpy(facts->version, value, sizeof facts->version);
    }
    facts->is_master = find_info(info, "role", value, sizeof value) && strcmp(value, "master") == 0;
    facts->is_loading = find_info(info, "loading", value, sizeof value) && strcmp(value, "1") == 0;
    (void)find_info(info, "master_replid", facts->history, sizeof facts->history);
    facts->has_succeeded =
        find_info(info, "second_repl_offset", value, sizeof value) && strcmp(value, "-1") != 0;
    (void)find_info(info, "maxmemory_policy", facts->eviction, sizeof facts->eviction);
    if (find_info(info, "aof_enabled", value, sizeof value))
        (void)snprintf(facts->appendonly, sizeof facts->appendonly, "%s",
                       strcmp(value, "1") == 0 ? "yes" : "no");
}

/* Pairs of names and values. */
static void take_config(const struct redis_reply *reply, struct redis_facts *facts)
{
    const struct {
        const char *name;
        char *value;
    } wanted[] = {
        {"appendonly", facts->appendonly},
        {"appendfsync", facts->fsync},
        {"no-appendfsync-on-rewrite", facts->no_fsync_then},
        {"maxmemory-policy", facts->eviction},
    };
    for (size_t i = 0; redis_reply_item(reply, i + 1) != NULL; i += 2) {
        const struct slice value = redis_reply_slice(redis_reply_item(reply, i + 1));
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
            if (redis_reply_is(redis_reply_item(reply, i), wanted[k].name) && value.len > 0)
                (void)snprintf(wanted[k].value, REDIS_FACT_MAX, "%.*s", (int)value.len, value.data);
    }
}

enum store_result server_read(struct redis_store *store, struct redis_facts *facts)
{
    struct redis_reply *info = NULL;
    *facts = (struct redis_facts){.is_valkey = false};
    const enum store_result result = ASK(store, &info, WORD_OF("INFO"));
    if (result != STORE_DONE)
        return result;
    const bool is_text = info->type == REPLY_STRING;
    if (is_text)
        take_info(info->bytes, facts);
    redis_reply_free(info);
    if (!is_text)
        return call_nonsense(store);
    /* Hosted servers often forbid it, and then its answer is missing, not wrong. */
    call_begin(store);
    CALL(store, WORD_OF("CONFIG"), WORD_OF("GET"), WORD_OF("appendonly"), WORD_OF("appendfsync"),
         WORD_OF("no-appendfsync-on-rewrite"), WORD_OF("maxmemory-policy"));
    struct redis_reply *const config = call_next(store);
    if (config == NULL)
        return STORE_RETRY;
    take_config(config, facts);
    redis_reply_free(config);
    return STORE_DONE;
}

/* ---- judging ----------------------------------------------------------------------------- */

bool server_is_durable(const struct redis_facts *facts)
{
    return strcmp(facts->appendonly, "yes") == 0 && strcmp(facts->fsync, "always") == 0 &&
           strcmp(facts->no_fsync_then, "no") == 0;
}

/* What an acknowledged record is worth there. */
static const char *durability(const struct redis_facts *facts)
{
    if (server_is_durable(facts))
        return "a record is on the server's disk before it is acknowledged (appendfsync always)";
    if (strcmp(facts->appendonly, "yes") != 0)
        return "records are in the server's memory only (appendonly no): whatever came after its "
               "latest "
               "snapshot is lost when it ends";
    if (strcmp(facts->fsync, "always") == 0)
        return "records are not synced while the server rewrites its file "
               "(no-appendfsync-on-rewrite "
               "yes): those may be lost when it ends";
    if (facts->fsync[0] == '\0')
        return "the server does not say when it syncs its file: the latest records may be lost "
               "when it "
               "ends";
    return "the server syncs its file now and then (appendfsync is not always): the records of the "
           "latest seconds may be lost when it ends";
}

static const char *remedy(const struct redis_facts *facts)
{
    if (strcmp(facts->appendonly, "yes") != 0)
        return "set appendonly yes and appendfsync always";
    if (facts->fsync[0] == '\0')
        return "let our user run CONFIG GET";
    return strcmp(facts->fsync, "always") != 0 ? "set appendfsync always"
                                               : "set no-appendfsync-on-rewrite no";
}

static bool refuse(const struct redis_store *store, struct buf *mistake, const char *what)
{
    buf_addf(mistake, "the Redis server at %s %s", store->place, what);
    return false;
}

bool server_fits(const struct redis_store *store, const struct redis_facts *facts,
                 struct buf *mistake)
{
    if (facts->major < MAJOR_LEAST) {
        buf_addf(mistake, "the Redis server at %s has version %s; 7.0 or newer is needed",
                 store->place, facts->version[0] == '\0' ? "0" : facts->version);
        return false;
    }
    if (facts->is_loading)
        return refuse(store, mistake, "is still reading its file; try again soon");
    if (!facts->is_master)
        return refuse(store, mistake, "is a replica; name the master in store");
    if (strcmp(facts->eviction, "noeviction") != 0) {
        buf_addf(mistake,
                 "the Redis server at %s deletes rows when its memory is full (maxmemory-policy "
                 "%s); set "
                 "maxmemory-policy noeviction",
                 store->place, facts->eviction[0] == '\0' ? "unknown" : facts->eviction);
        return false;
    }
    if (server_is_durable(facts) || store->allow_async)
        return true;
    buf_addf(mistake,
             "the Redis server at %s may lose what it acknowledged: %s; %s, or accept it with "
             "cluster.allow_async",
             store->place, durability(facts), remedy(facts));
    return false;
}

void server_describe(struct redis_store *store, const struct redis_facts *facts)
{
    (void)snprintf(store->base.server, sizeof store->base.server, "%s %s at %.200s",
                   facts->is_valkey ? "Valkey" : "Redis", facts->version, store->place);
    (void)snprintf(store->base.durability, sizeof store->base.durability, "%s", durability(facts));
    store->base.is_async = !server_is_durable(facts);
}
