#include "proto/address_public.h"

struct range_v4 {
    uint8_t network[4];
    uint8_t bits;
};

/* The IANA registry of special-purpose IPv4 addresses (RFC 6890), multicast and class E. */
static const struct range_v4 special_v4[] = {
    {{0}, 8},             /* "this network"; Linux takes 0.0.0.0 for loopback */
    {{10}, 8},            /* private */
    {{100, 64}, 10},      /* shared by carriers (RFC 6598) */
    {{127}, 8},           /* loopback */
    {{169, 254}, 16},     /* link-local, where clouds keep their metadata */
    {{172, 16}, 12},      /* private */
    {{192, 0, 0}, 24},    /* protocol assignments */
    {{192, 0, 2}, 24},    /* documentation */
    {{192, 88, 99}, 24},  /* 6to4 relays, deprecated (RFC 7526) */
    {{192, 168}, 16},     /* private */
    {{198, 18}, 15},      /* benchmarks */
    {{198, 51, 100}, 24}, /* documentation */
    {{203, 0, 113}, 24},  /* documentation */
    {{224}, 4},           /* multicast */
    {{240}, 4},           /* reserved, and the broadcast address */
};

struct range_v6 {
    uint8_t network[12];
    uint8_t bits;
};

/* Special ranges within 2000::/3. */
static const struct range_v6 special_v6[] = {
    {{0x20, 0x01, 0x00, 0x02}, 48}, /* benchmarks */
    {{0x20, 0x01, 0x00, 0x10}, 28}, /* ORCHID */
    {{0x20, 0x01, 0x00, 0x20}, 28}, /* ORCHIDv2 */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x3f, 0xff}, 20},             /* documentation */
};

/* IPv6 forms that embed an IPv4 address, to which a packet may be forwarded. */
struct carrier {
    struct range_v6 range;
    uint8_t place; /* offset of the IPv4 address */
    uint8_t mask;  /* XORed with each of its bytes */
};

static const struct carrier carriers[] = {
    {{{[10] = 0xff, [11] = 0xff}, 96}, 12, 0},           /* mapped (RFC 4291) */
    {{{[8] = 0xff, [9] = 0xff}, 96}, 12, 0},             /* translated (RFC 2765) */
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12, 0},             /* NAT64 (RFC 6052) */
    {{{0x20, 0x02}, 16}, 2, 0},                          /* 6to4 (RFC 3056) */
    {{{0x20, 0x01, 0x00, 0x00}, 32}, 4, 0},              /* Teredo's server (RFC 4380) */
    {{{0x20, 0x01, 0x00, 0x00}, 32}, 12, UINT8_C(0xff)}, /* and Teredo's client */
};

static bool is_within(const uint8_t *address, const uint8_t *network, unsigned bits)
{
    const size_t whole = bits / 8;
    if (memcmp(address, network, whole) != 0)
        return false;
    const unsigned mask = 0xffu << (8 - bits % 8) & 0xffu;
    return bits % 8 == 0 || ((address[whole] ^ network[whole]) & mask) == 0;
}

static bool is_public_v4(const uint8_t address[4])
{
    for (size_t i = 0; i < sizeof special_v4 / sizeof special_v4[0]; i++)
        if (is_within(address, special_v4[i].network, special_v4[i].bits))
            return false;
    return true;
}

/* Only 2000::/3 was ever assigned to the public. Everything else is loopback, local, multicast or
 * unused, so this list needs no updates for new ranges. */
static bool is_public_v6(const uint8_t address[ADDRESS_BYTES])
{
    if (address[0] >> 5 != 1)
        return false;
    for (size_t i = 0; i < sizeof special_v6 / sizeof special_v6[0]; i++)
        if (is_within(address, special_v6[i].network, special_v6[i].bits))
            return false;
    return true;
}

bool address_is_public(const uint8_t address[ADDRESS_BYTES])
{
    bool is_carrier = false;
    for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++) {
        const struct carrier *const carrier = &carriers[i];
        if (!is_within(address, carrier->range.network, carrier->range.bits))
            continue;
        uint8_t carried[4];
        for (size_t k = 0; k < sizeof carried; k++)
            carried[k] = address[carrier->place + k] ^ carrier->mask;
        if (!is_public_v4(carried))
            return false;
        is_carrier = true;
    }
    return is_carrier || is_public_v6(address);
}
