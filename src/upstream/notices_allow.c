#include "upstream/notices_allow.h"

#include "proto/address.h"
#include "upstream/notices.h"
#include "upstream/url.h"

#include <curl/curl.h>

/* Allows visible ASCII except the backslash: parsers disagree about which other bytes are a blank,
 * a dot or a slash, and all of them can be written as %XX. */
static bool is_plain(struct slice url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.data[i] < '!' || url.data[i] > '~' || url.data[i] == '\\')
            return false;
    return true;
}

/* The "host:port" after "http://" or "https://", else not given. libcurl also accepts fewer or more
 * slashes, but other parsers would then read another host. */
static struct slice authority_of(struct slice url)
{
    static const struct slice schemes[] = {SLICE_INIT("http://"), SLICE_INIT("https://")};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t start = schemes[i].len;
        if (url.len <= start ||
            !slice_equals_nocase((struct slice){.data = url.data, .len = start}, schemes[i]))
            continue;
        size_t end = start;
        while (end < url.len && strchr("/?#", url.data[end]) == NULL)
            end++;
        return (struct slice){.data = url.data + start, .len = end - start};
    }
    return SLICE_NONE;
}

/* The port that libcurl would connect to; 0 if libcurl cannot parse the URL. */
static uint16_t port_of(struct slice url)
{
    char text[NOTICE_URL_MAX + 1];
    memcpy(text, url.data, url.len);
    text[url.len] = '\0';
    CURLU *parsed = curl_url();
    char *digits = NULL;
    unsigned long long port = 0;
    if (parsed != NULL &&
        curl_url_set(parsed, CURLUPART_URL, text, CURLU_PATH_AS_IS) == CURLUE_OK &&
        curl_url_get(parsed, CURLUPART_PORT, &digits, CURLU_DEFAULT_PORT) == CURLUE_OK)
        (void)slice_to_u64(slice_from(digits), &port);
    curl_free(digits);
    curl_url_cleanup(parsed);
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* The mistake in a URL that no configuration allows, or NULL. */
static const char *judge_form(struct slice url)
{
    if (url.len == 0 || url.len > NOTICE_URL_MAX)
        return "it must have 1 to 2048 bytes";
    if (!is_plain(url))
        return "it holds a blank, a backslash, a control character or a byte that is not ASCII";
    const struct slice authority = authority_of(url);
    if (authority.len == 0)
        return "it must begin with http:// or https:// and a host";
    if (memchr(authority.data, '@', authority.len) != NULL)
        return "it must not hold a user name or password";
    if (memchr(url.data, '#', url.len) != NULL)
        return "it must end before any #";
    return NULL;
}
_Static_assert(NOTICE_URL_MAX == 2048, "the text above says so");

static bool is_allowed(const struct notices_options *options, struct slice host, uint16_t port)
{
    for (size_t i = 0; i < options->allow_count; i++) {
        const struct notice_host *allow = &options->allow[i];
        const bool is_port = allow->port == 0 ? port == 80 || port == 443 : port == allow->port;
        if (is_port && address_host_matches(allow->host, host))
            return true;
    }
    return false;
}

bool notices_allows(const struct notices_options *options, struct slice url, const char **why)
{
    *why = judge_form(url);
    if (*why != NULL)
        return false;
    char host[NOTICE_URL_MAX];
    const long host_len = url_host(url, host, sizeof host);
    const uint16_t port = port_of(url);
    if (host_len <= 0 || port == 0)
        *why = "it is no URL";
    else if (!is_allowed(options, (struct slice){.data = host, .len = (size_t)host_len}, port))
        *why = "its host and port are not in callbacks.allow";
    return *why == NULL;
}
