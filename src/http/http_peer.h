/* The caller's address: socket addresses as text, trusted networks, and the client behind a trusted
 * proxy. */
#ifndef SOLVEGATE_HTTP_HTTP_PEER_H
#define SOLVEGATE_HTTP_HTTP_PEER_H

#include "base/slice.h"
#include "proto/address.h"

#include <stdint.h>

#define HTTP_PEER_TEXT_MAX 46 /* INET6_ADDRSTRLEN, with the NUL */

struct sockaddr;

/* IPv4 is mapped into IPv6, as struct network has it. */
struct http_address {
    uint8_t bytes[16];
};

/* False for families other than IPv4 and IPv6. */
bool http_peer_from_socket(struct http_address *address, const struct sockaddr *socket);

/* "1.2.3.4", "1.2.3.4:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80". */
bool http_peer_parse(struct http_address *address, struct slice text);

/* Writes a mapped IPv4 address as IPv4; returns the length without the NUL. */
size_t http_peer_print(const struct http_address *address, char text[HTTP_PEER_TEXT_MAX]);

bool http_peer_is_trusted(const struct http_address *address, const struct network *networks,
                          size_t count);

/* Finds the rightmost hop of X-Forwarded-For that is not a trusted proxy; only hops to the right of
 * it were written by proxies we trust. False if the header names none: then the socket's peer
 * counts. */
bool http_peer_forwarded(struct http_address *address, struct slice forwarded,
                         const struct network *networks, size_t count);

#endif
