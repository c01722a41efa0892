#include "config/config.h"
#include "seed.h"
#include "upstream/notices.h"
#include "upstream/notices_allow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define FORM "it must begin with http:// or https:// and a host"
#define BYTES "it holds a blank, a backslash, a control character or a byte that is not ASCII"
#define USER "it must not hold a user name or password"
#define FRAGMENT "it must end before any #"
#define NO_URL "it is no URL"
#define ELSEWHERE "its host and port are not in callbacks.allow"

static const struct notice_host allow[] = {
    {"hooks.example.com", 0}, {"*.example.org", 0}, {"hooks.example.com", 8443},
    {"*.example.net", 81},    {"192.0.2.7", 0},     {"[2001:db8::1]", 8080},
};

static const struct notices_options options = {
    .allow = allow, .allow_count = sizeof(allow) / sizeof(allow[0]), .connections = 1};

/* URL and what is wrong with it; NULL when nothing is. */
static const char *const urls[][2] = {
    {"http://hooks.example.com", NULL},
    {"https://hooks.example.com/path?query=1&x=%20", NULL},
    {"HTTPS://Hooks.Example.COM/", NULL},
    {"http://hooks.example.com:80/", NULL},
    {"http://hooks.example.com:443/", NULL},
    {"https://hooks.example.com:80/", NULL},
    {"https://hooks.example.com:8443/", NULL},
    {"https://hooks.example.com:08443/", NULL},
    {"https://hooks.example.com:/", NULL},
    {"https://hooks.example.com./", NULL},
    {"https://hooks.example.com?a=b@c", NULL},
    {"https://hooks.example.com/a@b", NULL},
    {"http://a.example.org/", NULL},
    {"http://a.b.example.org/", NULL},
    {"http://x.example.net:81/", NULL},
    {"http://192.0.2.7/", NULL},
    {"http://0xc0000207/", NULL}, /* the same to everybody who dials */
    {"http://[2001:db8::1]:8080/", NULL},
    {"http://h%6foks.example.com/", NULL},

    {"https://hooks.example.com:8444/", ELSEWHERE},
    {"https://hooks.example.com:0/", NO_URL},
    {"https://hooks.example.com:22/", ELSEWHERE},
    {"https://hooks.example.com:65979/", NO_URL}, /* 443 and once around */
    {"https://hooks.example.com:x/", NO_URL},
    {"http://example.org/", ELSEWHERE},
    {"http://aexample.org/", ELSEWHERE},
    {"http://a.example.org.evil.net/", ELSEWHERE},
    {"http://x.example.net/", ELSEWHERE},
    {"http://a.hooks.example.com/", ELSEWHERE},
    {"http://evil.net/hooks.example.com", ELSEWHERE},
    {"http://evil.net/?http://hooks.example.com/", ELSEWHERE},
    {"http://evil.net?@hooks.example.com/", ELSEWHERE},
    {"http://localhost/", ELSEWHERE},
    {"http://127.0.0.1/", ELSEWHERE},
    {"http://[::1]/", ELSEWHERE},
    {"http://[2001:db8::1]/", ELSEWHERE},
    {"https://hooks.example.com../", NO_URL},
    {"http://[hooks.example.com]/", NO_URL},

    {"https://user@hooks.example.com/", USER},
    {"https://user:password@hooks.example.com/", USER},
    {"https://@hooks.example.com/", USER},
    {"https://hooks.example.com@evil.net/", USER},
    {"https://hooks.example.com:443@evil.net/", USER},
    {"https://evil.net#@hooks.example.com/", FRAGMENT},
    {"https://hooks.example.com/#", FRAGMENT},
    {"https://hooks.example.com/?a#b", FRAGMENT},

    {"hooks.example.com", FORM},
    {"//hooks.example.com/", FORM},
    {"/path", FORM},
    {"http:/hooks.example.com/", FORM},
    {"http:hooks.example.com/", FORM},
    {"http:///hooks.example.com/", FORM},
    {"https://", FORM},
    {"https://?x", FORM},
    {"ftp://hooks.example.com/", FORM},
    {"file:///etc/passwd", FORM},
    {"gopher://hooks.example.com/", FORM},
    {"javascript:alert(1)", FORM},
    {"unix:/run/x.sock", FORM},

    {"https://hooks.example.com/a b", BYTES},
    {" https://hooks.example.com/", BYTES},
    {"https://hooks.example.com/\r\nX: y", BYTES},
    {"https://hooks.example.com/\t", BYTES},
    {"https://hooks.example.com/\x7f", BYTES},
    {"https://hooks.example.com/\x01", BYTES},
    {"https://hooks.ex\xc3\xa4mple.com/", BYTES},
    {"https://evil.net\\@hooks.example.com/", BYTES},
    {"https:\\\\hooks.example.com/", BYTES},
    {"", "it must have 1 to 2048 bytes"},
};

static void the_door_takes_only_plain_urls_of_allowed_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        const char *why = "";
        const bool is_allowed = notices_allows(&options, slice_from(urls[i][0]), &why);
        const bool is_right = is_allowed == (urls[i][1] == NULL) &&
                              (is_allowed ? why == NULL : strcmp(why, urls[i][1]) == 0);
        if (!is_right)
            fail_msg("%s: %s", urls[i][0], why == NULL ? "allowed" : why);
    }
}

static void a_nul_byte_ends_nothing(void **state)
{
    (void)state;
    const char *why;
    assert_false(notices_allows(&options, SLICE_OF("https://hooks.example.com\0.evil.net/"), &why));
    assert_string_equal(why, BYTES);
}

static void a_url_has_at_most_2048_bytes(void **state)
{
    (void)state;
    char url[2049];
    const char *why;
    const int len = snprintf(url, sizeof(url), "https://hooks.example.com/");
    memset(url + len, 'a', sizeof(url) - (size_t)len);
    assert_true(notices_allows(&options, (struct slice){.data = url, .len = 2048}, &why));
    assert_false(notices_allows(&options, (struct slice){.data = url, .len = 2049}, &why));
    assert_string_equal(why, "it must have 1 to 2048 bytes");
}

static void without_a_list_nothing_is_allowed(void **state)
{
    (void)state;
    const struct notices_options none = {.connections = 1};
    const char *why;
    assert_false(notices_allows(&none, SLICE_OF("https://hooks.example.com/"), &why));
    assert_string_equal(why, ELSEWHERE);
}

static void the_options_are_those_of_the_configuration(void **state)
{
    (void)state;
    static const char file[] =
        "{\"upstream\": {\"key\": \"k\"}, \"callbacks\": {\"allow\": [\"a.b:81\"], "
        "\"allow_private\": true, \"timeout\": \"3s\", \"connections\": 5, \"ca_file\": \"/x\"}}";
    static struct config config;
    struct buf mistakes;
    buf_init(&mistakes, 4096);
    assert_int_equal(config_load(&config, SLICE_OF(file), "f", NULL, NULL, 0, &mistakes), 0);
    const struct notices_options made = config.notices;
    assert_int_equal(made.allow_count, 1);
    assert_string_equal(made.allow[0].host, "a.b");
    assert_true(made.allow_private);
    assert_int_equal(made.timeout_ms, 3000);
    assert_int_equal(made.connections, 5);
    assert_string_equal(made.ca_file, "/x");
    config_close(&config);
    buf_close(&mistakes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_door_takes_only_plain_urls_of_allowed_places),
        cmocka_unit_test(a_nul_byte_ends_nothing),
        cmocka_unit_test(a_url_has_at_most_2048_bytes),
        cmocka_unit_test(without_a_list_nothing_is_allowed),
        cmocka_unit_test(the_options_are_those_of_the_configuration),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
