#include "cli/bench_guard.h"

#include "http/http_peer.h"

#include <curl/curl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#define UNIX_PREFIX "unix:"
/* IPv4 is mapped into IPv6 (RFC 4291), so its prefixes are longer by this. */
#define V4 96
#define MAPPED [10] = 0xff, [11] = 0xff

/* A list of what is allowed: what is neither public nor private (multicast, documentation, forms of IPv6 that carry an
 * IPv4 address through a translator) leads to somebody else. */
static const struct network private_networks[] = {
    {{MAPPED, 10}, V4 + 8},        /* RFC 1918 */
    {{MAPPED, 172, 16}, V4 + 12},  /* RFC 1918 */
    {{MAPPED, 192, 168}, V4 + 16}, /* RFC 1918 */
    {{MAPPED, 100, 64},
     V4 + 10}, /* shared by carriers and by networks of virtual machines (RFC 6598) */
    {{MAPPED, 169, 254}, V4 + 16}, /* link-local (RFC 3927) */
    {{0xfc}, 7},                   /* unique local (RFC 4193) */
    {{0xfe, 0x80}, 10},            /* link-local (RFC 4291) */
};

static enum bench_host host_of(const struct http_address *peer)
{
    const size_t count = sizeof private_networks / sizeof private_networks[0];
    if (address_is_loopback(peer->bytes))
        return BENCH_HOST_LOOPBACK;
    return http_peer_is_trusted(peer, private_networks, count) ? BENCH_HOST_PRIVATE
                                                               : BENCH_HOST_PUBLIC;
}

static enum bench_host worst_of(const struct addrinfo *addresses)
{
    enum bench_host worst = BENCH_HOST_UNKNOWN;
    for (const struct addrinfo *at = addresses; at != NULL; at = at->ai_next) {
        struct http_address peer;
        if (!http_peer_from_socket(&peer, at->ai_addr))
            continue;
        const enum bench_host host = host_of(&peer);
        if (worst == BENCH_HOST_UNKNOWN || host > worst)
            worst = host;
    }
    return worst;
}

static enum bench_host look_up(const char *host)
{
    const struct addrinfo wish = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    char bare[256];
    size_t len = strlen(host);
    /* libcurl leaves the brackets of an IPv6 address on. */
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof bare)
        return BENCH_HOST_UNKNOWN;
    memcpy(bare, host, len);
    bare[len] = '\0';
    if (getaddrinfo(bare, NULL, &wish, &addresses) != 0)
        return BENCH_HOST_UNKNOWN;
    const enum bench_host worst = worst_of(addresses);
    freeaddrinfo(addresses);
    return worst;
}

/* NULL if the URL has no such part; curl_free it. */
static char *part_of(const char *url, CURLUPart part)
{
    CURLU *const parser = curl_url();
    char *text = NULL;
    if (parser != NULL && curl_url_set(parser, CURLUPART_URL, url, 0) == CURLUE_OK)
        (void)curl_url_get(parser, part, &text, CURLU_DEFAULT_PORT);
    curl_url_cleanup(parser);
    return text;
}

enum bench_host bench_guard_host(const char *url)
{
    if (strncmp(url, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
        return BENCH_HOST_LOOPBACK;
    char *const host = part_of(url, CURLUPART_HOST);
    const enum bench_host result = host == NULL ? BENCH_HOST_UNKNOWN : look_up(host);
    curl_free(host);
    return result;
}

static bool is_at_most(const struct sockaddr *address, enum bench_host most)
{
    struct http_address peer;
    if (address->sa_family == AF_UNIX)
        return true;
    return http_peer_from_socket(&peer, address) && host_of(&peer) <= most;
}

static bool is_loopback(const struct sockaddr *address)
{
    return is_at_most(address, BENCH_HOST_LOOPBACK);
}

static bool is_private(const struct sockaddr *address)
{
    return is_at_most(address, BENCH_HOST_PRIVATE);
}

bench_guard_rule *bench_guard_rule_for(enum bench_host host, bool is_owned)
{
    if (host == BENCH_HOST_PUBLIC)
        return NULL;
    return host == BENCH_HOST_LOOPBACK && !is_owned ? is_loopback : is_private;
}

bool bench_guard_same(const char *url, const char *other)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
    bool is_same = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *const left = part_of(url, parts[i]);
        char *const right = part_of(other, parts[i]);
        is_same = is_same && left != NULL && right != NULL &&
                  slice_equals_nocase(slice_from(left), slice_from(right));
        curl_free(left);
        curl_free(right);
    }
    return is_same;
}

const char *bench_guard_refusal(enum bench_host host, bool is_configured, bool is_owned,
                                double rate)
{
    if (host == BENCH_HOST_UNKNOWN)
        return "has no address";
    if (host == BENCH_HOST_LOOPBACK || is_owned)
        return NULL;
    if (host == BENCH_HOST_PUBLIC && !is_configured)
        return "is neither this machine nor private,\nnor the gateway of SOLVEGATE_URL or the "
               "configured vendor; if it is yours, say\n--i-own-this-host";
    if (rate > BENCH_REMOTE_RATE_MAX)
        return "is another machine,\nand more than 100 requests a second need --i-own-this-host";
    return NULL;
}

double bench_guard_pace(enum bench_host host, bool is_owned)
{
    return host == BENCH_HOST_LOOPBACK || is_owned ? 0 : BENCH_REMOTE_RATE_MAX;
}
