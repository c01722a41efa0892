/* Tells which addresses belong to the public internet, so that a URL from outside cannot reach
 * internal hosts. */
#ifndef SOLVEGATE_PROTO_ADDRESS_PUBLIC_H
#define SOLVEGATE_PROTO_ADDRESS_PUBLIC_H

#include "proto/address.h"

/* Returns false for loopback, private, link-local, shared, multicast, reserved and unassigned
 * addresses, and for every IPv6 form that embeds such an IPv4 address. IPv4 is mapped, as in
 * address.h. */
bool address_is_public(const uint8_t address[ADDRESS_BYTES]);

#endif
