/* Finds clients by key: the configuration's digests, and a memo of recently seen keys. */
#ifndef SOLVEGATE_GATE_CLIENT_KEYS_H
#define SOLVEGATE_GATE_CLIENT_KEYS_H

#include "config/config.h"

#define CLIENT_MAC_WORDS 2
/* A power of two; keys with the same index replace each other. */
#define CLIENT_KEYS_SEEN 256

/* Every request presents a key, and its BLAKE2b would take a tenth of a hit. So a valid key is
 * remembered by its MAC under a secret of this process (SipHash-2-4, 128 bits): memory holds
 * neither the key nor anything that can be attacked offline, and a stranger would have to guess the
 * MAC. Only valid keys get in. */
struct client_keys {
    const struct config *config; /* borrowed; a reload rebuilds this struct */
    uint64_t secret[2];
    struct client_seen {
        uint64_t mac[CLIENT_MAC_WORDS];
        bool is_set;
        client_id client;
    } seen[CLIENT_KEYS_SEEN];
};

void client_keys_init(struct client_keys *keys, const struct config *config);
void client_keys_close(struct client_keys *keys);

/* As config_find_client: the client's index, or -1. */
long client_keys_find(struct client_keys *keys, struct slice key);

#endif
