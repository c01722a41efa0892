/* Which addresses belong to the public internet, so that a stranger's URL cannot reach inside. */
#ifndef SOLVEGATE_PROTO_ADDRESS_PUBLIC_H
#define SOLVEGATE_PROTO_ADDRESS_PUBLIC_H

#include "proto/address.h"

/* false for loopback, private, link-local, shared, multicast, reserved and unassigned addresses,
 * and for every IPv6 form that carries such an IPv4 address. IPv4 is mapped, as in address.h. */
bool address_is_public(const uint8_t address[ADDRESS_BYTES]);

#endif
