#include "proto/address_public.h"
#include "seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The first and last address of every refused range, and its neighbours outside. */
static const char *const refused[] = {
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.2.255",
    "192.88.99.1",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "203.0.113.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",

    "::",
    "::1",
    "::2",
    "::8.8.8.8", /* IPv4-compatible, given up long ago */
    "fc00::",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fe80::",
    "febf:ffff::1",
    "fec0::1",
    "ff00::",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "100::1",
    "1fff:ffff::1",
    "4000::1",
    "2001:2::1",
    "2001:10::1",
    "2001:2f::1",
    "2001:db8::1",
    "3fff::1",
    "3fff:fff::1",
    "64:ff9b:1::8.8.8.8", /* NAT64 of one's own network (RFC 8215) */

    "::ffff:0.0.0.0",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:c0a8:101:1::1",
    "2001:0:7f00:1::f7f7:f7f7",  /* Teredo, its server being 127.0.0.1 */
    "2001:0:808:808::80ff:fffe", /* its client 127.0.0.1 */
    "2001:0:808:808::f5ff:fffe", /* its client 10.0.0.1 */
};

static const char *const public[] = {
    "1.0.0.0",          "1.1.1.1",
    "8.8.8.8",          "9.255.255.255",
    "11.0.0.0",         "100.63.255.255",
    "100.128.0.0",      "126.255.255.255",
    "128.0.0.0",        "169.253.255.255",
    "169.255.0.0",      "172.15.255.255",
    "172.32.0.0",       "191.255.255.255",
    "192.0.1.0",        "192.0.3.0",
    "192.88.98.255",    "192.88.100.0",
    "192.167.255.255",  "192.169.0.0",
    "198.17.255.255",   "198.20.0.0",
    "198.51.99.255",    "198.51.101.0",
    "203.0.112.255",    "203.0.114.0",
    "223.255.255.255",

    "2000::1",          "2001:4860:4860::8888",
    "2001:3::1",        "2001:30::1",
    "2001:db7:ffff::1", "2001:db9::1",
    "2606:4700::1111",  "3ffe:ffff::1",
    "3fff:1000::1",     "::ffff:8.8.8.8",
    "::ffff:0:8.8.8.8", "64:ff9b::8.8.8.8",
    "2002:808:808::1",  "2001:0:808:808::f7f7:f7f7", /* Teredo, both being 8.8.8.8 */
};

static void parse(const char *text, uint8_t address[ADDRESS_BYTES])
{
    assert_true(address_parse_v4(slice_from(text), address) ||
                address_parse_v6(slice_from(text), address));
}

static void what_is_not_of_the_public_internet_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        uint8_t address[ADDRESS_BYTES];
        parse(refused[i], address);
        if (address_is_public(address))
            fail_msg("%s is public", refused[i]);
    }
}

static void its_neighbours_are_public(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(public) / sizeof(public[0]); i++) {
        uint8_t address[ADDRESS_BYTES];
        parse(public[i], address);
        if (!address_is_public(address))
            fail_msg("%s is refused", public[i]);
    }
}

/* Whatever form an IPv4 address is carried in, the answer is that of the address. */
static void every_form_of_an_ipv4_address_has_the_same_answer(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        uint8_t mapped[ADDRESS_BYTES] = {
            [10] = 0xff, [11] = 0xff, [12] = (uint8_t)(i >> 8), [13] = (uint8_t)i, [14] = 1};
        uint8_t nat64[ADDRESS_BYTES] = {0x00, 0x64, 0xff, 0x9b};
        uint8_t six_to_four[ADDRESS_BYTES] = {0x20, 0x02};
        memcpy(nat64 + 12, mapped + 12, 4);
        memcpy(six_to_four + 2, mapped + 12, 4);
        assert_int_equal(address_is_public(nat64), address_is_public(mapped));
        assert_int_equal(address_is_public(six_to_four), address_is_public(mapped));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_of_the_public_internet_is_refused),
        cmocka_unit_test(its_neighbours_are_public),
        cmocka_unit_test(every_form_of_an_ipv4_address_has_the_same_answer),
    };
    seed_init(argc, argv);
    return cmocka_run_group_tests(tests, seed_announce, NULL);
}
