#include "http/http_peer.h"

#include "base/assert.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

static void map_ipv4(struct http_address *address, const void *four_bytes)
{
    memcpy(address->bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(address->bytes + sizeof mapped_prefix, four_bytes, 4);
}

bool http_peer_from_socket(struct http_address *address, const struct sockaddr *socket)
{
    if (socket->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, socket, sizeof in);
        map_ipv4(address, &in.sin_addr);
        return true;
    }
    if (socket->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, socket, sizeof in6);
        memcpy(address->bytes, &in6.sin6_addr, sizeof address->bytes);
        return true;
    }
    return false;
}

/* Returns the address without brackets and port, which some proxies write into X-Forwarded-For. */
static struct slice bare_address(struct slice text)
{
    if (text.len > 0 && text.data[0] == '[') {
        const char *end = memchr(text.data, ']', text.len);
        if (end == NULL)
            return SLICE_NONE;
        return (struct slice){.data = text.data + 1, .len = (size_t)(end - text.data) - 1};
    }
    const char *colon = memchr(text.data, ':', text.len);
    /* One colon precedes a port; several are part of an IPv6 address. */
    if (colon != NULL && memchr(colon + 1, ':', text.len - (size_t)(colon + 1 - text.data)) == NULL)
        text.len = (size_t)(colon - text.data);
    return text;
}

bool http_peer_parse(struct http_address *address, struct slice text)
{
    if (text.len == 0)
        return false;
    const struct slice bare = bare_address(text);
    char copy[HTTP_PEER_TEXT_MAX];
    if (bare.len == 0 || bare.len >= sizeof copy)
        return false;
    memcpy(copy, bare.data, bare.len);
    copy[bare.len] = '\0';
    struct in_addr four;
    if (inet_pton(AF_INET, copy, &four) == 1) {
        map_ipv4(address, &four);
        return true;
    }
    return inet_pton(AF_INET6, copy, address->bytes) == 1;
}

size_t http_peer_print(const struct http_address *address, char text[HTTP_PEER_TEXT_MAX])
{
    const bool is_mapped = memcmp(address->bytes, mapped_prefix, sizeof mapped_prefix) == 0;
    const char *printed = is_mapped ? inet_ntop(AF_INET, address->bytes + sizeof mapped_prefix,
                                                text, HTTP_PEER_TEXT_MAX)
                                    : inet_ntop(AF_INET6, address->bytes, text, HTTP_PEER_TEXT_MAX);
    ASSERT(printed != NULL);
    return strlen(text);
}

static bool is_within(const struct http_address *address, const struct network *network)
{
    const size_t whole = network->prefix_bits / 8;
    if (memcmp(address->bytes, network->address, whole) != 0)
        return false;
    const unsigned rest = network->prefix_bits % 8;
    const unsigned mask = 0xffu << (8 - rest) & 0xffu;
    return rest == 0 || ((address->bytes[whole] ^ network->address[whole]) & mask) == 0;
}

bool http_peer_is_trusted(const struct http_address *address, const struct network *networks,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_within(address, &networks[i]))
            return true;
    return false;
}

bool http_peer_forwarded(struct http_address *address, struct slice forwarded,
                         const struct network *networks, size_t count)
{
    bool found = false;
    size_t end = forwarded.len;
    for (;;) {
        size_t start = end;
        while (start > 0 && forwarded.data[start - 1] != ',')
            start--;
        const struct slice hop =
            slice_trim((struct slice){.data = forwarded.data + start, .len = end - start});
        struct http_address parsed;
        /* An invalid hop was written by somebody to the left of the last proxy that we trust. */
        if (!http_peer_parse(&parsed, hop))
            return found;
        *address = parsed;
        found = true;
        if (start == 0 || !http_peer_is_trusted(&parsed, networks, count))
            return true;
        end = start - 1;
    }
}
