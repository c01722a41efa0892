#include "config/config_clients.h"

#include "base/assert.h"
#include "proto/address.h"

#include <sodium.h>
#include <stdlib.h>

void config_hash_key(struct slice key, uint8_t out[CLIENT_KEY_HASH_BYTES])
{
    const int code = crypto_generichash(out, CLIENT_KEY_HASH_BYTES, (const unsigned char *)key.data,
                                        key.len, NULL, 0);
    ASSERT(code == 0);
}

/* The digest's first bytes: enough to tell clients apart, and useless to an attacker who times the
 * lookup, since the digest of a guess does not show how near the guess was. */
static uint64_t prefix_of(const uint8_t hash[CLIENT_KEY_HASH_BYTES])
{
    uint64_t prefix;
    memcpy(&prefix, hash, sizeof prefix);
    return prefix;
}

static uint64_t prefix_at(const struct config *config, size_t place)
{
    return prefix_of(config->clients[config->client_order[place]].key_hash);
}

/* Insertion sort is fast enough: it runs once, on at most a thousand clients. */
void clients_index(struct config *config)
{
    if (config->client_count == 0)
        return;
    config->client_order = calloc(config->client_count, sizeof *config->client_order);
    ASSERT(config->client_order != NULL);
    for (size_t i = 0; i < config->client_count; i++) {
        const uint64_t prefix = prefix_of(config->clients[i].key_hash);
        size_t place = i;
        for (; place > 0 && prefix_at(config, place - 1) > prefix; place--)
            config->client_order[place] = config->client_order[place - 1];
        config->client_order[place] = (uint16_t)i;
    }
}

static long find_by_prefix(const struct config *config, const uint8_t hash[CLIENT_KEY_HASH_BYTES])
{
    const uint64_t prefix = prefix_of(hash);
    size_t low = 0;
    size_t high = config->client_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (prefix_at(config, middle) < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < config->client_count && prefix_at(config, low) == prefix; low++) {
        const uint16_t client = config->client_order[low];
        if (sodium_memcmp(config->clients[client].key_hash, hash, CLIENT_KEY_HASH_BYTES) == 0)
            return client;
    }
    return -1;
}

long config_find_client(const struct config *config, struct slice key)
{
    if (config->client_count == 0 || !slice_is_given(key))
        return -1;
    uint8_t hash[CLIENT_KEY_HASH_BYTES];
    config_hash_key(key, hash);
    return find_by_prefix(config, hash);
}

bool config_client_is_shadow(const struct config *config, client_id client)
{
    const enum mode own =
        client < config->client_count ? config->clients[client].mode : MODE_DEFAULT;
    return (own == MODE_DEFAULT ? config->mode : own) == MODE_SHADOW;
}

bool config_has_shadow(const struct config *config)
{
    if (config->client_count == 0)
        return config->mode == MODE_SHADOW;
    for (size_t i = 0; i < config->client_count; i++)
        if (config_client_is_shadow(config, (client_id)i) && !config->clients[i].options.is_gone)
            return true;
    return false;
}

bool config_client_allows(const struct config_client *client, struct slice host)
{
    if (client->allow_host_count == 0)
        return true;
    for (size_t i = 0; i < client->allow_host_count; i++)
        if (address_host_matches(client->allow_hosts[i], host))
            return true;
    return false;
}
