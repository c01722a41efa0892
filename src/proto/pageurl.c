#include "proto/pageurl.h"

#include "base/ascii.h"

#define HTTPS SLICE_OF("https://")
#define HTTP SLICE_OF("http://")

struct parts {
    size_t scheme_len; /* with "://" */
    size_t host_len;
    size_t port_len; /* with the colon; 0 without */
    size_t end;      /* where the fragment begins, or the end */
    bool is_lower;   /* scheme and host */
    bool is_default_port;
};

static bool is_host_char(char c)
{
    return ascii_is_alnum(c) || c == '.' || c == '-' || c == '_';
}

/* The length of "http://" or "https://" in any case, or 0. */
static size_t scheme_length(struct slice url)
{
    const struct slice schemes[] = {HTTPS, HTTP};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (url.len > schemes[i].len &&
            slice_equals_nocase((struct slice){url.data, schemes[i].len}, schemes[i]))
            return schemes[i].len;
    return 0;
}

static bool split_host(struct slice url, struct parts *parts)
{
    parts->scheme_len = scheme_length(url);
    if (parts->scheme_len == 0)
        return false;
    bool has_upper = false;
    for (size_t i = 0; i < parts->scheme_len; i++)
        has_upper |= ascii_is_upper(url.data[i]);
    size_t at = parts->scheme_len;
    for (; at < url.len && is_host_char(url.data[at]); at++)
        has_upper |= ascii_is_upper(url.data[at]);
    parts->host_len = at - parts->scheme_len;
    parts->is_lower = !has_upper;
    return parts->host_len > 0;
}

/* An empty port is the default one (RFC 3986 6.2.3); 0443 is left to a real parser. */
static bool split_port(struct slice url, struct parts *parts)
{
    const size_t start = parts->scheme_len + parts->host_len;
    parts->port_len = 0;
    parts->is_default_port = false;
    if (start == url.len || url.data[start] != ':')
        return true;
    size_t at = start + 1;
    while (at < url.len && url.data[at] >= '0' && url.data[at] <= '9')
        at++;
    parts->port_len = at - start;
    const struct slice port = {url.data + start + 1, parts->port_len - 1};
    if (port.len > 5 || (port.len > 0 && port.data[0] == '0'))
        return false;
    const struct slice usual = parts->scheme_len == HTTPS.len ? SLICE_OF("443") : SLICE_OF("80");
    parts->is_default_port = port.len == 0 || slice_equals(port, usual);
    return true;
}

/* Path and query are unchanged, up to the fragment; a URL with blanks or control bytes is refused. */
static bool split_rest(struct slice url, struct parts *parts)
{
    size_t at = parts->scheme_len + parts->host_len + parts->port_len;
    if (at < url.len && url.data[at] != '/' && url.data[at] != '?' && url.data[at] != '#')
        return false;
    for (; at < url.len && url.data[at] != '#'; at++)
        if ((unsigned char)url.data[at] <= ' ' || url.data[at] == 0x7f)
            return false;
    parts->end = at;
    for (; at < url.len; at++)
        if ((unsigned char)url.data[at] <= ' ' || url.data[at] == 0x7f)
            return false;
    return true;
}

bool pageurl_normalize(struct slice url, char *out, struct slice *normal)
{
    struct parts parts;
    if (!split_host(url, &parts) || !split_port(url, &parts) || !split_rest(url, &parts))
        return false;
    if (parts.is_lower && !parts.is_default_port) {
        *normal = (struct slice){.data = url.data, .len = parts.end};
        return true;
    }
    size_t len = 0;
    for (; len < parts.scheme_len + parts.host_len; len++)
        out[len] = ascii_lower(url.data[len]);
    const size_t from = len + (parts.is_default_port ? parts.port_len : 0);
    memcpy(out + len, url.data + from, parts.end - from);
    *normal = (struct slice){.data = out, .len = len + parts.end - from};
    return true;
}

struct slice pageurl_find_host(struct slice url)
{
    struct parts parts;
    if (!split_host(url, &parts) || !split_port(url, &parts) || !split_rest(url, &parts) ||
        parts.host_len > PAGEURL_HOST_MAX)
        return SLICE_NONE;
    return (struct slice){.data = url.data + parts.scheme_len, .len = parts.host_len};
}

size_t pageurl_host(struct slice url, char out[PAGEURL_HOST_MAX])
{
    const struct slice host = pageurl_find_host(url);
    for (size_t i = 0; i < host.len; i++)
        out[i] = ascii_lower(host.data[i]);
    return host.len;
}

bool pageurl_is_name(struct slice name)
{
    /* All of these are checked, because one may be set where another is missing. */
    static const struct slice names[] = {SLICE_INIT("pageurl"), SLICE_INIT("url"),
                                         SLICE_INIT("websiteurl"), SLICE_INIT("website_url")};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (slice_equals_nocase(name, names[i]))
            return true;
    return false;
}
