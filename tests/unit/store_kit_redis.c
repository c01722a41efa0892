#include "redis_store_world.h"
#include "store_kit.h"
#include "store_world.h"

#include "store/redis/redis_driver.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* More than a row and its command take while they wait for the end of their transaction. */
#define STEP_BYTES 2000

static struct redis_server server;

struct redis_server *store_kit_redis_server(void)
{
    return &server;
}

static const char *redis_missing(void)
{
    char path[512];
    return redis_find_program("redis-server", path, sizeof(path))
               ? NULL
               : "there is no redis-server; ./dev setup test installs it";
}

static const char *valkey_missing(void)
{
    char path[512];
    return redis_find_program("valkey-server", path, sizeof(path))
               ? NULL
               : "there is no valkey-server, which Debian has from 13 on";
}

static void begin(struct store_world *world, const char *program)
{
    server = (struct redis_server){.port = 0};
    assert_true(redis_find_program(program, server.program, sizeof(server.program)));
    (void)snprintf(server.directory, sizeof(server.directory), "%s", world->directory);
    redis_start(&server);
}

/* A cluster takes two seconds to begin: one is used for many cases. */
static struct redis_server cluster;

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

static void drop_cluster(void)
{
    if (cluster.process == 0)
        return;
    redis_stop(&cluster);
    (void)nftw(cluster.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_cluster(void)
{
    static bool is_registered;
    const char *const base = getenv("TMPDIR");
    cluster = (struct redis_server){.port = 0};
    assert_true(redis_find_program("redis-server", cluster.program, sizeof(cluster.program)));
    (void)snprintf(cluster.directory, sizeof(cluster.directory), "%s/solvegate-redis-XXXXXX",
                   base == NULL ? "/tmp" : base);
    assert_non_null(mkdtemp(cluster.directory));
    if (!is_registered)
        assert_int_equal(atexit(drop_cluster), 0);
    is_registered = true;
    redis_start_cluster(&cluster, true);
}

static void cluster_begin(struct store_world *world)
{
    (void)world;
    if (cluster.process == 0)
        make_cluster();
    redis_do(&cluster, "CONFIG", "SET", "maxmemory", "0", NULL);
    redis_do(&cluster, "FLUSHALL", NULL);
    redis_do(&cluster, "SCRIPT", "FLUSH", NULL);
    server = cluster;
}

/* One that a case has left with other slots or servers is of no use to the next. */
static void cluster_end(struct store_world *world)
{
    (void)world;
    struct redis_reply *const info = redis_ask(&cluster, "CLUSTER", "INFO", NULL);
    const bool is_whole = info != NULL && info->type == REPLY_STRING &&
                          strstr(info->bytes, "cluster_slots_ok:16384") != NULL &&
                          strstr(info->bytes, "cluster_known_nodes:1\r") != NULL;
    redis_reply_free(info);
    if (!is_whole)
        drop_cluster();
}

static void redis_begin(struct store_world *world)
{
    begin(world, "redis-server");
}

static void valkey_begin(struct store_world *world)
{
    begin(world, "valkey-server");
}

static void redis_end(struct store_world *world)
{
    (void)world;
    redis_stop(&server);
}

static void redis_url(const struct store_world *world, char *url, size_t room)
{
    (void)world;
    (void)snprintf(url, room, "redis+unix://%s?db=0", server.socket);
}

/* Every row has its place in the index, and nothing else does. */
static int64_t redis_count_rows(const struct store_world *world, enum record_kind kind)
{
    char rows[128];
    (void)world;
    (void)snprintf(rows, sizeof(rows), "{solvegate_test}:%s", row_tables[kind].name);
    struct redis_reply *const counts = redis_ask(
        &server, "EVAL",
        "local names, indexed = ARGV[1], redis.call('ZCARD', ARGV[1]) "
        "local rows = #redis.call('KEYS', names .. ':*') + #redis.call('KEYS', names .. '@*:*') "
        "for node = 1, 9 do indexed = indexed + redis.call('ZCARD', names .. '@' .. node) end "
        "return {rows, indexed}",
        "0", rows, NULL);
    assert_non_null(redis_reply_item(counts, 1));
    const int64_t count = redis_reply_item(counts, 0)->integer;
    assert_int_equal(redis_reply_item(counts, 1)->integer, count);
    redis_reply_free(counts);
    return count;
}

static void redis_set_full(bool is_full)
{
    redis_do(&server, "CONFIG", "SET", "maxmemory", is_full ? "1" : "0", NULL);
}

/* The commands of a transaction need memory before it is made: it ends in the middle of them. */
static void redis_fill_after(int steps)
{
    struct redis_reply *const info = redis_ask(&server, "INFO", "memory", NULL);
    const char *const used = strstr(info->bytes, "used_memory:");
    assert_non_null(used);
    char limit[32];
    (void)snprintf(limit, sizeof(limit), "%lld",
                   strtoll(used + strlen("used_memory:"), NULL, 10) +
                       (long long)steps * STEP_BYTES);
    redis_reply_free(info);
    redis_do(&server, "CONFIG", "SET", "maxmemory", limit, NULL);
}

static void redis_empty(void)
{
    redis_do(&server, "FLUSHALL", NULL);
}

/* As by an older file that is restored while all stay connected. */
static void redis_set_back(void)
{
    redis_do(&server, "EVAL",
             "local P = '{solvegate_test}:' "
             "for _, number in ipairs(redis.call('HVALS', P .. 'nodes')) do "
             "redis.call('DECR', P .. 'progress:' .. number) end "
             "if redis.call('EXISTS', P .. 'progress') == 1 then "
             "redis.call('DECR', P .. 'progress') end return 1",
             "0", NULL);
}

static void redis_take_over(const struct store_world *world, const char *node)
{
    (void)world;
    redis_do(&server, "EVAL",
             "local number = redis.call('HGET', '{solvegate_test}:nodes', ARGV[1]) "
             "return redis.call('HINCRBY', '{solvegate_test}:member:' .. number, 'incarnation', "
             "1000)",
             "0", node, NULL);
}

const struct store_kit store_kit_redis = {
    .driver = &redis_driver,
    .missing = redis_missing,
    .begin = redis_begin,
    .end = redis_end,
    .url = redis_url,
    .count_rows = redis_count_rows,
    .set_full = redis_set_full,
    .fill_after = redis_fill_after,
    .empty = redis_empty,
    .set_back = redis_set_back,
    .take_over = redis_take_over,
};

const struct store_kit store_kit_redis_cluster = {
    .driver = &redis_driver,
    .name = "Redis as a cluster",
    .is_shared_only = true,
    .missing = redis_missing,
    .begin = cluster_begin,
    .end = cluster_end,
    .url = redis_url,
    .count_rows = redis_count_rows,
    .set_full = redis_set_full,
    .fill_after = redis_fill_after,
    .empty = redis_empty,
    .set_back = redis_set_back,
    .take_over = redis_take_over,
};

const struct store_kit store_kit_valkey = {
    .driver = &redis_driver,
    .name = "Valkey",
    .missing = valkey_missing,
    .begin = valkey_begin,
    .end = redis_end,
    .url = redis_url,
    .count_rows = redis_count_rows,
    .set_full = redis_set_full,
    .fill_after = redis_fill_after,
    .empty = redis_empty,
    .set_back = redis_set_back,
    .take_over = redis_take_over,
};
