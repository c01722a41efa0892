/* Finds clients by their keys, and what each may ask for. */
#ifndef SOLVEGATE_CONFIG_CONFIG_CLIENTS_H
#define SOLVEGATE_CONFIG_CONFIG_CLIENTS_H

#include "config/config.h"

/* Fills client_order; call it after all clients are read. */
void clients_index(struct config *config);

/* BLAKE2b-256 of a client key, as key_hash and `solvegate hash-key` have it. */
void config_hash_key(struct slice key, uint8_t out[CLIENT_KEY_HASH_BYTES]);

/* The client that holds this key, or -1. Looks up the first bytes of the key's digest, which reveal
 * nothing about the key, then compares in constant time. */
long config_find_client(const struct config *config, struct slice key);

/* Is the client in shadow mode, by its own setting or the gateway's? */
bool config_client_is_shadow(const struct config *config, client_id client);

/* Is any client? */
bool config_has_shadow(const struct config *config);

/* True if this host (lower case, no port, no trailing dot) is within the client's allow_hosts. */
bool config_client_allows(const struct config_client *client, struct slice host);

#endif
