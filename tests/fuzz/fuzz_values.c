/* Texts of the configuration as values: addresses as the C library reads them, and everything that is written back
 * means itself.
 *
 * Input: the text. */
#include "fuzz.h"

#include "config/config_values.h"
#include "proto/address.h"
#include "proto/address_public.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdlib.h>

#define NUMERIC_MAX 64

/* What only this machine or its neighbours can reach is never public, in whatever form it comes. */
static void check_public(const uint8_t address[ADDRESS_BYTES])
{
    static const uint8_t mapped[] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    const bool is_public = address_is_public(address);
    HOLDS(!is_public || !address_is_loopback(address));
    if (memcmp(address, mapped, sizeof(mapped)) != 0)
        return;
    const unsigned high = address[12], low = address[13];
    const bool is_private = high == 0 || high == 10 || high == 127 || high >= 224 ||
                            (high == 172 && low >> 4 == 1) || (high == 192 && low == 168) ||
                            (high == 169 && low == 254) || (high == 100 && low >> 6 == 1);
    HOLDS(!is_public || !is_private);
    uint8_t carried[ADDRESS_BYTES];
    memcpy(carried, nat64, sizeof(nat64));
    memcpy(carried + 12, address + 12, 4);
    HOLDS(address_is_public(carried) == is_public);
    memcpy(carried, (const uint8_t[]){0x20, 0x02}, 2);
    memcpy(carried + 2, address + 12, 4);
    HOLDS(address_is_public(carried) == is_public);
}

/* inet_pton is strict, too: no short, octal or scoped forms. */
static void check_addresses(struct slice text)
{
    char copy[NUMERIC_MAX];
    uint8_t ours[ADDRESS_BYTES], theirs[ADDRESS_BYTES] = {[10] = 0xff, [11] = 0xff};
    if (text.len >= sizeof(copy) || memchr(text.data, '\0', text.len) != NULL) {
        HOLDS(!address_parse_v4(text, ours) && !address_parse_v6(text, ours));
        return;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    const bool is_v4 = address_parse_v4(text, ours);
    HOLDS(is_v4 == (inet_pton(AF_INET, copy, theirs + 12) == 1));
    if (is_v4) {
        HOLDS(memcmp(ours, theirs, sizeof(ours)) == 0);
        check_public(ours);
    }
    const bool is_v6 = address_parse_v6(text, ours);
    HOLDS(is_v6 == (inet_pton(AF_INET6, copy, theirs) == 1));
    if (is_v6) {
        HOLDS(memcmp(ours, theirs, sizeof(ours)) == 0);
        check_public(ours);
    }
}

static void check_duration(struct slice text)
{
    uint64_t ms, again;
    struct buf out;
    if (!value_parse_duration(text, &ms))
        return;
    buf_init(&out, 64);
    value_write_duration(&out, ms);
    HOLDS(value_parse_duration(buf_slice(&out), &again) && again == ms);
    HOLDS(out.len <= text.len || ms == 0);
    buf_close(&out);
}

/* What a parser wrote, it takes again and writes the same. */
static void check_stable(struct slice text, bool (*parse)(struct slice, void *))
{
    char first[CONFIG_TEXT_MAX], second[CONFIG_TEXT_MAX];
    if (!parse(text, first))
        return;
    HOLDS(strlen(first) > 0 && parse(slice_from(first), second) && strcmp(first, second) == 0);
}

static void check_places(struct slice text)
{
    char out[CONFIG_TEXT_MAX];
    if (value_parse_listen(text, out) && slice_starts_with(text, SLICE_OF("127.0.0.1:")))
        HOLDS(value_listen_is_local(out));
    if (value_parse_url(text, out)) {
        HOLDS(value_url_is_https(out) || slice_starts_with(slice_from(out), SLICE_OF("http://")));
        HOLDS(out[strlen(out) - 1] != '/' && strchr(out, '?') == NULL && strchr(out, '#') == NULL);
        (void)value_url_is_loopback(out);
    }
}

static void check_hook(struct slice text)
{
    struct notice_host hook;
    if (value_parse_notice_host(text, &hook))
        HOLDS(hook.host[0] != '\0' && memchr(hook.host, '\0', sizeof(hook.host)) != NULL);
}

static void check_network(struct slice text)
{
    struct network network;
    if (!value_parse_network(text, &network))
        return;
    HOLDS(network.prefix_bits <= 128);
    for (unsigned i = network.prefix_bits; i < 128; i++)
        HOLDS((network.address[i / 8] & (0x80U >> i % 8)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HOLDS(sodium_init() >= 0);
    char *bytes = exact_copy((struct slice){.data = (const char *)data, .len = size});
    const struct slice text = {.data = bytes, .len = size};
    uint64_t count;
    uint8_t hash[CLIENT_KEY_HASH_BYTES];
    char name[CLIENT_NAME_MAX];
    check_addresses(text);
    check_duration(text);
    check_stable(text, value_parse_listen);
    check_stable(text, value_parse_url);
    check_stable(text, value_parse_host_pattern);
    check_places(text);
    check_network(text);
    check_hook(text);
    if (value_parse_size(text, &count) && text.len > 0)
        HOLDS(text.data[0] >= '0' && text.data[0] <= '9');
    HOLDS(!value_parse_key_hash(text, hash) || text.len == 2 * sizeof(hash));
    HOLDS(!value_is_client_key(text) || value_is_visible(text));
    HOLDS(!value_parse_name(text, name) || value_is_visible(text));
    free(bytes);
    return 0;
}
