/* The place of the journal in the configuration: one of two, without its password in any message. */
#include "config/config_store.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CANARY "canary7f3a"
#define EXPECTED_STORE                                                                             \
    "gate.json: store: expected a URL like \"postgresql://user@host/database\", \"redis://host\" " \
    "or \"sqlite:/path\", found "

static void expect_place(const char *text, const char *wanted)
{
    struct world world;
    struct buf url;
    struct store_place place;
    buf_init(&url, CONFIG_TEXT_MAX + 16);
    world_load(&world, text);
    assert_string_equal(world_mistakes(&world), "");
    assert_int_equal(config_place(&world.config, &url, &place), wanted != NULL);
    if (wanted != NULL)
        assert_string_equal(place.url, wanted);
    assert_string_equal(place.prefix, "solvegate");
    assert_null(place.ca_file);
    assert_false(place.allow_async);
    world_close(&world);
    buf_close(&url);
}

static void the_journal_is_in_the_store_or_in_data_dir_or_nowhere(void **state)
{
    (void)state;
    expect_place(FILE_WITH("\"store\": \"sqlite:/a\""), "sqlite:/a");
    expect_place(FILE_WITH("\"data_dir\": \"/b\""), "sqlite:/b");
    expect_place("{\"upstream\": {\"key\": \"vendor\"}}", NULL);
}

static void the_environment_names_a_store_and_keeps_its_password(void **state)
{
    (void)state;
    world_set_environment((const char *const[]){"SOLVEGATE_STORE", "sqlite:/c", NULL});
    expect_place("{\"upstream\": {\"key\": \"vendor\"}}", "sqlite:/c");
    world_set_environment((const char *const[]){"PASSWORD", "secret", NULL});
    expect_place(FILE_WITH("\"store\": \"sqlite:/d?${PASSWORD}\""), "sqlite:/d?secret");
    world_set_environment((const char *const[]){"SOLVEGATE_STORE", "sqlite:/c", NULL});
    world_expect(FILE_WITH("\"data_dir\": \"/b\""),
                 "environment: SOLVEGATE_STORE: expected either data_dir or store, since both name "
                 "the place of the journal, found both\n");
    world_set_environment(NULL);
}

static void two_places_are_a_mistake(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"data_dir\": \"/b\", \"store\": \"sqlite:/b\""),
                 "gate.json: store: expected either data_dir or store, since both name the place "
                 "of the journal, found both\n");
}

static void a_store_that_nobody_knows_is_named_by_its_scheme_alone(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"store\": \"mysql://root:" CANARY "@host/db\""),
                 "gate.json: store: no store is called \"mysql\"; its URL begins with postgresql:, "
                 "redis:, rediss:, valkey: or sqlite:\n");
    world_expect(FILE_WITH("\"store\": \"" CANARY "\""), EXPECTED_STORE "a text of 10 bytes\n");
    world_expect(FILE_WITH("\"store\": \"u@" CANARY ":x\""), EXPECTED_STORE "a text of 14 bytes\n");
    world_expect(FILE_WITH("\"store\": \"redis:" CANARY " x\""),
                 EXPECTED_STORE "a text of 18 bytes\n");
    world_expect(FILE_WITH("\"store\": \"redis:\""), EXPECTED_STORE "a text of 6 bytes\n");
    world_expect(FILE_WITH("\"store\": 7319"), EXPECTED_STORE "a number\n");
}

static void a_prefix_fits_into_a_schema_and_into_a_key(void **state)
{
    static const char *const bad[] = {"",       "a-b", "a.b",
                                      "a\\\"b", "{a}", "a2345678901234567890123456789012345678901"};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct world world;
        char text[256];
        (void)snprintf(text, sizeof(text), FILE_WITH("\"store_prefix\": \"%s\""), bad[i]);
        world_load(&world, text);
        const char *const start =
            "gate.json: store_prefix: expected 1 to 40 letters, digits or \"_\", found ";
        assert_memory_equal(world_mistakes(&world), start, strlen(start));
        world_close(&world);
    }
    world_expect(FILE_WITH("\"store_prefix\": \"a234567890_23456789012345678901234567890\""), "");
}

static bool is_built(const char *url)
{
    struct buf mistake;
    buf_init(&mistake, 512);
    const bool is = store_is_known(url, &mistake);
    buf_close(&mistake);
    return is;
}

static void what_the_driver_would_refuse_unasked_is_a_mistake(void **state)
{
    (void)state;
    if (is_built("redis:"))
        world_expect(FILE_WITH("\"store\": \"redis://me:" CANARY "@[::1\""),
                     "gate.json: store: the store's URL has a host in brackets whose second one is "
                     "missing; write it as redis://[::1]:6379/0\n");
    if (!is_built("postgresql:"))
        return;
    world_expect(
        FILE_WITH("\"store\": \"postgresql://h/d?sslmode=" CANARY "\""),
        "gate.json: store: the store's URL has an sslmode that is none of disable, allow, prefer, "
        "require, verify-ca and verify-full; the last one proves who the server is\n");
    static const char *const reserved[] = {"pg_x", "public", "information_schema"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
                       FILE_WITH("\"store\": \"postgresql://h/d\", \"store_prefix\": \"%s\""),
                       reserved[i]);
        world_expect(text, "gate.json: store: store_prefix names a PostgreSQL schema of "
                           "solvegate's own: at most 63 letters, digits and _, and neither "
                           "\"public\" nor \"information_schema\" nor one that begins with pg_\n");
    }
}

/* Clouds give out passwords that are signed tokens. */
static void a_url_of_some_kilobytes_is_read_and_a_longer_one_is_told_the_limit(void **state)
{
    (void)state;
    static char text[CONFIG_TEXT_MAX + 256];
    static char path[CONFIG_TEXT_MAX + 1];
    memset(path, 'x', sizeof(path) - 1);
    path[4096] = '\0';
    (void)snprintf(text, sizeof(text), FILE_WITH("\"store\": \"sqlite:/%s\""), path);
    world_expect(text, "");
    path[4096] = 'x';
    (void)snprintf(text, sizeof(text), FILE_WITH("\"store\": \"sqlite:/%s\""), path);
    world_expect(text, "gate.json: store: expected at most 8191 bytes, found more\n");
}

#define SHARED(more) \
    FILE_WITH("\"store\": \"postgresql://h/d\", \"cluster\": {\"enabled\": true" more "}")

static void gateways_share_a_server_and_nothing_else(void **state)
{
    (void)state;
    const char *const mistake = "gate.json: cluster.enabled: expected a store that gateways can "
                                "share (PostgreSQL, Redis), found none\n";
    world_expect(FILE_WITH("\"cluster\": {\"enabled\": true}"), mistake);
    world_expect(FILE_WITH("\"data_dir\": \"/b\", \"cluster\": {\"enabled\": true}"), mistake);
    world_expect(FILE_WITH("\"store\": \"sqlite:/b\", \"cluster\": {\"enabled\": true}"), mistake);
    world_expect(FILE_WITH("\"listen_shared\": true"),
                 "gate.json: listen_shared: expected a store beside it that gateways can share "
                 "(PostgreSQL, Redis; with cluster.enabled), since gateways at one port must share "
                 "what they paid for\n");
#ifdef SOLVEGATE_HAVE_POSTGRES
    world_expect(SHARED(""), "");
    world_expect(SHARED(", \"heartbeat\": \"4s\""),
                 "gate.json: cluster.heartbeat: expected at most a third of cluster.lease "
                 "(3333ms), found 4s\n");
    world_expect(FILE_WITH("\"listen_shared\": true, \"store\": \"postgresql://h/d\", "
                           "\"cluster\": {\"enabled\": true}"),
                 "gate.json: listen_shared: expected a cluster.node for each gateway beside it, "
                 "since their addresses do not tell them apart\n");
    world_expect(FILE_WITH("\"listen_shared\": true, \"store\": \"postgresql://h/d\", "
                           "\"listen\": [\"unix:/run/s\"], "
                           "\"cluster\": {\"enabled\": true, \"node\": \"a\"}"),
                 "gate.json: listen_shared: expected no socket of a path in listen beside it, "
                 "since only one gateway can have unix:/run/s\n");
    char text[512];
    (void)snprintf(text, sizeof(text), SHARED(", \"node\": \"%0121d\""), 7);
    world_expect(text, "gate.json: cluster.node: expected at most 120 characters, found 121\n");
#endif
}

static bool is_shared(const char *text)
{
    struct world world;
    world_load(&world, text);
    const bool is = world.config.cluster_enabled;
    world_close(&world);
    return is;
}

static void a_store_on_a_server_is_shared_unless_the_configuration_says_otherwise(void **state)
{
    (void)state;
    assert_false(is_shared(FILE_WITH("\"log\": {}")));
    assert_false(is_shared(FILE_WITH("\"data_dir\": \"/b\"")));
    assert_false(is_shared(FILE_WITH("\"store\": \"sqlite:/b\"")));
    if (is_built("redis:")) {
        assert_true(is_shared(FILE_WITH("\"store\": \"redis://h\"")));
        assert_false(
            is_shared(FILE_WITH("\"store\": \"redis://h\", \"cluster\": {\"enabled\": false}")));
    }
    if (is_built("postgresql:"))
        assert_true(is_shared(FILE_WITH("\"store\": \"postgresql://h/d\"")));
}

static void a_name_means_nothing_to_a_gateway_that_is_alone(void **state)
{
    (void)state;
    struct world world;
    struct store_place place;
    struct buf url;
    buf_init(&url, 256);
    world_load(&world, FILE_WITH("\"data_dir\": \"/b\", \"cluster\": {\"node\": \"a\"}"));
    assert_true(config_place(&world.config, &url, &place));
    assert_null(place.node);
    buf_close(&url);
    world_close(&world);
}

static bool warns(const char *url)
{
    const struct config config = {.store = {.url = url}};
    return config_store_warning(&config) != NULL;
}

static void a_readable_way_to_another_machine_is_worth_a_warning(void **state)
{
    static const char *const open[] = {
        "redis://10.0.0.1",
        "valkey://:secret@cache.example:6379/1",
        "REDIS://[2001:db8::1]:6379",
        "postgresql://u:p@db.example/d",
        "postgres://db.example",
        "postgresql://db.example/d?sslmode=require",
        "postgresql://db.example/d?sslmode=verify-full&sslmode=prefer",
        "postgresql://localhost,db.example/d",
        "postgresql:///d?host=db.example",
        "postgresql://u:p@localhost@db.example/d",
    };
    static const char *const safe[] = {
        "redis://localhost",
        "redis://:p@127.0.0.1:6379/2",
        "redis://[::1]:6379",
        "rediss://cache.example",
        "valkeys://cache.example",
        "postgresql:///d",
        "postgresql://u@localhost:5433/d",
        "postgresql://u@%2Frun%2Fpostgresql/d",
        "postgresql:///d?host=/run/postgresql",
        "postgresql://db.example/d?sslmode=verify-full",
        "postgresql://db.example?application_name=a&sslmode=verify-full",
        "postgresql://127.0.0.1,[::1]:5433/d",
        "sqlite:/var/lib/solvegate",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!warns(open[i]))
            fail_msg("no warning: %s", open[i]);
    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
        if (warns(safe[i]))
            fail_msg("a warning: %s", safe[i]);
    assert_false(warns(NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_journal_is_in_the_store_or_in_data_dir_or_nowhere),
        cmocka_unit_test(the_environment_names_a_store_and_keeps_its_password),
        cmocka_unit_test(two_places_are_a_mistake),
        cmocka_unit_test(a_store_that_nobody_knows_is_named_by_its_scheme_alone),
        cmocka_unit_test(gateways_share_a_server_and_nothing_else),
        cmocka_unit_test(a_store_on_a_server_is_shared_unless_the_configuration_says_otherwise),
        cmocka_unit_test(a_name_means_nothing_to_a_gateway_that_is_alone),
        cmocka_unit_test(a_prefix_fits_into_a_schema_and_into_a_key),
        cmocka_unit_test(what_the_driver_would_refuse_unasked_is_a_mistake),
        cmocka_unit_test(a_url_of_some_kilobytes_is_read_and_a_longer_one_is_told_the_limit),
        cmocka_unit_test(a_readable_way_to_another_machine_is_worth_a_warning),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
