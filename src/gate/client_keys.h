/* Clients by the key they present: the configuration's digests, and a memo of the keys seen lately. */
#ifndef SOLVEGATE_GATE_CLIENT_KEYS_H
#define SOLVEGATE_GATE_CLIENT_KEYS_H

#include "config/config.h"

#define CLIENT_MAC_WORDS 2
/* A power of two; clients that share a place only take turns in it. */
#define CLIENT_KEYS_SEEN 256

/* Every request presents a key, and BLAKE2b of it would be a tenth of a hit. So a key that was found is
 * remembered by its MAC under a secret of this process (SipHash-2-4, 128 bits): neither the key nor
 * anything that could be tried offline stays in memory, and a stranger's guess is as hopeless as
 * guessing the MAC. Only keys that are good get in. */
struct client_keys {
    const struct config *config; /* borrowed; a reload makes all this anew */
    uint64_t secret[2];
    struct client_seen {
        uint64_t mac[CLIENT_MAC_WORDS];
        bool is_set;
        client_id client;
    } seen[CLIENT_KEYS_SEEN];
};

void client_keys_init(struct client_keys *keys, const struct config *config);
void client_keys_close(struct client_keys *keys);

/* As config_find_client: the client's place, or -1. */
long client_keys_find(struct client_keys *keys, struct slice key);

#endif
