#include "config/config_store.h"

#include "base/ascii.h"
#include "config/config_values.h"
#include "proto/address.h"

/* ---- values -------------------------------------------------------------------------------- */

/* RFC 3986 section 3.1. */
static size_t scheme_len(struct slice text)
{
    size_t len = 0;
    while (len < text.len && (ascii_is_alnum(text.data[len]) ||
                              (text.data[len] != '\0' && strchr("+-.", text.data[len]) != NULL)))
        len++;
    return len < text.len && text.data[len] == ':' ? len : 0;
}

bool value_parse_store(struct slice text, void *out)
{
    const size_t len = scheme_len(text);
    return len > 0 && len + 1 < text.len && value_parse_visible(text, out);
}

bool value_parse_prefix(struct slice text, void *out)
{
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.data[i]) && text.data[i] != '_')
            return false;
    return text.len > 0 && text.len <= STORE_PREFIX_MAX && value_parse_text(text, out);
}

bool config_place(const struct config *config, struct buf *url, struct store_place *place)
{
    *place = config->store;
    if (!config->cluster_enabled)
        place->node = NULL;
    if (config->store.url != NULL || config->data_dir == NULL)
        return config->store.url != NULL;
    buf_add(url, SLICE_OF("sqlite:"));
    buf_add(url, slice_from(config->data_dir));
    buf_add_char(url, '\0');
    place->url = url->data;
    return true;
}

/* ---- the way to the server ----------------------------------------------------------------- */

/* True for a socket, and for a name or an address that only this machine has. */
static bool is_local(struct slice host)
{
    if (host.len == 0 || host.data[0] == '/' || host.data[0] == '@' ||
        slice_equals_nocase((struct slice){host.data, host.len < 3 ? host.len : 3},
                            SLICE_OF("%2f")) ||
        slice_equals_nocase(host, SLICE_OF("localhost")))
        return true;
    uint8_t address[ADDRESS_BYTES];
    return (address_parse_v4(host, address) || address_parse_v6(host, address)) &&
           address_is_loopback(address);
}

/* Without port and brackets. */
static struct slice host_of(struct slice server)
{
    if (server.len == 0 || server.data[0] != '[')
        return slice_take(&server, ':');
    (void)slice_take(&server, '[');
    return slice_take(&server, ']');
}

/* PostgreSQL's URLs may name several servers. */
static bool are_local(struct slice servers)
{
    bool are = true;
    do
        are = is_local(host_of(slice_take(&servers, ','))) && are;
    while (servers.len > 0);
    return are;
}

/* The parts of "scheme://user:password@servers/path?query". */
struct parts {
    struct slice scheme, servers, query;
};

static struct parts parts_of(const char *url)
{
    struct slice rest = slice_from(url);
    struct parts parts = {.scheme = slice_take(&rest, ':')};
    if (!slice_starts_with(rest, SLICE_OF("//")))
        return parts;
    parts.query = slice_skip(rest, 2);
    struct slice before = slice_take(&parts.query, '?');
    parts.servers = slice_take(&before, '/');
    for (size_t i = parts.servers.len; i > 0; i--)
        if (parts.servers.data[i - 1] == '@') {
            parts.servers = slice_skip(parts.servers, i);
            break;
        }
    return parts;
}

static struct slice parameter(struct slice query, struct slice name)
{
    struct slice found = SLICE_NONE;
    while (query.len > 0) {
        struct slice value = slice_take(&query, '&');
        if (slice_equals(slice_take(&value, '='), name))
            found = value;
    }
    return found;
}

static bool is_scheme(const struct parts *parts, const char *a, const char *b)
{
    return slice_equals_nocase(parts->scheme, slice_from(a)) ||
           slice_equals_nocase(parts->scheme, slice_from(b));
}

const char *config_store_warning(const struct config *config)
{
    if (config->store.url == NULL)
        return NULL;
    const struct parts parts = parts_of(config->store.url);
    if (is_scheme(&parts, "redis", "valkey") && !are_local(parts.servers))
        return "the store is on another machine and reached without TLS: its password and the "
               "solutions travel readable; rediss:// encrypts them";
    if (!is_scheme(&parts, "postgresql", "postgres"))
        return NULL;
    const struct slice host = parameter(parts.query, SLICE_OF("host"));
    const struct slice mode = parameter(parts.query, SLICE_OF("sslmode"));
    /* With certificates to trust, the driver verifies the server unless the URL says otherwise. */
    const bool is_verified = slice_is_given(mode) ? slice_equals(mode, SLICE_OF("verify-full"))
                                                  : config->store.ca_file != NULL;
    if (is_verified || are_local(slice_is_given(host) ? host : parts.servers))
        return NULL;
    return "the store is on another machine and nothing proves that it is the right one: "
           "?sslmode=verify-full checks its certificate";
}
