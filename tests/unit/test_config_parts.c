/* What gateways that share a store compare of their configurations. */
#include "config/config_parts.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define CLIENT(name, key, more) "{\"name\": \"" name "\", \"key\": \"" key "\"" more "}"
#define CLIENTS(items) FILE_WITH("\"clients\": [" items "]")
#define POOL(name, page)                                                                    \
    "{\"name\": \"" name "\", \"method\": \"turnstile\", \"sitekey\": \"s\", \"pageurl\": " \
    "\"https://" page "/\"}"

static void write(const char *file, char text[CONFIG_PARTS_TEXT_MAX])
{
    struct world world;
    world_set_environment(NULL);
    world_load(&world, file);
    assert_string_equal(world_mistakes(&world), "");
    config_parts_write(&world.config, text);
    world_close(&world);
}

static void list(unsigned parts, char text[128])
{
    struct buf out;
    buf_init(&out, 128);
    config_parts_list(parts, &out);
    (void)snprintf(text, 128, "%.*s", (int)out.len, out.len == 0 ? "" : out.data);
    buf_close(&out);
}

static void expect(const char *one, const char *other, const char *differs)
{
    char a[CONFIG_PARTS_TEXT_MAX], b[CONFIG_PARTS_TEXT_MAX], listed[128];
    write(one, a);
    write(other, b);
    list(config_parts_compare(a, b), listed);
    assert_string_equal(listed, differs);
    list(config_parts_compare(b, a), listed);
    assert_string_equal(listed, differs);
}

static void what_differs_is_named(void **state)
{
    (void)state;
    expect(FILE_WITH("\"cache\": {\"ttl\": {\"turnstile\": \"60s\"}}"),
           FILE_WITH("\"cache\": {\"ttl\": {\"turnstile\": \"61s\"}}"), "lifetimes");
    expect(FILE_WITH("\"dedup\": {\"include_proxy\": true}"), FILE_WITH("\"mode\": \"serve\""),
           "dedup");
    expect(FILE_WITH("\"reuse\": {\"image\": \"none\"}"), FILE_WITH("\"mode\": \"serve\""),
           "dedup");
    expect(FILE_WITH("\"retry\": {\"base\": \"3s\"}"), FILE_WITH("\"mode\": \"serve\""), "retries");
    expect(FILE_WITH("\"errors\": {\"E\": \"busy\"}"), FILE_WITH("\"errors\": {\"E\": \"proxy\"}"),
           "vendor");
    expect(CLIENTS(CLIENT("a", KEY_A, "")), CLIENTS(CLIENT("b", KEY_A, "")), "clients");
    expect(CLIENTS(CLIENT("a", KEY_A, "")), CLIENTS(CLIENT("a", KEY_A, ", \"weight\": 2")),
           "clients");
    expect(CLIENTS(CLIENT("a", KEY_A, ", \"allow_hosts\": [\"x.y\"]")),
           CLIENTS(CLIENT("a", KEY_A, ", \"allow_hosts\": [\"x.z\"]")), "clients");
    expect(FILE_WITH("\"pools\": [" POOL("p", "a.b") "]"),
           FILE_WITH("\"pools\": [" POOL("p", "a.c") "], \"idempotency\": {\"ttl\": \"1s\"}"),
           "lifetimes, pools");
}

static void what_each_has_for_itself_and_the_order_do_not_matter(void **state)
{
    (void)state;
    expect(FILE_WITH("\"listen\": [\"127.0.0.1:1\"], \"limits\": {\"connections\": 7}"),
           FILE_WITH("\"log\": {\"level\": \"warn\"}"), "");
    expect(CLIENTS(CLIENT("a", KEY_A,
                          ", \"allow_hosts\": [\"x.y\", \"z.y\"]") ", " CLIENT("b", KEY_B, "")),
           CLIENTS(CLIENT("b", KEY_B, "") ", " CLIENT("a", KEY_A,
                                                      ", \"allow_hosts\": [\"z.y\", \"x.y\"]")),
           "");
    expect(FILE_WITH("\"pools\": [" POOL("p", "a.b") ", " POOL("q", "a.c") "]"),
           FILE_WITH("\"pools\": [" POOL("q", "a.c") ", " POOL("p", "a.b") "]"), "");
}

/* Names changed places, weights did not: no two clients' settings may cancel each other out. */
static void settings_belong_to_their_client(void **state)
{
    (void)state;
    expect(CLIENTS(CLIENT("a", KEY_A, ", \"weight\": 2") ", " CLIENT("b", KEY_B, "")),
           CLIENTS(CLIENT("a", KEY_A, "") ", " CLIENT("b", KEY_B, ", \"weight\": 2")), "clients");
}

static void keys_are_in_no_part(void **state)
{
    (void)state;
    expect(CLIENTS(CLIENT("a", KEY_A, "")), CLIENTS(CLIENT("a", KEY_B, "")), "");
    expect("{\"upstream\": {\"key\": \"one\"}}", "{\"upstream\": {\"key\": \"two\"}}", "");
}

static void what_only_one_knows_does_not_differ(void **state)
{
    char a[CONFIG_PARTS_TEXT_MAX];
    (void)state;
    write(FILE_WITH("\"mode\": \"serve\""), a);
    assert_int_equal(config_parts_compare(a, ""), 0);
    assert_int_equal(config_parts_compare("", a), 0);
    assert_int_equal(config_parts_compare(a, "clients"), 0);
    assert_int_equal(config_parts_compare(a, "clients:short dedup: : :: later:0123456789abcdef"),
                     0);
    assert_int_equal(config_parts_compare(a, "later:0 dedup:0123456789abcdef"), 1u << PART_DEDUP);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(what_each_has_for_itself_and_the_order_do_not_matter),
        cmocka_unit_test(settings_belong_to_their_client),
        cmocka_unit_test(keys_are_in_no_part),
        cmocka_unit_test(what_only_one_knows_does_not_differ),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
