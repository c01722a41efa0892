/* Parses texts of the configuration: durations, sizes, addresses, networks, URLs, hosts and keys. */
#ifndef SOLVEGATE_CONFIG_CONFIG_VALUES_H
#define SOLVEGATE_CONFIG_CONFIG_VALUES_H

#include "config/config.h"

/* All of these return false for an invalid text and then leave their output undefined. Durations
 * and sizes fill an uint64_t; addresses, URLs, hosts and texts CONFIG_TEXT_MAX bytes; names
 * CLIENT_NAME_MAX. */

/* "250ms", "5s", "2m", "1h", "7d". */
bool value_parse_duration(struct slice text, void *ms);
/* Writes "5s" and so on, with the largest unit that divides it. */
void value_write_duration(struct buf *out, uint64_t ms);

/* "16KiB", "2MiB", "1GiB" or plain bytes. */
bool value_parse_size(struct slice text, void *bytes);
/* Uses the largest unit that divides it. */
void value_write_size(struct buf *out, uint64_t bytes);

/* "127.0.0.1:8430", "[::1]:0", "localhost:8430" (becomes 127.0.0.1) or "unix:/path". */
bool value_parse_listen(struct slice text, void *out);
/* True if only this machine can reach the address, which value_parse_listen must have written. */
bool value_listen_is_local(const char *address);

/* "10.0.0.0/8", "fd00::/8" or a single address; bits beyond the prefix are cleared. */
bool value_parse_network(struct slice text, void *network);

/* http or https, host, perhaps port and path; no user, query or fragment. Trailing slashes go. */
bool value_parse_url(struct slice text, void *out);
/* For a URL that value_parse_url wrote. */
bool value_url_is_https(const char *url);
bool value_url_is_loopback(const char *url);

/* "example.com", "*.example.com" or an address; lower-cased, trailing dot dropped. */
bool value_parse_host_pattern(struct slice text, void *out);

/* As value_parse_host_pattern, with an optional port: "example.com:8443", "[2001:db8::1]:8443". */
bool value_parse_notice_host(struct slice text, void *notice_host);

/* Letters, digits, '_', '-' and '.', shorter than CLIENT_NAME_MAX. */
bool value_parse_name(struct slice text, void *out);

/* Visible ASCII characters: 32, since one client library refuses any other key, or the 36 of `CAP-…`
 * keys, which others insist on. */
#define CLIENT_KEY_CHARS 32
#define CLIENT_KEY_LONG_CHARS 36
bool value_is_client_key(struct slice text);
bool value_is_client_key_length(size_t len);

/* Only visible ASCII, at least one character. */
bool value_is_visible(struct slice text);
bool value_parse_visible(struct slice text, void *out);
/* Any text that is not empty. */
bool value_parse_text(struct slice text, void *out);

/* The hash of a client key, from the key itself or from its hexadecimal digest. */
bool value_parse_client_key(struct slice text, void *hash);
bool value_parse_key_hash(struct slice text, void *hash);

#endif
