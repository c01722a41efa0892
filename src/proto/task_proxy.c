/* The proxy of a task, which clients write in five members or in one, as in.php's proxy and
 * proxytype. */
#include "proto/task_proxy.h"

#define PIECES_MAX 5
#define TYPE_MAX 8

/* Pieces of proxy=[login:password@]address:port. */
struct proxy {
    struct slice type, address, port, login, password;
};

static bool is_type(struct slice word)
{
    static const struct slice types[] = {
        {"http", 4}, {"https", 5}, {"socks4", 6}, {"socks5", 6}, {"socks5h", 7}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (slice_equals_nocase(word, types[i]))
            return true;
    return false;
}

/* The vendor's words are in capitals, and its clients send them so. */
static int put_type(struct task_work *work, struct slice type)
{
    char upper[TYPE_MAX];
    if (type.len == 0 || type.len > TYPE_MAX)
        return task_put(work, "proxytype", type);
    for (size_t i = 0; i < type.len; i++) {
        const char c = type.data[i];
        upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return task_put(work, "proxytype", (struct slice){.data = upper, .len = type.len});
}

static int put_proxy(struct task_work *work, const struct proxy *proxy)
{
    const bool has_login = proxy->login.len > 0;
    const struct slice none = SLICE_OF("");
    const struct slice pieces[] = {
        has_login ? proxy->login : none,
        has_login ? SLICE_OF(":") : none,
        has_login ? proxy->password : none,
        has_login ? SLICE_OF("@") : none,
        proxy->address,
        proxy->port.len > 0 ? SLICE_OF(":") : none,
        proxy->port,
    };
    const int code = task_put_joined(work, "proxy", pieces, sizeof pieces / sizeof pieces[0]);
    return code != 0 ? code : put_type(work, proxy->type);
}

/* ---- one member -------------------------------------------------------------------------- */

/* A URL, or login:password@host:port, is in.php's form after its scheme. */
static void read_url(struct slice text, struct proxy *proxy)
{
    const char *const scheme = memmem(text.data, text.len, "://", 3);
    if (scheme != NULL) {
        const size_t len = (size_t)(scheme - text.data);
        proxy->type = (struct slice){.data = text.data, .len = len};
        text = (struct slice){.data = scheme + 3, .len = text.len - len - 3};
    }
    while (text.len > 0 && text.data[text.len - 1] == '/')
        text.len--;
    proxy->address = text;
}

/* [type:]host:port[:user:password] */
static void read_pieces(struct slice text, struct proxy *proxy)
{
    struct slice rest = text;
    struct slice first = slice_take(&rest, ':');
    if (is_type(first)) {
        proxy->type = first;
        first = slice_take(&rest, ':');
    }
    proxy->address = first;
    proxy->port = slice_take(&rest, ':');
    proxy->login = slice_take(&rest, ':');
    proxy->password = rest;
}

static void read_one(struct slice text, struct proxy *proxy)
{
    const bool is_url =
        memchr(text.data, '@', text.len) != NULL || memmem(text.data, text.len, "://", 3) != NULL;
    if (is_url)
        read_url(text, proxy);
    else
        read_pieces(text, proxy);
}

/* ---- members ----------------------------------------------------------------------------- */

static int read_members(struct task_work *work, struct proxy *proxy)
{
    const struct {
        const char *name;
        struct slice *value;
    } members[] = {
        {"proxyType", &proxy->type},         {"proxyAddress", &proxy->address},
        {"proxyPort", &proxy->port},         {"proxyLogin", &proxy->login},
        {"proxyPassword", &proxy->password},
    };
    _Static_assert(sizeof members / sizeof members[0] == PIECES_MAX, "all of them");
    int code = 0;
    for (size_t i = 0; code == 0 && i < PIECES_MAX; i++)
        code = task_member_text(work, members[i].name, members[i].value);
    return code;
}

int task_put_proxy(struct task_work *work)
{
    struct proxy proxy;
    struct slice one;
    int code = read_members(work, &proxy);
    if (code == 0)
        code = task_member_text(work, "proxy", &one);
    if (code != 0 || work->is_proxyless)
        return code;
    if (proxy.address.len == 0 && one.len > 0)
        read_one(one, &proxy);
    return proxy.address.len == 0 ? 0 : put_proxy(work, &proxy);
}
