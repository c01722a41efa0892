#include "store/redis/redis_url.h"

#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define CANARY "s3cr3t"

static struct redis_url url;
static char mistake[512];

static bool read_url(const char *text)
{
    struct buf out;
    buf_init(&out, sizeof(mistake));
    redis_url_close(&url);
    const bool is_good = redis_url_read(text, &url, &out);
    const struct slice said = buf_slice(&out);
    (void)snprintf(mistake, sizeof(mistake), "%.*s", (int)said.len, said.data);
    buf_close(&out);
    assert_true(is_good == (mistake[0] == '\0'));
    assert_null(strstr(mistake, CANARY));
    return is_good;
}

static void assert_place(const char *text, const char *wanted)
{
    char place[300];
    if (!read_url(text))
        fail_msg("%s: %s", text, mistake);
    redis_url_place(&url, place, sizeof(place));
    assert_string_equal(place, wanted);
}

static void the_usual_forms_are_read(void **state)
{
    (void)state;
    assert_place("redis://localhost", "localhost:6379");
    assert_null(url.password);
    assert_false(url.is_tls);
    assert_place("redis://example.com:7000/3", "example.com:7000");
    assert_int_equal(url.db, 3);
    assert_place("redis://example.com/?db=4", "example.com:6379");
    assert_int_equal(url.db, 4);
    assert_place("rediss://example.com/", "example.com:6379");
    assert_true(url.is_tls);
    assert_place("VALKEYS://example.com", "example.com:6379");
    assert_true(url.is_tls);
    assert_place("valkey://[::1]:7000/1", "[::1]:7000");
    assert_string_equal(url.host, "::1");
    assert_place("redis://[::1]", "[::1]:6379");
}

static void users_and_passwords_are_decoded(void **state)
{
    (void)state;
    assert_place("redis://:" CANARY "@h", "h:6379");
    assert_null(url.user);
    assert_string_equal(url.password, CANARY);
    assert_place("redis://me:" CANARY "@h:1/2", "h:1");
    assert_string_equal(url.user, "me");
    assert_place("redis://m%65:a%2Fb%3F%40%25@h", "h:6379");
    assert_string_equal(url.user, "me");
    assert_string_equal(url.password, "a/b?@%");
    assert_place("redis://me:p@ss@h", "h:6379");
    assert_string_equal(url.password, "p@ss");
    assert_place("redis://me:@h", "h:6379");
    assert_string_equal(url.password, "");
}

static void sockets_are_read(void **state)
{
    (void)state;
    assert_place("redis+unix:///run/redis.sock", "/run/redis.sock");
    assert_string_equal(url.host, "");
    assert_place("unix:///run/redis.sock?db=5", "/run/redis.sock");
    assert_int_equal(url.db, 5);
    assert_place("valkey+unix://me:" CANARY "@/run/a%20b.sock", "/run/a b.sock");
    assert_string_equal(url.password, CANARY);
}

/* Any part of a wrong one may be the password. */
static void a_wrong_one_gets_a_sentence_that_quotes_nothing_of_it(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "redis:",
        "redis:" CANARY,
        "redis:/" CANARY,
        "redis://",
        "redis:///0",
        "redis://:@",
        "redis://" CANARY "@h",
        "redis://me:" CANARY "@",
        "redis://me:" CANARY "/x@h",
        "redis://me:x?" CANARY "@h",
        "redis://me:" CANARY "%zz@h",
        "redis://me:" CANARY "%2@h",
        "redis://me:" CANARY "%00@h",
        "redis://h:" CANARY,
        "redis://h:0",
        "redis://[::1",
        "redis://[" CANARY,
        "redis://me:" CANARY "@[::1:6379",
        "redis://h:65536",
        "redis://h:70000000000000000000",
        "redis://h/" CANARY,
        "redis://h/-1",
        "redis://h/1/2",
        "redis://h?password=" CANARY,
        "redis://h?db=" CANARY,
        "redis://[::1]" CANARY ":1",
        "redis://a b",
        "redis://me:" CANARY "@h1,h2:6379",
        "redis://a%2fb",
        "redis+unix://",
        "redis+unix://" CANARY "/path",
        "redis+unix:///"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (read_url(wrong[i]))
            fail_msg("%s was read", wrong[i]);
    redis_url_close(&url);
}

int main(int argc, char **argv)
{
    seed_init(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_forms_are_read),
        cmocka_unit_test(users_and_passwords_are_decoded),
        cmocka_unit_test(sockets_are_read),
        cmocka_unit_test(a_wrong_one_gets_a_sentence_that_quotes_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
