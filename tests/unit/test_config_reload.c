/* A reload: what can change does, the rest stays and is named, clients keep their places. */
#include "config/config_clients.h"
#include "config/config_reload.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KEY_C "cccccccccccccccccccccccccccccccc"
#define CLIENT(name, key) "{\"name\": \"" name "\", \"key\": \"" key "\"}"
#define ROOM 4

/* A running program, and what its last reload said. */
struct reload {
    struct world running;
    struct buf kept;
};

static void start(struct reload *reload, const char *text)
{
    world_set_environment(NULL);
    world_load(&reload->running, text);
    assert_int_equal(reload->running.code, 0);
    buf_init(&reload->kept, 4096);
}

static const char *adopt(struct reload *reload, const char *text)
{
    struct world fresh;
    world_load(&fresh, text);
    assert_int_equal(fresh.code, 0);
    buf_reset(&reload->kept);
    config_adopt(&reload->running.config, &fresh.config, ROOM, &reload->kept);
    world_close(&fresh);
    buf_add_char(&reload->kept, '\0');
    return reload->kept.data;
}

static void stop(struct reload *reload)
{
    buf_close(&reload->kept);
    world_close(&reload->running);
}

static void the_same_file_changes_nothing_and_names_nothing(void **state)
{
    (void)state;
    static const char text[] = FILE_WITH(
        "\"listen\": [\"127.0.0.1:1\", \"unix:/x\"], \"trusted_proxies\": [\"10.0.0.0/8\"], "
        "\"errors\": {\"E\": \"busy\"}, \"clients\": [" CLIENT(
            "a",
            KEY_A) "], "
                   "\"pools\": [{\"name\": \"p\", \"method\": \"turnstile\", \"sitekey\": \"s\", "
                   "\"pageurl\": \"https://a.b/\"}]");
    struct reload reload;
    start(&reload, text);
    assert_string_equal(adopt(&reload, text), "");
    assert_string_equal(adopt(&reload, text), "");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->client_count, 1);
    assert_int_equal(config_find_client(config, slice_from(KEY_A)), 0);
    assert_int_equal(config->pool_count, 1);
    stop(&reload);
}

static void what_was_built_in_stays_and_is_named(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"listen\": [\"127.0.0.1:1\"], \"errors\": {\"E\": \"busy\"}"));
    assert_string_equal(
        adopt(&reload,
              "{\"upstream\": {\"key\": \"other\"}, \"listen\": [\"127.0.0.1:1\", \"unix:/x\"], "
              "\"limits\": {\"requests\": 5, \"finished\": 6, \"partial_bytes\": \"7MiB\", "
              "\"unsent_bytes\": \"9MiB\"}, "
              "\"data_dir\": \"/var\"}"),
        "listen, data_dir, upstream.key, errors, limits.requests, limits.finished, "
        "limits.partial_bytes, limits.unsent_bytes");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->listen_count, 1);
    assert_int_equal(config->upstream.vendor.override_count, 1);
    assert_string_equal(config->upstream.key, "vendor");
    assert_null(config->data_dir);
    assert_int_equal(config->engine.max_requests, 200000);
    assert_int_equal(config->engine.max_finished, 200000);
    assert_int_equal(config->http.partial_bytes, 64 << 20);
    assert_int_equal(config->http.unsent_bytes, 64 << 20);
    stop(&reload);
}

static void what_is_read_anew_changes_without_a_word(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"callbacks\": {\"allow\": [\"a.b\", \"c.d\"]}"));
    assert_string_equal(
        adopt(&reload,
              "{\"upstream\": {\"key\": \"vendor\", \"slots\": 7, \"price\": {\"image\": 0.5}}, "
              "\"solve_timeout\": \"99s\", \"retry\": {\"busy\": 1}, \"cache\": {\"ttl\": "
              "{\"image\": \"2h\"}}, \"callbacks\": {\"allow\": [\"x.y\"]}, "
              "\"log\": {\"level\": \"error\"}, \"drain_timeout\": \"9s\"}"),
        "");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->engine.slots, 7);
    assert_false(config->engine.slots_are_auto);
    assert_true(config->has_price);
    assert_int_equal(config->engine.solve_timeout_ms, 99000);
    assert_int_equal(config->engine.retry_busy, 1);
    assert_int_equal(config->engine.ttl_ms[TYPE_IMAGE], 7200000);
    assert_int_equal(config->notices.allow_count, 1);
    assert_string_equal(config->notices.allow[0].host, "x.y");
    assert_int_equal(config->log_level, LOG_LEVEL_ERROR);
    assert_int_equal(config->drain_timeout_ms, 9000);
    stop(&reload);
}

static void clients_keep_their_places_and_who_is_gone_has_no_key(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_A) ", " CLIENT("b", KEY_B) "]"));
    assert_string_equal(
        adopt(&reload, FILE_WITH("\"clients\": [" CLIENT("c", KEY_C) ", " CLIENT("b", KEY_A) "]")),
        "");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->client_count, 3);
    assert_string_equal(config->clients[0].name, "a");
    assert_int_equal(config->clients[0].scopes, 0);
    assert_int_equal(config_find_client(config, slice_from(KEY_A)), 1);
    assert_int_equal(config_find_client(config, slice_from(KEY_B)), -1);
    assert_int_equal(config_find_client(config, slice_from(KEY_C)), 2);
    /* Whoever comes back finds its place. */
    assert_string_equal(adopt(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_B) "]")), "");
    assert_int_equal(config->client_count, 3);
    assert_int_equal(config_find_client(config, slice_from(KEY_B)), 0);
    assert_int_equal(config_find_client(config, slice_from(KEY_A)), -1);
    stop(&reload);
}

static void clients_for_whom_there_is_no_room_take_a_restart(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_A) ", " CLIENT("b", KEY_B) "]"));
    /* Those that are gone count. */
    assert_string_equal(adopt(&reload, FILE_WITH("\"clients\": [" CLIENT("c", KEY_A) ", " CLIENT(
                                           "d", KEY_B) ", " CLIENT("e", KEY_C) "]")),
                        "clients");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->client_count, 2);
    assert_int_equal(config_find_client(config, slice_from(KEY_C)), -1);
    assert_string_equal(
        adopt(&reload, FILE_WITH("\"clients\": [" CLIENT("c", KEY_A) ", " CLIENT("d", KEY_B) "]")),
        "");
    assert_int_equal(config->client_count, ROOM);
    stop(&reload);
}

/* Whoever takes a key away does not want to wait for a restart. */
static void keys_are_taken_away_also_when_new_clients_have_no_room(void **state)
{
    (void)state;
    static const char too_many[] =
        FILE_WITH("\"clients\": [{\"name\": \"c\", \"key\": \"" KEY_A
                  "\", \"allow_hosts\": [\"a.b\"]}, " CLIENT("a", KEY_C) ", " CLIENT(
                      "d", KEY_B) ", " CLIENT("e", "dddddddddddddddddddddddddddddddd") "]");
    struct reload reload;
    start(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_A) ", " CLIENT("b", KEY_B) "]"));
    assert_string_equal(adopt(&reload, too_many), "clients");
    const struct config *config = &reload.running.config;
    assert_int_equal(config->client_count, 2);
    assert_int_equal(config_find_client(config, slice_from(KEY_C)), 0);
    assert_int_equal(config_find_client(config, slice_from(KEY_A)), -1);
    assert_int_equal(config_find_client(config, slice_from(KEY_B)), -1);
    assert_true(config->clients[1].options.is_gone);
    stop(&reload);
}

/* An open door does not close, nor a closed one open, by a reload: who listens where was checked with it. */
static void the_first_client_and_no_client_take_a_restart(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_A) "]"));
    assert_string_equal(adopt(&reload, FILE_WITH("\"log\": {}")), "clients");
    assert_int_equal(reload.running.config.client_count, 1);
    stop(&reload);
    start(&reload, FILE_WITH("\"log\": {}"));
    assert_string_equal(adopt(&reload, FILE_WITH("\"clients\": [" CLIENT("a", KEY_A) "]")),
                        "clients");
    assert_int_equal(reload.running.config.client_count, 0);
    stop(&reload);
}

#define POOL(size)                                                                   \
    "{\"name\": \"p\", \"method\": \"turnstile\", \"sitekey\": \"s\", \"pageurl\": " \
    "\"https://a.b/\", \"size\": " size "}"

static void pools_stay_whatever_is_new_about_them(void **state)
{
    (void)state;
    struct reload reload;
    start(&reload, FILE_WITH("\"pools\": [" POOL("2") "]"));
    assert_string_equal(adopt(&reload, FILE_WITH("\"pools\": [" POOL("3") "]")), "pools");
    assert_string_equal(adopt(&reload, FILE_WITH("\"log\": {}")), "pools");
    assert_int_equal(reload.running.config.pool_count, 1);
    assert_int_equal(reload.running.config.pools[0].options.size, 2);
    stop(&reload);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_file_changes_nothing_and_names_nothing),
        cmocka_unit_test(what_was_built_in_stays_and_is_named),
        cmocka_unit_test(what_is_read_anew_changes_without_a_word),
        cmocka_unit_test(clients_keep_their_places_and_who_is_gone_has_no_key),
        cmocka_unit_test(clients_for_whom_there_is_no_room_take_a_restart),
        cmocka_unit_test(keys_are_taken_away_also_when_new_clients_have_no_room),
        cmocka_unit_test(the_first_client_and_no_client_take_a_restart),
        cmocka_unit_test(pools_stay_whatever_is_new_about_them),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
