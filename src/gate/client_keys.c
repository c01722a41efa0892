#include "gate/client_keys.h"

#include "config/config_clients.h"

#include <sodium.h>

_Static_assert(sizeof(((struct client_keys *)0)->secret) == crypto_shorthash_siphashx24_KEYBYTES,
               "the secret is a SipHash key");
_Static_assert(sizeof(((struct client_seen *)0)->mac) == crypto_shorthash_siphashx24_BYTES,
               "the MAC has 128 bits");

void client_keys_init(struct client_keys *keys, const struct config *config)
{
    *keys = (struct client_keys){.config = config};
    randombytes_buf(keys->secret, sizeof keys->secret);
}

void client_keys_close(struct client_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

/* Compares without a branch per byte, although the matching length of a MAC reveals nothing about
 * the key. */
static bool is_same(const uint64_t a[CLIENT_MAC_WORDS], const uint64_t b[CLIENT_MAC_WORDS])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

long client_keys_find(struct client_keys *keys, struct slice key)
{
    if (keys->config->client_count == 0 || !slice_is_given(key))
        return -1;
    uint64_t mac[CLIENT_MAC_WORDS];
    (void)crypto_shorthash_siphashx24((unsigned char *)mac, (const unsigned char *)key.data,
                                      key.len, (const unsigned char *)keys->secret);
    struct client_seen *seen = &keys->seen[mac[0] % CLIENT_KEYS_SEEN];
    if (seen->is_set && is_same(seen->mac, mac))
        return seen->client;
    const long found = config_find_client(keys->config, key);
    if (found >= 0)
        *seen = (struct client_seen){
            .mac = {mac[0], mac[1]}, .is_set = true, .client = (client_id)found};
    return found;
}
