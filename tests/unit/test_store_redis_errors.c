/* What a real Redis server says when it cannot do what it is asked: each error gets a sentence that says what to do,
 * and what could not be written is written afterwards. */
#include "redis_store_world.h"
#include "store/redis/redis_server.h"
#include "store_nodes.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct redis_server *server(void)
{
    return store_kit_redis_server();
}

static void set(const char *name, const char *value)
{
    redis_do(server(), "CONFIG", "SET", name, value, NULL);
}

static struct store_backend *open_database(const char *database)
{
    char url[512];
    (void)snprintf(url, sizeof(url), "redis+unix://%s?db=%s", server()->socket, database);
    return redis_case_open_url(url);
}

static void assert_why(const struct store_backend *backend, const char *words)
{
    if (strstr(backend->why, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, backend->why);
}

static bool has_row(const char *name)
{
    struct redis_reply *const row = redis_ask(server(), "GET", name, NULL);
    const bool is_there = row != NULL && row->type == REPLY_STRING;
    redis_reply_free(row);
    return is_there;
}

static void memory_that_is_used_up_is_waited_for(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_database("0");
    assert_non_null(backend);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    set("maxmemory", "1");
    assert_int_equal(redis_case_put(world, backend, 2), STORE_NO_ROOM);
    assert_why(backend, "raise its maxmemory");
    assert_false(has_row("{" CASE_PREFIX "}:request:2"));
    set("maxmemory", "0");
    assert_int_equal(redis_case_put(world, backend, 2), STORE_DONE);
    assert_true(has_row("{" CASE_PREFIX "}:request:2"));
    backend->driver->close(backend);
}

/* A snapshot that cannot be written is how Redis notices a full disk, and then it refuses to change anything. */
static void fail_to_save(bool is_failing)
{
    set("dbfilename", is_failing ? "appendonlydir" : "dump.rdb");
    set("save", is_failing ? "3600 1000000" : "");
    redis_do(server(), "BGSAVE", NULL);
    for (unsigned i = 0; i < 500; i++) {
        struct redis_reply *const info = redis_ask(server(), "INFO", "persistence", NULL);
        const bool is_over = strstr(info->bytes, "rdb_bgsave_in_progress:0") != NULL &&
                             strstr(info->bytes, is_failing ? "rdb_last_bgsave_status:err"
                                                            : "rdb_last_bgsave_status:ok") != NULL;
        redis_reply_free(info);
        if (is_over)
            return;
        uv_sleep(20);
    }
    fail_msg("the snapshot did not %s", is_failing ? "fail" : "succeed");
}

static void a_disk_that_is_full_is_waited_for(void **state)
{
    struct store_world *const world = *state;
    struct store_backend *const backend = open_database("0");
    assert_non_null(backend);
    assert_int_equal(redis_case_put(world, backend, 1), STORE_DONE);
    fail_to_save(true);
    assert_int_equal(redis_case_put(world, backend, 2), STORE_NO_ROOM);
    assert_why(backend, "make room on its disk");
    fail_to_save(false);
    assert_int_equal(redis_case_put(world, backend, 2), STORE_DONE);
    assert_true(has_row("{" CASE_PREFIX "}:request:2"));
    backend->driver->close(backend);
}

static void a_database_that_is_not_there_gets_a_sentence(void **state)
{
    (void)state;
    assert_null(open_database("4711"));
    assert_int_equal(redis_case_opening, STORE_UNUSABLE);
    assert_mistake("it has no database of this number");
}

/* As a restart or a failover does, too. */
static void scripts_that_the_server_forgot_are_sent_again(void **state)
{
    struct store_world *const world = *state;
    struct node node;
    node_open(&node, world, "a");
    struct record first = world_record(world, RECORD_FLIGHT, 1);
    node_put(&node, &first);
    node_send(&node);
    redis_do(server(), "SCRIPT", "FLUSH", NULL);
    struct record second = world_record(world, RECORD_FLIGHT, 2);
    node_put(&node, &second);
    enum store_result result = node_try(&node);
    if (result == STORE_RETRY) {
        assert_why(node.backend, "has forgotten our scripts; they are sent again");
        node.number--;
        result = node_try(&node);
    }
    assert_int_equal(result, STORE_DONE);
    assert_true(has_row("{" CASE_PREFIX "}:flight:1"));
    assert_true(has_row("{" CASE_PREFIX "}:flight:2"));
    node_close(&node);
}

static void a_server_that_is_too_old_is_refused(void **state)
{
    static struct redis_store store;
    struct redis_facts facts = {.is_master = true,
                                .version = "7.0.0",
                                .major = 7,
                                .eviction = "noeviction",
                                .appendonly = "yes",
                                .fsync = "always",
                                .no_fsync_then = "no"};
    struct buf mistake;
    (void)state;
    buf_init(&mistake, 1024);
    (void)snprintf(store.place, sizeof(store.place), "host:6379");
    assert_true(server_fits(&store, &facts, &mistake));
    assert_int_equal(mistake.len, 0);
    (void)snprintf(facts.version, sizeof(facts.version), "6.2.14");
    facts.major = 6;
    assert_false(server_fits(&store, &facts, &mistake));
    buf_add_char(&mistake, '\0');
    assert_string_equal(mistake.data,
                        "the Redis server at host:6379 has version 6.2.14; 7.0 or newer is needed");
    buf_close(&mistake);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        REDIS_CASE(memory_that_is_used_up_is_waited_for),
        REDIS_CASE(a_disk_that_is_full_is_waited_for),
        REDIS_CASE(a_database_that_is_not_there_gets_a_sentence),
        cmocka_unit_test(a_server_that_is_too_old_is_refused),
        REDIS_CASE(scripts_that_the_server_forgot_are_sent_again),
    };
    return redis_case_run(tests);
}
