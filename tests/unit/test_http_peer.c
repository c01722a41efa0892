/* Addresses of peers: texts, networks, and whom a chain of proxies names. */
#include "config/config.h"
#include "http/http_peer.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct http_address address_of(const char *text)
{
    struct http_address address;
    assert_true(http_peer_parse(&address, slice_from(text)));
    return address;
}

static struct network network(const char *text, unsigned bits)
{
    const struct http_address address = address_of(text);
    struct network cidr = {.prefix_bits = (uint8_t)bits};
    memcpy(cidr.address, address.bytes, sizeof(cidr.address));
    return cidr;
}

static void an_address_is_read_and_written_in_its_shortest_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"1.2.3.4", "1.2.3.4"},
        {"1.2.3.4:80", "1.2.3.4"},
        {"::ffff:1.2.3.4", "1.2.3.4"},
        {"2001:DB8:0:0::1", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::1]:443", "2001:db8::1"},
        {"::", "::"},
        {"::1", "::1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct http_address address = address_of(cases[i].text);
        char text[HTTP_PEER_TEXT_MAX];
        assert_int_equal(http_peer_print(&address, text), strlen(cases[i].printed));
        assert_string_equal(text, cases[i].printed);
    }
}

static void what_is_no_address_is_not_read(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "x",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4x",
        ":80",
        "[",
        "[]",
        "[]:80",
        "[::1",
        "1::2::3",
        "unknown",
        "_hidden",
        "1.2.3.4 ",
        "localhost",
        "0000:0000:0000:0000:0000:ffff:255.255.255.255555",
        "111111111111111111111111111111111111111111111111111111111",
    };
    struct http_address address;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_false(http_peer_parse(&address, slice_from(cases[i])));
    assert_false(http_peer_parse(&address, SLICE_NONE));
}

static void a_network_holds_exactly_its_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        unsigned bits;
        const char *address;
        bool is_within;
    } cases[] = {
        {"10.0.0.0", 96 + 8, "10.255.0.1", true},
        {"10.0.0.0", 96 + 8, "11.0.0.0", false},
        {"10.0.0.128", 96 + 25, "10.0.0.255", true},
        {"10.0.0.128", 96 + 25, "10.0.0.127", false},
        {"10.0.0.8", 96 + 30, "10.0.0.11", true},
        {"10.0.0.8", 96 + 30, "10.0.0.12", false},
        {"127.0.0.1", 128, "127.0.0.1", true},
        {"127.0.0.1", 128, "127.0.0.2", false},
        {"0.0.0.0", 96, "255.1.2.3", true},
        {"0.0.0.0", 96, "2001:db8::1", false},
        {"::", 0, "2001:db8::1", true},
        {"::", 0, "1.2.3.4", true},
        {"2001:db8::", 33, "2001:db8:7fff::", true},
        {"2001:db8::", 33, "2001:db8:8000::", false},
        {"::1", 128, "127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct network cidr = network(cases[i].network, cases[i].bits);
        const struct http_address address = address_of(cases[i].address);
        assert_int_equal(http_peer_is_trusted(&address, &cidr, 1), cases[i].is_within);
        assert_false(http_peer_is_trusted(&address, &cidr, 0));
    }
}

static void the_rightmost_hop_nobody_vouches_for_is_the_client(void **state)
{
    (void)state;
    const struct network trusted[] = {network("10.0.0.0", 96 + 8), network("fd00::", 8)};
    static const struct {
        const char *forwarded, *client;
    } cases[] = {
        {"1.1.1.1", "1.1.1.1"},
        {"6.6.6.6, 1.1.1.1", "1.1.1.1"},
        {"6.6.6.6,1.1.1.1 ,\t10.0.0.1, fd00::5", "1.1.1.1"},
        {"10.0.0.2, 10.0.0.1", "10.0.0.2"},
        {"6.6.6.6, junk, 10.0.0.1", "10.0.0.1"},
        {"1.1.1.1, junk", NULL},
        {"1.1.1.1,", NULL},
        {"", NULL},
        {",,,", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_address client;
        const bool is_named =
            http_peer_forwarded(&client, slice_from(cases[i].forwarded), trusted, 2);
        assert_int_equal(is_named, cases[i].client != NULL);
        if (!is_named)
            continue;
        char text[HTTP_PEER_TEXT_MAX];
        (void)http_peer_print(&client, text);
        assert_string_equal(text, cases[i].client);
    }
}

static void only_internet_sockets_have_addresses(void **state)
{
    (void)state;
    struct http_address address;
    const struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x01020304)};
    assert_true(http_peer_from_socket(&address, (const struct sockaddr *)&four));
    char text[HTTP_PEER_TEXT_MAX];
    (void)http_peer_print(&address, text);
    assert_string_equal(text, "1.2.3.4");
    const struct sockaddr other = {.sa_family = AF_UNIX};
    assert_false(http_peer_from_socket(&address, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_read_and_written_in_its_shortest_form),
        cmocka_unit_test(what_is_no_address_is_not_read),
        cmocka_unit_test(a_network_holds_exactly_its_addresses),
        cmocka_unit_test(the_rightmost_hop_nobody_vouches_for_is_the_client),
        cmocka_unit_test(only_internet_sockets_have_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
