#include "upstream/upstream_url.h"

#include "proto/vendor.h"

#include "base/assert.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_part(CURLU *parsed, CURLUPart part)
{
    char *text = NULL;
    const bool is_there = curl_url_get(parsed, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return is_there;
}

/* libcurl normalises numeric IPv4 addresses and resolves "localhost" without a name server. */
static bool is_loopback(const char *host)
{
    struct in_addr address;
    if (slice_equals_nocase(slice_from(host), SLICE_OF("localhost")) || strcmp(host, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* Parsed once here, as each call would take a tenth of its instructions for that. NULL if it is no URL. */
static CURLU *join(const char *base, const char *path)
{
    const size_t room = strlen(base) + strlen(path) + 1;
    char *joined = malloc(room);
    CURLU *parsed = curl_url();
    ASSERT(joined != NULL && parsed != NULL);
    (void)snprintf(joined, room, "%s%s", base, path);
    const CURLUcode failed = curl_url_set(parsed, CURLUPART_URL, joined, 0);
    free(joined);
    if (failed == CURLUE_OK)
        return parsed;
    curl_url_cleanup(parsed);
    return NULL;
}

static bool join_both(struct upstream_url *url, const char *base,
                      const struct vendor_protocol *protocol)
{
    url->submit = join(base, protocol->submit_path);
    url->query = join(base, protocol->query_path);
    if (url->submit != NULL && url->query != NULL)
        return true;
    curl_url_cleanup(url->submit);
    curl_url_cleanup(url->query);
    return false;
}

/* The mistake in the address, or NULL. */
static const char *judge(CURLU *parsed, const char *scheme, const char *host, bool allow_plain_http)
{
    if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)
        return "it must begin with https://";
    if (has_part(parsed, CURLUPART_USER) || has_part(parsed, CURLUPART_PASSWORD))
        return "it must not hold a user name or password";
    if (has_part(parsed, CURLUPART_QUERY) || has_part(parsed, CURLUPART_FRAGMENT))
        return "it must end before any ? or #";
    if (strcmp(scheme, "http") == 0 && !is_loopback(host) && !allow_plain_http)
        return "plain http would show the key to everybody on the way; use https, or set "
               "upstream.allow_plain_http";
    return NULL;
}

int upstream_url_read(struct upstream_url *url, const char *text,
                      const struct vendor_protocol *protocol, bool allow_plain_http,
                      struct buf *mistake)
{
    CURLU *parsed = curl_url();
    ASSERT(parsed != NULL);
    char *scheme = NULL;
    char *host = NULL;
    const char *wrong = "it is no URL";
    if (curl_url_set(parsed, CURLUPART_URL, text, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
        wrong = judge(parsed, scheme, host, allow_plain_http);
    if (wrong == NULL && !join_both(url, text, protocol))
        wrong = "it is no URL";
    if (wrong == NULL) {
        const bool is_plain = strcmp(scheme, "http") == 0;
        url->scheme = is_plain ? "http" : "https";
        url->must_be_loopback = is_plain && !allow_plain_http;
    } else {
        buf_addf(mistake, "upstream.url: %s", wrong);
    }
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parsed);
    return wrong == NULL ? 0 : ERR_INVALID;
}
