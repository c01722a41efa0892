#include "base/rand.h"
#include "config/config_values.h"
#include "config/nearest.h"
#include "proto/address.h"
#include "seed.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define RANDOM_ADDRESSES 200000

static void expect_duration(const char *text, uint64_t expected)
{
    uint64_t ms = 0;
    if (!value_parse_duration(slice_from(text), &ms))
        fail_msg("%s is refused", text);
    assert_int_equal(ms, expected);
}

static void durations_are_a_number_and_a_unit(void **state)
{
    (void)state;
    expect_duration("250ms", 250);
    expect_duration("5s", 5000);
    expect_duration("2m", 120000);
    expect_duration("1h", 3600000);
    expect_duration("7d", 604800000);
    expect_duration("0s", 0);
    const char *const bad[] = {"",
                               "5",
                               "s",
                               "-5s",
                               "5 s",
                               " 5s",
                               "5s ",
                               "5S",
                               "1.5s",
                               "1m30s",
                               "0x5s",
                               "99999999999999999999s",
                               "213503982334602d"};
    uint64_t ms;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_duration(slice_from(bad[i]), &ms))
            fail_msg("\"%s\" is taken", bad[i]);
}

static void a_written_duration_reads_back_as_itself(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    struct buf text;
    buf_init(&text, 64);
    for (int i = 0; i < 10000; i++) {
        const uint64_t ms = rand_below(&rand, UINT64_C(1) << rand_below(&rand, 40));
        buf_reset(&text);
        value_write_duration(&text, ms);
        uint64_t again = 1;
        assert_true(value_parse_duration(buf_slice(&text), &again));
        assert_int_equal(again, ms);
    }
    buf_close(&text);
}

static void sizes_are_bytes_or_have_a_binary_unit(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"16KiB", 16 << 10}, {"2MiB", 2 << 20}, {"1GiB", 1 << 30}, {"123", 123}, {"0", 0}};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(value_parse_size(slice_from(good[i].text), &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    const char *const bad[] = {"",     "2MB",  "2M", "KiB", "-1", "1.5MiB", "17179869184GiB",
                               "2mib", "2 MiB"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_size(slice_from(bad[i]), &bytes))
            fail_msg("\"%s\" is taken", bad[i]);
}

static void addresses_to_listen_at_are_numeric_or_unix(void **state)
{
    (void)state;
    char out[CONFIG_TEXT_MAX];
    const char *const local[] = {"127.0.0.1:8430",       "127.255.3.4:0", "[::1]:65535",
                                 "unix:/run/x",          "localhost:1",   "LocalHost:1",
                                 "[::ffff:127.0.0.1]:1", "unix:rel"};
    const char *const public[] = {"0.0.0.0:1",          "[::]:1",
                                  "128.0.0.1:1",        "[::2]:1",
                                  "[fe80::1]:1",        "126.255.255.255:1",
                                  "[::ffff:10.0.0.1]:1"};
    const char *const bad[] = {"",
                               ":80",
                               "*:80",
                               "127.0.0.1",
                               "127.0.0.1:",
                               "127.0.0.1:65536",
                               "127.0.0.1:-1",
                               "127.0.0.1:080000",
                               "127.1:80",
                               "127.0.0.01:80",
                               "::1:80",
                               "[127.0.0.1]:80",
                               "[::1]",
                               "[::1]80",
                               "[::1",
                               "[fe80::1%eth0]:1",
                               "host:80",
                               "unix:",
                               "[localhost]:1",
                               "http://127.0.0.1:1",
                               " 127.0.0.1:1",
                               "127.0.0.1:1 "};
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        if (!value_parse_listen(slice_from(local[i]), out) || !value_listen_is_local(out))
            fail_msg("\"%s\" is not local", local[i]);
    }
    for (size_t i = 0; i < sizeof(public) / sizeof(public[0]); i++) {
        if (!value_parse_listen(slice_from(public[i]), out) || value_listen_is_local(out))
            fail_msg("\"%s\" is not public", public[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_listen(slice_from(bad[i]), out))
            fail_msg("\"%s\" is taken", bad[i]);
    char longest[5 + 108 + 1] = "unix:";
    memset(longest + 5, 'x', 108);
    assert_false(value_parse_listen((struct slice){longest, 5 + 108}, out));
    assert_true(value_parse_listen((struct slice){longest, 5 + 107}, out));
}

static void networks_lose_the_bits_beyond_their_prefix(void **state)
{
    (void)state;
    struct network network;
    assert_true(value_parse_network(SLICE_OF("192.168.255.255/17"), &network));
    assert_int_equal(network.prefix_bits, 96 + 17);
    assert_int_equal(network.address[14], 0x80);
    assert_int_equal(network.address[15], 0);
    assert_true(value_parse_network(SLICE_OF("::/0"), &network));
    assert_int_equal(network.prefix_bits, 0);
    const char *const bad[] = {"",       "/8",          "10.0.0.0/",    "10.0.0.0/33",
                               "::/129", "10.0.0.0/-1", "10.0.0.0/8/8", "10/8"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_network(slice_from(bad[i]), &network))
            fail_msg("\"%s\" is taken", bad[i]);
}

static void urls_are_http_without_user_query_or_fragment(void **state)
{
    (void)state;
    char out[CONFIG_TEXT_MAX];
    assert_true(value_parse_url(SLICE_OF("HTTPS://Example.COM/Path/"), out));
    assert_string_equal(out, "https://example.com/Path");
    assert_true(value_parse_url(SLICE_OF("http://[::1]:8080"), out));
    assert_true(value_url_is_loopback(out));
    assert_true(value_parse_url(SLICE_OF("http://localhost//"), out));
    assert_string_equal(out, "http://localhost");
    assert_true(value_url_is_loopback(out));
    const char *const remote[] = {"http://127.0.0.1.example.com",
                                  "http://localhost.example.com",
                                  "http://[::2]",
                                  "http://0.0.0.0",
                                  "http://example.com/127.0.0.1",
                                  "http://2130706433"};
    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
        if (!value_parse_url(slice_from(remote[i]), out) || value_url_is_loopback(out))
            fail_msg("\"%s\" is not remote", remote[i]);
    const char *const bad[] = {"",
                               "https://",
                               "https:///x",
                               "ftp://x",
                               "example.com",
                               "https://a@b",
                               "https://a?b",
                               "https://a#b",
                               "https://a b",
                               "https://a:0",
                               "https://a:65536",
                               "https://a:",
                               "https://a..b",
                               "https://-a",
                               "https://[::1",
                               "https://[1.2.3.4]",
                               "https:/a",
                               "https://a\\b",
                               "https://a\tb",
                               "https://\xc3\xa4.de"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_url(slice_from(bad[i]), out))
            fail_msg("\"%s\" is taken", bad[i]);
}

static void host_patterns_are_names_addresses_or_a_star_and_a_name(void **state)
{
    (void)state;
    char out[CONFIG_TEXT_MAX];
    const char *const good[] = {
        "example.com", "*.example.com", "EXAMPLE.com.",          "localhost",  "192.0.2.1",
        "[::1]",       "a_b.example",   "xn--bcher-kva.example", "*.localhost"};
    const char *const bad[] = {"",
                               ".",
                               "*",
                               "*.",
                               "*example.com",
                               "a.*.com",
                               "example.com:80",
                               "a..b",
                               ".a",
                               "a/b",
                               "http://a",
                               "a@b",
                               "*.0.0.1",
                               "1.2.3",
                               "300.1.1.1",
                               "[::1",
                               "[1.2.3.4]",
                               "-a.com",
                               "a-.com",
                               "gr\xc3\xbcn.example",
                               "a b",
                               "*.*.a"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!value_parse_host_pattern(slice_from(good[i]), out))
            fail_msg("\"%s\" is refused", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (value_parse_host_pattern(slice_from(bad[i]), out))
            fail_msg("\"%s\" is taken", bad[i]);
    assert_true(value_parse_host_pattern(SLICE_OF("*.EXAMPLE.com."), out));
    assert_string_equal(out, "*.example.com");
}

/* Texts that are nearly addresses: made of pieces of addresses. */
static size_t make_address(struct rand *rand, char *out)
{
    static const char *const pieces[] = {
        "0",    "1",  "255",   "256",     "01",        "00", "ffff", "abc",
        "F",    "10", "12345", ":",       ":",         ":",  ":",    "::",
        ".",    ".",  ".",     "1.2.3.4", "127.0.0.1", "g",  " ",    "1:2:3:4:5:6:7",
        "1:2:3"};
    size_t len = 0;
    const uint64_t count = 1 + rand_below(rand, 9);
    for (uint64_t i = 0; i < count; i++) {
        const char *const piece = pieces[rand_below(rand, sizeof(pieces) / sizeof(pieces[0]))];
        memcpy(out + len, piece, strlen(piece));
        len += strlen(piece);
    }
    out[len] = '\0';
    return len;
}

static void addresses_are_read_as_the_system_reads_them(void **state)
{
    (void)state;
    struct rand rand;
    rand_init(&rand, seed_value());
    size_t v4 = 0, v6 = 0;
    for (int i = 0; i < RANDOM_ADDRESSES; i++) {
        char text[256];
        uint8_t ours[ADDRESS_BYTES], theirs[ADDRESS_BYTES];
        const struct slice slice = {.data = text, .len = make_address(&rand, text)};
        const bool is_v6 = inet_pton(AF_INET6, text, theirs) == 1;
        if (address_parse_v6(slice, ours) != is_v6)
            fail_msg("\"%s\" as IPv6", text);
        if (is_v6)
            assert_memory_equal(ours, theirs, ADDRESS_BYTES);
        const bool is_v4 = inet_pton(AF_INET, text, theirs) == 1;
        if (address_parse_v4(slice, ours) != is_v4)
            fail_msg("\"%s\" as IPv4", text);
        if (is_v4)
            assert_memory_equal(ours + 12, theirs, 4);
        v4 += is_v4;
        v6 += is_v6;
    }
    /* Else the pieces are chosen badly and nothing was compared. */
    assert_true(v4 > 100 && v6 > 100);
}

static struct slice nearest_of(const char *wanted)
{
    struct nearest nearest;
    nearest_init(&nearest, slice_from(wanted));
    const char *const words[] = {"listen", "limits", "log", "retry", "connect_timeout", "a"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        nearest_offer(&nearest, slice_from(words[i]));
    return nearest.best;
}

static void typos_find_their_word_and_strangers_find_none(void **state)
{
    (void)state;
    assert_true(slice_equals(nearest_of("lisen"), SLICE_OF("listen")));
    assert_true(slice_equals(nearest_of("lsiten"), SLICE_OF("listen")));
    assert_true(slice_equals(nearest_of("limit"), SLICE_OF("limits")));
    assert_true(slice_equals(nearest_of("logs"), SLICE_OF("log")));
    assert_true(slice_equals(nearest_of("conect_tiemout"), SLICE_OF("connect_timeout")));
    assert_false(slice_is_given(nearest_of("xyzzy")));
    assert_false(slice_is_given(nearest_of("")));
    assert_false(slice_is_given(nearest_of("b")));
    char longest[200];
    memset(longest, 'l', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_false(slice_is_given(nearest_of(longest)));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_a_number_and_a_unit),
        cmocka_unit_test(a_written_duration_reads_back_as_itself),
        cmocka_unit_test(sizes_are_bytes_or_have_a_binary_unit),
        cmocka_unit_test(addresses_to_listen_at_are_numeric_or_unix),
        cmocka_unit_test(networks_lose_the_bits_beyond_their_prefix),
        cmocka_unit_test(urls_are_http_without_user_query_or_fragment),
        cmocka_unit_test(host_patterns_are_names_addresses_or_a_star_and_a_name),
        cmocka_unit_test(addresses_are_read_as_the_system_reads_them),
        cmocka_unit_test(typos_find_their_word_and_strangers_find_none),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
