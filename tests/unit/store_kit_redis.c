#include "redis_store_world.h"
#include "store_kit.h"
#include "store_world.h"

#include "store/redis/redis_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

static void prepare(struct store_world *world, const char *program)
{
    server = (struct redis_server){.port = 0};
    assert_true(redis_find_program(program, server.program, sizeof(server.program)));
    (void)snprintf(server.directory, sizeof(server.directory), "%s", world->directory);
}

static void begin(struct store_world *world, const char *program)
{
    prepare(world, program);
    redis_start(&server);
}

static void cluster_begin(struct store_world *world)
{
    prepare(world, "redis-server");
    redis_start_cluster(&server, true);
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

/* As after a restart with an older file. */
static void redis_set_back(void)
{
    redis_do(&server, "DECR", "{solvegate_test}:progress", NULL);
    redis_do(&server, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", NULL);
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
    .end = redis_end,
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
