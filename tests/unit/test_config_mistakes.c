#include "config/config_options.h"
#include "config_world.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Must never appear in any message. */
#define CANARY "canary7f3a"
#define EXPECTED_ADDRESS \
    "expected an address like \"127.0.0.1:8430\", \"[::1]:8430\" or \"unix:/path\", found "

/* What follows the place is yyjson's sentence, which may change with its version. */
static void expect_syntax_error(const char *text, const char *place)
{
    struct world world;
    world_load(&world, text);
    assert_memory_equal(world_mistakes(&world), place, strlen(place));
    assert_ptr_equal(strchr(world.mistakes.data, '\n'),
                     world.mistakes.data + world.mistakes.len - 1);
    world_close(&world);
}

static void a_syntax_error_is_told_with_line_and_column(void **state)
{
    (void)state;
    expect_syntax_error("{\n  \"listen\": [,]\n}", "gate.json: line 2, column 14: ");
    expect_syntax_error("{\"upstream\": {\"key\": \"" CANARY, "gate.json: line 1, column 33: ");
    expect_syntax_error("\xef\xbb\xbf{\n,}", "gate.json: line 2, column 1: ");
    expect_syntax_error("   ", "gate.json: line 1, column ");
    expect_syntax_error("{} {}", "gate.json: line 1, column 4: ");
    world_expect("[1]", "gate.json: expected an object, found a list\n"
                        "gate.json: upstream.key: expected the vendor's API key (or "
                        "CAPTCHAAI_API_KEY), found nothing\n");
}

static void an_unknown_key_gets_the_nearest_name(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"lisen\": []"),
                 "gate.json: lisen: unknown key, did you mean \"listen\"?\n");
    world_expect(FILE_WITH("\"retry\": {\"busi\": 1}"),
                 "gate.json: retry.busi: unknown key, did you mean \"busy\"?\n");
    world_expect(FILE_WITH("\"slots\": 5"),
                 "gate.json: slots: unknown key, did you mean \"upstream.slots\"?\n");
    world_expect(FILE_WITH("\"upstream.slots\": 5"), "gate.json: upstream.slots: unknown key\n");
    world_expect(FILE_WITH("\"xyzzy\": 5"), "gate.json: xyzzy: unknown key\n");
    world_expect(FILE_WITH("\"cleints\": []"),
                 "gate.json: cleints: unknown key, did you mean \"clients\"?\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A "\", \"wieght\": 2}]"),
        "gate.json: clients[0].wieght: unknown key, did you mean \"weight\"?\n");
    world_expect(
        FILE_WITH("\"cache\": {\"ttl\": {\"recaptcha_v4\": \"1m\"}}"),
        "gate.json: cache.ttl.recaptcha_v4: unknown type, did you mean \"recaptcha_v2\"?\n");
    world_expect(FILE_WITH("\"a\\nb\\u001b[31m\": 1"),
                 "gate.json: a\\x0ab\\x1b[31m: unknown key\n");
}

static void a_wrong_type_is_told_with_what_was_expected_and_found(void **state)
{
    (void)state;
    world_expect(
        FILE_WITH("\"poll\": {\"interval\": 5}"),
        "gate.json: poll.interval: expected a duration of 100ms to 10m, like \"5s\", found 5\n");
    world_expect(FILE_WITH("\"poll\": \"5s\""),
                 "gate.json: poll: expected an object, found \"5s\"\n");
    world_expect(FILE_WITH("\"listen\": \"127.0.0.1:1\""),
                 "gate.json: listen: expected a list, found \"127.0.0.1:1\"\n");
    world_expect(FILE_WITH("\"listen\": [true]"),
                 "gate.json: listen[0]: " EXPECTED_ADDRESS "true\n");
    world_expect(FILE_WITH("\"retry\": {\"busy\": \"5\"}"),
                 "gate.json: retry.busy: expected a whole number of 0 to 1000, found \"5\"\n");
    world_expect(FILE_WITH("\"retry\": {\"busy\": 1.5}"),
                 "gate.json: retry.busy: expected a whole number of 0 to 1000, found 1.5\n");
    world_expect(FILE_WITH("\"dedup\": {\"include_proxy\": 1}"),
                 "gate.json: dedup.include_proxy: expected true or false, found 1\n");
    world_expect(
        FILE_WITH("\"log\": {\"level\": null}"),
        "gate.json: log.level: expected \"debug\", \"info\", \"warn\" or \"error\", found null\n");
    world_expect(FILE_WITH("\"reuse\": \"single\""),
                 "gate.json: reuse: expected an object, found \"single\"\n");
    world_expect(FILE_WITH("\"errors\": []"),
                 "gate.json: errors: expected an object, found a list\n");
    world_expect(FILE_WITH("\"clients\": {}"),
                 "gate.json: clients: expected a list, found an object\n");
    world_expect(FILE_WITH("\"clients\": [7]"),
                 "gate.json: clients[0]: expected an object, found 7\n");
}

static void a_value_out_of_range_is_told_with_the_range(void **state)
{
    (void)state;
    world_expect(
        FILE_WITH("\"limits\": {\"connections\": 0}"),
        "gate.json: limits.connections: expected a whole number of 1 to 1000000, found 0\n");
    world_expect(
        FILE_WITH("\"limits\": {\"connections\": -1}"),
        "gate.json: limits.connections: expected a whole number of 1 to 1000000, found -1\n");
    world_expect(FILE_WITH("\"limits\": {\"connections\": 18446744073709551615}"),
                 "gate.json: limits.connections: expected a whole number of 1 to 1000000, "
                 "found 18446744073709551615\n");
    world_expect(
        FILE_WITH("\"limits\": {\"body\": \"1GiB\"}"),
        "gate.json: limits.body: expected a size of 1KiB to 256MiB, like \"2MiB\" or plain bytes, "
        "found \"1GiB\"\n");
    world_expect(
        FILE_WITH("\"solve_timeout\": \"2h\""),
        "gate.json: solve_timeout: expected a duration of 1s to 1h, like \"5s\", found \"2h\"\n");
    world_expect(FILE_WITH("\"retry\": {\"budget\": 1.5}"),
                 "gate.json: retry.budget: expected a number of 0 to 1, found 1.5\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A "\", \"weight\": 0}]"),
        "gate.json: clients[0].weight: expected a whole number of 1 to 1000, found 0\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A
                  "\", \"retry\": {\"busy\": 1001}}]"),
        "gate.json: clients[0].retry.busy: expected a whole number of 0 to 1000, found 1001\n");
    world_expect(FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A
                           "\", \"retry\": {\"base\": \"2m\"}}]"),
                 "gate.json: clients[0].retry: expected base to be at most cap (1m), found 2m\n");
    world_expect(
        FILE_WITH("\"letters\": {\"retry_classes\": [\"busy\", \"account\"]}"),
        "gate.json: letters.retry_classes[1]: expected \"transient\", \"busy\", \"timeout\", "
        "\"unsolvable\", \"ambiguous\" or \"unknown\", found \"account\"\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A "\", \"retry\": 5}]"),
        "gate.json: clients[0].retry: expected an object, found 5\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A "\", \"retry.busy\": 5}]"),
        "gate.json: clients[0].retry.busy: unknown key\n");
}

static void bad_values_are_told_in_their_own_words(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"listen\": [\"example.com:80\", \"1.2.3:4\", \"127.0.0.1\"]"),
                 "gate.json: listen[0]: " EXPECTED_ADDRESS "\"example.com:80\"\n"
                 "gate.json: listen[1]: " EXPECTED_ADDRESS "\"1.2.3:4\"\n"
                 "gate.json: listen[2]: " EXPECTED_ADDRESS "\"127.0.0.1\"\n");
    world_expect(
        FILE_WITH("\"trusted_proxies\": [\"10.0.0.0/33\"]"),
        "gate.json: trusted_proxies[0]: expected a network like \"10.0.0.0/8\" or an address, "
        "found \"10.0.0.0/33\"\n");
    world_expect(FILE_WITH("\"on_ambiguous\": \"maybe\""),
                 "gate.json: on_ambiguous: expected \"resend\" or \"never\", found \"maybe\"\n");
    world_expect(
        FILE_WITH("\"errors\": {\"ERROR_X\": \"timeout\"}"),
        "gate.json: errors.ERROR_X: expected \"pending\", \"busy\", \"unsolvable\", \"transient\", "
        "\"account\", \"caller\", \"proxy\" or \"unknown\", found \"timeout\"\n");
    world_expect("{\"upstream\": {\"key\": \"v\", \"slots\": \"many\", \"url\": \"ftp://x\"}}",
                 "gate.json: upstream.slots: expected a whole number of 1 to 100000 or \"auto\", "
                 "found \"many\"\n"
                 "gate.json: upstream.url: expected a URL like \"https://host\", without user, "
                 "query and fragment, "
                 "found \"ftp://x\"\n");
    world_expect(FILE_WITH("\"log\": {\"level\": \"loud\\u0007\"}"),
                 "gate.json: log.level: expected a text without control characters, found some\n");
    world_expect(FILE_WITH("\"listen\": []"),
                 "gate.json: listen: expected at least one item, found an empty list\n");
}

static void a_key_given_twice_is_a_mistake(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"log\": {}, \"log\": {}"), "gate.json: log: given twice\n");
    world_expect(FILE_WITH("\"log\": {\"level\": \"info\", \"level\": \"info\"}"),
                 "gate.json: log.level: given twice\n");
    world_expect(FILE_WITH("\"errors\": {\"E\": \"busy\", \"E\": \"busy\"}"),
                 "gate.json: errors.E: given twice\n");
    world_expect(FILE_WITH("\"reuse\": {\"image\": \"none\", \"image\": \"single\"}"),
                 "gate.json: reuse.image: given twice\n");
}

static void mistakes_in_pools_are_named(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"pools\": {}"),
                 "gate.json: pools: expected a list, found an object\n");
    world_expect(FILE_WITH("\"pools\": [1]"), "gate.json: pools[0]: expected an object, found 1\n");
    world_expect(FILE_WITH("\"pools\": [{\"size\": 0}]"),
                 "gate.json: pools[0].size: expected a whole number of 1 to 10000, found 0\n"
                 "gate.json: pools[0]: expected a method, found none\n");
    world_expect(FILE_WITH("\"pools\": [{\"method\": \"turnstile\", \"pingback\": \"x\"}]"),
                 "gate.json: pools[0].pingback: expected a parameter of the target, found one of a "
                 "call\n");
    world_expect(FILE_WITH("\"pools\": [{\"method\": \"turnstile\", \"client\": \"who\"}]"),
                 "gate.json: pools[0].client: expected the name of one of the clients, found "
                 "\"who\"\n");
}

#define POOL_OF_A(page)                                                                            \
    FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A                                  \
              "\", \"allow_hosts\": [\"*.good.example\"]}], \"pools\": [{\"method\": "             \
              "\"turnstile\", \"sitekey\": \"s\", \"client\": \"a\", \"pageurl\": \"https://" page \
              "/\"}]")

static void a_pool_for_a_host_that_its_client_may_not_ask_for_is_named(void **state)
{
    (void)state;
    world_expect(POOL_OF_A("www.good.example"), "");
    world_expect(POOL_OF_A("www.bad.example"),
                 "gate.json: pools[0].client: expected a client whose allow_hosts include the "
                 "target, found \"a\"\n");
}

#define EXPECTED_HOOK \
    "expected a host like \"example.com\", \"*.example.com\" or \"example.com:8443\", found "

static void a_host_for_callbacks_that_is_none_is_named(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"callbacks\": {\"allow\": [\"ok.example\", \"*\", \"a..b\", "
                           "\"https://x.y\", \"x.y/z\", 5]}"),
                 "gate.json: callbacks.allow[1]: " EXPECTED_HOOK "\"*\"\n"
                 "gate.json: callbacks.allow[2]: " EXPECTED_HOOK "\"a..b\"\n"
                 "gate.json: callbacks.allow[3]: " EXPECTED_HOOK "\"https://x.y\"\n"
                 "gate.json: callbacks.allow[4]: " EXPECTED_HOOK "\"x.y/z\"\n"
                 "gate.json: callbacks.allow[5]: " EXPECTED_HOOK "5\n");
    const char *const bad[] = {"x.y:",      "x.y:0",  "x.y:65536", "x.y:80:81", ":80",      "[::1",
                               "[::1]8443", "::1:80", "*.1.2.3",   "*:80",      "",         "]:80",
                               "x.y:08x",   "[]:80",  "u@x.y",     "x.y:-1",    "[1.2.3.4]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256], mistake[256];
        (void)snprintf(text, sizeof(text), FILE_WITH("\"callbacks\": {\"allow\": [\"%s\"]}"),
                       bad[i]);
        (void)snprintf(mistake, sizeof(mistake),
                       "gate.json: callbacks.allow[0]: " EXPECTED_HOOK "%s%s%s\n",
                       bad[i][0] == '\0' ? "" : "\"", bad[i][0] == '\0' ? "an empty text" : bad[i],
                       bad[i][0] == '\0' ? "" : "\"");
        world_expect(text, mistake);
    }
}

static void too_many_hosts_for_callbacks_are_refused(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_add(&text, SLICE_OF("{\"upstream\": {\"key\": \"vendor\"}, \"callbacks\": {\"allow\": ["));
    for (int i = 0; i <= CONFIG_HOOKS_MAX; i++)
        buf_addf(&text, "\"h%d.example\",", i);
    buf_add(&text, SLICE_OF("]}}"));
    buf_add_char(&text, '\0');
    world_expect(text.data,
                 "gate.json: callbacks.allow[64]: expected at most 64 hosts, found more\n");
    buf_close(&text);
}

static void mistakes_between_options_are_found(void **state)
{
    (void)state;
    world_expect(
        "", "upstream.key: expected the vendor's API key (or CAPTCHAAI_API_KEY), found nothing\n");
    world_expect(FILE_WITH("\"callbacks\": {\"retry_base\": \"2m\"}"),
                 "gate.json: callbacks.retry_base: expected at most callbacks.retry_cap (1m), "
                 "found 2m\n");
    world_expect(
        FILE_WITH("\"listen\": [\"127.0.0.1:1\", \"0.0.0.0:2\"]"),
        "gate.json: listen[1]: expected a loopback address or a unix socket, since without clients "
        "everybody who reaches it may spend, found \"0.0.0.0:2\"\n");
    world_expect(
        FILE_WITH("\"listen\": [\"127.0.0.1:0\", \"127.0.0.1:0\", \"[::1]:5\", \"[::1]:5\"]"),
        "gate.json: listen[3]: expected every address once, found \"[::1]:5\" again\n");
    world_expect("{\"upstream\": {\"key\": \"v\", \"url\": \"http://127.0.0.1.example.com\"}}",
                 "gate.json: upstream.url: expected https, since plain http shows the key to "
                 "everybody on the way "
                 "(upstream.allow_plain_http allows it), found \"http://127.0.0.1.example.com\"\n");
    world_expect("{\"upstream\": {\"key\": \"v\", \"url\": \"http://[::1]:80/\"}}", "");
    world_expect(
        "{\"upstream\": {\"key\": \"v\", \"url\": \"http://h\", \"allow_plain_http\": true}}", "");
    world_expect(
        FILE_WITH("\"solve_timeout\": \"45s\""),
        "gate.json: ambiguity_window: expected less than solve_timeout (45s), found 45s\n");
    world_expect(FILE_WITH("\"retry\": {\"base\": \"61s\"}"),
                 "gate.json: retry.base: expected at most retry.cap (1m), found 61s\n");
    world_expect(FILE_WITH("\"breaker\": {\"probe\": \"6m\"}"),
                 "gate.json: breaker.probe: expected at most breaker.probe_max (5m), found 6m\n");
    world_expect(FILE_WITH("\"cache\": {\"min_ttl\": \"60s\"}"),
                 "gate.json: cache.min_ttl: expected less than every cache.ttl (the shortest is "
                 "1m), found 1m\n");
}

static void half_sent_requests_get_room_for_the_largest_one(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"limits\": {\"partial_bytes\": \"2MiB\"}"),
                 "gate.json: limits.partial_bytes: expected at least what one request may take "
                 "(limits.body, limits.header and 512KiB: 2576KiB), found 2MiB\n");
    world_expect(FILE_WITH("\"limits\": {\"partial_bytes\": \"2576KiB\"}"), "");
    world_expect(FILE_WITH("\"limits\": {\"partial_bytes\": \"1MiB\", \"body\": \"64KiB\"}"), "");
    /* Whoever allows larger bodies is told that they do not fit the default. */
    world_expect(FILE_WITH("\"limits\": {\"body\": \"100MiB\"}"),
                 "gate.json: limits.partial_bytes: expected at least what one request may take "
                 "(limits.body, limits.header and 512KiB: 102928KiB), found 64MiB\n");
    /* What is wrong by itself is told once. */
    world_expect(FILE_WITH("\"limits\": {\"partial_bytes\": \"1KiB\"}"),
                 "gate.json: limits.partial_bytes: expected a size of 1MiB to 1024GiB, "
                 "like \"2MiB\" or plain bytes, found \"1KiB\"\n");
}

static void mistakes_of_clients_are_found(void **state)
{
    (void)state;
    world_expect(FILE_WITH("\"clients\": []"),
                 "gate.json: clients: expected 1 to 1024 clients, found 0\n");
    world_expect(FILE_WITH("\"clients\": [{}, {\"name\": \"a\", \"key\": \"" KEY_A
                           "\", \"key_hash\": \"00\"}]"),
                 "gate.json: clients[0]: expected a name, found none\n"
                 "gate.json: clients[0]: expected key or key_hash, found neither\n"
                 "gate.json: clients[1].key_hash: expected 64 hexadecimal digits, found 2\n"
                 "gate.json: clients[1]: expected key or key_hash, found both\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": \"" KEY_A
                  "\"}, {\"name\": \"b\", \"key\": \"" KEY_B
                  "\"}, {\"name\": \"a\", \"key\": \"" KEY_B "\"}]"),
        "gate.json: clients[2]: expected a name of its own, found \"a\" as in clients[0]\n"
        "gate.json: clients[2]: expected a key of its own, found the same in clients[1]\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"b c\", \"key\": \"" KEY_A
                  "\", \"scopes\": [\"root\"], "
                  "\"allow_hosts\": [\"*\", \"a..b\", \"http://x\"], \"reuse\": \"shraed\"}]"),
        "gate.json: clients[0].name: expected 1 to 63 letters, digits, \"_\", \"-\" or \".\", "
        "found \"b c\"\n"
        "gate.json: clients[0].scopes[0]: expected \"solve\" or \"admin\", found \"root\"\n"
        "gate.json: clients[0].allow_hosts[0]: expected a host like \"example.com\" or "
        "\"*.example.com\", "
        "found \"*\"\n"
        "gate.json: clients[0].allow_hosts[1]: expected a host like \"example.com\" or "
        "\"*.example.com\", "
        "found \"a..b\"\n"
        "gate.json: clients[0].allow_hosts[2]: expected a host like \"example.com\" or "
        "\"*.example.com\", "
        "found \"http://x\"\n"
        "gate.json: clients[0].reuse: expected \"shared\", \"single\" or \"none\", found "
        "\"shraed\"\n");
}

static void mistakes_of_the_environment_and_of_flags_name_their_place(void **state)
{
    (void)state;
    world_set_environment(
        (const char *const[]){"SOLVEGATE_LOG_LEVEL", "loud", "SOLVEGATE_UPSTREAM_SLOTS", "x",
                              "SOLVEGATE_SOLVE_TIMEOUT", "30s", "SOLVEGATE_AMBIGUITY_WINDOW", "31s",
                              "SOLVEGATE_LISTEN", "127.0.0.1:1,,0.0.0.0:3", NULL});
    const struct config_flag flags[] = {{"--log-format", "log.format", "xml"}};
    struct world world;
    world_load_flags(&world, "{\"upstream\": {\"key\": \"${NOT_THERE}\", \"ca_file\": \"${oops\"}}",
                     flags, 1);
    assert_string_equal(
        world_mistakes(&world),
        "gate.json: upstream.key: expected the environment variable NOT_THERE, found it not set\n"
        "gate.json: upstream.ca_file: expected ${NAME} with the name of an environment variable "
        "(\"$${\" for a plain \"${\"), found something else after \"${\"\n"
        "environment: SOLVEGATE_LISTEN: " EXPECTED_ADDRESS "an empty text\n"
        "environment: SOLVEGATE_UPSTREAM_SLOTS: expected a whole number of 1 to 100000 or "
        "\"auto\", found \"x\"\n"
        "environment: SOLVEGATE_LOG_LEVEL: expected \"debug\", \"info\", \"warn\" or \"error\", "
        "found \"loud\"\n"
        "command line: --log-format: expected \"auto\", \"text\", \"key_value\" or \"json\", found "
        "\"xml\"\n"
        "environment: SOLVEGATE_LISTEN[2]: expected a loopback address or a unix socket, since "
        "without clients "
        "everybody who reaches it may spend, found \"0.0.0.0:3\"\n"
        "environment: SOLVEGATE_AMBIGUITY_WINDOW: expected less than solve_timeout (30s), found "
        "31s\n");
    world_close(&world);
    world_set_environment(NULL);
}

/* Each of these puts a secret where something is wrong with it or near it. */
static const char *const leaky[] = {
    "{\"upstream\": {\"key\": \"" CANARY " with a space\"}}",
    "{\"upstream\": {\"key\": [\"" CANARY "\"]}}",
    "{\"upstream\": {\"key\": \"" CANARY "\", \"key\": \"" CANARY "\"}}",
    "{\"upstream\": {\"key\": \"v\", \"url\": \"https://user:" CANARY "@host\"}}",
    "{\"upstream\": {\"key\": \"v\", \"url\": \"https://" CANARY "@host:0\"}}",
    "{\"clients\": [{\"name\": \"a\", \"key\": \"" CANARY "\"}]}",
    "{\"clients\": [{\"name\": \"a\", \"key\": {\"x\": \"" CANARY "\"}}]}",
    "{\"clients\": [{\"name\": \"a\", \"key_hash\": \"" CANARY "\"}]}",
    "{\"clients\": [{\"name\": \"a\", \"key\": \"" CANARY "aaaaaaaaaaaaaaaaaaaaaa\"}, "
    "{\"name\": \"b\", \"key\": \"" CANARY "aaaaaaaaaaaaaaaaaaaaaa\"}]}",
    "{\"log\": {\"level\": \"${SECRET}\"}}",
    "{\"solve_timeout\": \"${SECRET}\", \"listen\": [\"${SECRET}\"]}",
    "{\"upstream\": {\"key\": \"" CANARY "\"} oops",
    ("{\"upstream\": {\"key\": \"" CANARY),
};

static void no_message_ever_shows_a_secret(void **state)
{
    (void)state;
    world_set_environment(
        (const char *const[]){"SECRET", CANARY, "SOLVEGATE_UPSTREAM_KEY", CANARY " x", NULL});
    for (size_t i = 0; i < sizeof(leaky) / sizeof(leaky[0]); i++) {
        struct world world;
        world_load(&world, leaky[i]);
        assert_int_equal(world.code, ERR_INVALID);
        if (strstr(world_mistakes(&world), CANARY) != NULL)
            fail_msg("%s", world_mistakes(&world));
        world_close(&world);
    }
    world_set_environment(NULL);
}

static void a_secret_that_is_a_number_is_not_shown_either(void **state)
{
    (void)state;
    world_expect(
        "{\"upstream\": {\"key\": 7319}}",
        "gate.json: upstream.key: expected a text of visible characters, found a number\n");
    world_expect(
        FILE_WITH("\"clients\": [{\"name\": \"a\", \"key\": 7319}, "
                  "{\"name\": \"b\", \"key_hash\": -7319.5}]"),
        "gate.json: clients[0].key: expected 32 or 36 visible characters, found a number\n"
        "gate.json: clients[1].key_hash: expected 64 hexadecimal digits, found a number\n");
}

static void too_many_mistakes_end_in_whole_lines(void **state)
{
    (void)state;
    struct buf text, mistakes;
    buf_init(&text, 1 << 20);
    buf_init(&mistakes, 1000);
    buf_add(&text, SLICE_OF("{"));
    for (int i = 0; i < 1000; i++)
        buf_addf(&text, "\"unknown%d\": 0,", i);
    buf_add(&text, SLICE_OF("}"));
    struct config config;
    assert_int_equal(config_load(&config, buf_slice(&text), "f", NULL, NULL, 0, &mistakes),
                     ERR_INVALID);
    assert_true(mistakes.is_full);
    assert_int_equal(mistakes.data[mistakes.len - 1], '\n');
    config_close(&config);
    buf_close(&mistakes);
    buf_close(&text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_syntax_error_is_told_with_line_and_column),
        cmocka_unit_test(an_unknown_key_gets_the_nearest_name),
        cmocka_unit_test(a_wrong_type_is_told_with_what_was_expected_and_found),
        cmocka_unit_test(a_value_out_of_range_is_told_with_the_range),
        cmocka_unit_test(bad_values_are_told_in_their_own_words),
        cmocka_unit_test(a_key_given_twice_is_a_mistake),
        cmocka_unit_test(mistakes_in_pools_are_named),
        cmocka_unit_test(a_pool_for_a_host_that_its_client_may_not_ask_for_is_named),
        cmocka_unit_test(a_host_for_callbacks_that_is_none_is_named),
        cmocka_unit_test(too_many_hosts_for_callbacks_are_refused),
        cmocka_unit_test(mistakes_between_options_are_found),
        cmocka_unit_test(half_sent_requests_get_room_for_the_largest_one),
        cmocka_unit_test(mistakes_of_clients_are_found),
        cmocka_unit_test(mistakes_of_the_environment_and_of_flags_name_their_place),
        cmocka_unit_test(no_message_ever_shows_a_secret),
        cmocka_unit_test(a_secret_that_is_a_number_is_not_shown_either),
        cmocka_unit_test(too_many_mistakes_end_in_whole_lines),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
