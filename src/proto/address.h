/* Numeric IPv4 and IPv6 addresses from text: strict, no names, no zones, no short or octal forms. */
#ifndef SOLVEGATE_PROTO_ADDRESS_H
#define SOLVEGATE_PROTO_ADDRESS_H

#include "base/slice.h"

#include <stdint.h>

#define ADDRESS_BYTES 16

/* Always 16 bytes: IPv4 is mapped into IPv6 (::ffff:a.b.c.d). false leaves *out undefined. */
bool address_parse_v4(struct slice text, uint8_t out[ADDRESS_BYTES]);
bool address_parse_v6(struct slice text, uint8_t out[ADDRESS_BYTES]);

/* A network of addresses. */
struct network {
    uint8_t address[ADDRESS_BYTES];
    uint8_t prefix_bits;
};

/* 127.0.0.0/8, also written as IPv6, and ::1. */
bool address_is_loopback(const uint8_t address[ADDRESS_BYTES]);

/* Does the host (lower case) match the pattern? "*.example.com" matches hosts below example.com,
 * not example.com itself. */
bool address_host_matches(const char *pattern, struct slice host);

#endif
