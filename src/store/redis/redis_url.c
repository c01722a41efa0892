#include "store/redis/redis_url.h"

#include "base/assert.h"

#include <sodium.h>
#include <stdio.h>

#define PORT_USUAL 6379
#define DB_MAX 65535
/* Longer than any that a server accepts in practice. */
#define SECRET_MAX 4096

const char *const redis_url_schemes[] = {"redis",      "rediss",      "valkey", "valkeys",
                                         "redis+unix", "valkey+unix", "unix",   NULL};

#define SHAPE "write it as redis://user:password@host:6379/0"
#define UNIX_SHAPE "write it as redis+unix://user:password@/path/of/the.sock?db=0"

static bool refuse(struct buf *mistake, const char *why)
{
    buf_addf(mistake, "the store's URL %s", why);
    return false;
}

/* The part before a character, which is cut off together with it; everything if it does not occur. */
static struct slice cut(struct slice *text, char at)
{
    const char *const found = text->len == 0 ? NULL : memchr(text->data, at, text->len);
    const size_t len = found == NULL ? text->len : (size_t)(found - text->data);
    const struct slice before = {.data = text->data, .len = len};
    const size_t gone = found == NULL ? len : len + 1;
    *text = (struct slice){.data = text->data + gone, .len = text->len - gone};
    return before;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes; false if it is malformed, has a NUL or does not fit. */
static bool decode(struct slice text, char *out, size_t room)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++, len++) {
        char c = text.data[i];
        if (c == '%') {
            const int high = i + 2 < text.len ? hex_digit(text.data[i + 1]) : -1;
            const int low = i + 2 < text.len ? hex_digit(text.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0' || len + 1 >= room)
            return false;
        out[len] = c;
    }
    out[len] = '\0';
    return true;
}

/* The library keeps its memory out of core files and wipes it. */
static char *decode_secret(struct slice text)
{
    if (text.len >= SECRET_MAX || sodium_init() < 0)
        return NULL;
    char *const secret = sodium_malloc(text.len + 1);
    ASSERT(secret != NULL);
    if (decode(text, secret, text.len + 1))
        return secret;
    sodium_free(secret);
    return NULL;
}

static bool read_number(struct slice text, uint32_t max, uint32_t *number)
{
    unsigned long long value;
    if (!slice_to_u64(text, &value) || value > max)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* "user:password", ":password" or nothing. */
static bool read_identity(struct slice text, struct redis_url *url, struct buf *mistake)
{
    const bool has_password = memchr(text.data, ':', text.len) != NULL;
    const struct slice user = cut(&text, ':');
    if (!has_password)
        return refuse(mistake, "names a user without a password; " SHAPE);
    if (user.len > 0)
        url->user = decode_secret(user);
    url->password = decode_secret(text);
    if (url->password == NULL || (user.len > 0 && url->user == NULL))
        return refuse(mistake, "has a user or password that is not percent-encoded properly");
    return true;
}

static bool read_host(struct slice text, struct redis_url *url, struct buf *mistake)
{
    struct slice host;
    uint32_t port = PORT_USUAL;
    if (text.len > 0 && text.data[0] == '[') {
        if (memchr(text.data, ']', text.len) == NULL)
            return refuse(mistake, "has a host in brackets whose second one is missing; write it "
                                   "as redis://[::1]:6379/0");
        (void)cut(&text, '[');
        host = cut(&text, ']');
        if (text.len > 0 && cut(&text, ':').len > 0)
            return refuse(mistake, "has something between the host's brackets and its port");
    } else {
        host = cut(&text, ':');
    }
    if (text.len > 0 && (!read_number(text, UINT16_MAX, &port) || port == 0))
        return refuse(mistake, "has a port that is not a number from 1 to 65535; " SHAPE);
    if (host.len == 0)
        return refuse(mistake, "names no host; " SHAPE ", or " UNIX_SHAPE);
    url->port = (uint16_t)port;
    if (memchr(host.data, ',', host.len) != NULL)
        return refuse(mistake, "names several hosts; name the master alone, or a name that always "
                               "leads to it; " SHAPE);
    if (!decode(host, url->host, sizeof url->host) || strpbrk(url->host, "/?#@ \\%") != NULL)
        return refuse(mistake, "has a host that is too long or no name; " SHAPE);
    return true;
}

/* "db=N" is the only setting. */
static bool read_query(struct slice text, struct redis_url *url, struct buf *mistake)
{
    while (text.len > 0) {
        struct slice value = cut(&text, '&');
        const struct slice name = cut(&value, '=');
        if (!slice_equals(name, SLICE_OF("db")) || !read_number(value, DB_MAX, &url->db))
            return refuse(mistake, "may only have ?db=N, with a number, behind its question mark");
    }
    return true;
}

static bool read_socket(struct slice text, struct redis_url *url, struct buf *mistake)
{
    if (text.len == 0 || !decode(text, url->path, sizeof url->path))
        return refuse(mistake,
                      "has no path of a socket, or one of more than 107 bytes; " UNIX_SHAPE);
    return true;
}

static bool read_server(struct slice authority, struct slice path, struct redis_url *url,
                        struct buf *mistake)
{
    if (!read_host(authority, url, mistake))
        return false;
    if (path.len > 0 && path.data[0] == '/')
        (void)cut(&path, '/');
    if (path.len > 0 && !read_number(path, DB_MAX, &url->db))
        return refuse(mistake, "has a database that is not a number; " SHAPE);
    return true;
}

/* The bytes up to the last @, which a password may contain as well. */
static bool take_identity(struct slice *authority, struct redis_url *url, struct buf *mistake)
{
    const char *const at = memrchr(authority->data, '@', authority->len);
    if (at == NULL)
        return true;
    const size_t len = (size_t)(at - authority->data);
    const struct slice identity = {.data = authority->data, .len = len};
    *authority = (struct slice){.data = at + 1, .len = authority->len - len - 1};
    return read_identity(identity, url, mistake);
}

bool redis_url_read(const char *text, struct redis_url *url, struct buf *mistake)
{
    *url = (struct redis_url){.port = PORT_USUAL};
    struct slice rest = slice_from(text);
    const struct slice scheme = cut(&rest, ':');
    const bool is_socket = scheme.len >= 4 && memcmp(scheme.data + scheme.len - 4, "unix", 4) == 0;
    url->is_tls = slice_equals_nocase(scheme, SLICE_OF("rediss")) ||
                  slice_equals_nocase(scheme, SLICE_OF("valkeys"));
    if (!slice_starts_with(rest, SLICE_OF("//")))
        return refuse(mistake,
                      is_socket ? "lacks its slashes; " UNIX_SHAPE : "lacks its slashes; " SHAPE);
    rest = (struct slice){.data = rest.data + 2, .len = rest.len - 2};
    struct slice place = cut(&rest, '?');
    const char *const slash = memchr(place.data, '/', place.len);
    struct slice authority = place;
    if (slash != NULL)
        authority.len = (size_t)(slash - place.data);
    const struct slice path = {.data = place.data + authority.len,
                               .len = place.len - authority.len};
    if (memchr(path.data, '@', path.len) != NULL || memchr(rest.data, '@', rest.len) != NULL)
        return refuse(mistake,
                      "has an @ behind its first slash or question mark; write / as %2F and "
                      "? as %3F in a password");
    if (!take_identity(&authority, url, mistake) || !read_query(rest, url, mistake))
        return false;
    if (!is_socket)
        return read_server(authority, path, url, mistake);
    if (authority.len > 0)
        return refuse(mistake, "has a host before the socket's path; " UNIX_SHAPE);
    return read_socket(path, url, mistake);
}

void redis_url_close(struct redis_url *url)
{
    sodium_free(url->user);
    sodium_free(url->password);
    *url = (struct redis_url){.port = 0};
}

void redis_url_place(const struct redis_url *url, char *place, size_t room)
{
    const bool is_v6 = strchr(url->host, ':') != NULL;
    if (url->path[0] != '\0')
        (void)snprintf(place, room, "%s", url->path);
    else
        (void)snprintf(place, room, is_v6 ? "[%s]:%u" : "%s:%u", url->host, url->port);
}
