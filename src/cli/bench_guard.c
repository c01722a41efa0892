#include "cli/bench_guard.h"

#include "http/http_peer.h"
#include "proto/address_public.h"

#include <curl/curl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#define UNIX_PREFIX "unix:"

static enum bench_host worst_of(const struct addrinfo *addresses)
{
    enum bench_host worst = BENCH_HOST_UNKNOWN;
    for (const struct addrinfo *at = addresses; at != NULL; at = at->ai_next) {
        struct http_address peer;
        if (!http_peer_from_socket(&peer, at->ai_addr))
            continue;
        if (address_is_public(peer.bytes))
            return BENCH_HOST_PUBLIC;
        if (!address_is_loopback(peer.bytes))
            worst = BENCH_HOST_PRIVATE;
        else if (worst == BENCH_HOST_UNKNOWN)
            worst = BENCH_HOST_LOOPBACK;
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

bool bench_guard_is_private(const struct sockaddr *address)
{
    struct http_address peer;
    if (address->sa_family == AF_UNIX)
        return true;
    return http_peer_from_socket(&peer, address) && !address_is_public(peer.bytes);
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
        return "is on the public internet and neither the gateway of SOLVEGATE_URL nor the "
               "configured vendor; if it is yours, say --i-own-this-host";
    if (rate > BENCH_REMOTE_RATE_MAX)
        return "is another machine, and more than 100 requests a second need --i-own-this-host";
    return NULL;
}

double bench_guard_pace(enum bench_host host, bool is_owned)
{
    return host == BENCH_HOST_LOOPBACK || is_owned ? 0 : BENCH_REMOTE_RATE_MAX;
}
