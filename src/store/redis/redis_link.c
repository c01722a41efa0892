#include "store/redis/redis_link.h"

#include "base/assert.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define MS_NS UINT64_C(1000000)
/* 64 KB a second. */
#define LEAST_BYTES_A_MS 64
#define RECEIVE_BYTES 65536

struct redis_link {
    CURL *curl; /* owned */
    curl_socket_t socket;
    bool has_greeted;            /* TCP is connected, and TLS has begun */
    bool may_want_tls;           /* it was not offered, and nothing was answered yet */
    struct redis_reader *reader; /* owned */
    char why[CURL_ERROR_SIZE];
    char bytes[RECEIVE_BYTES];
};

static void add_url(const struct redis_url *url, char *text, size_t room)
{
    char place[REDIS_URL_HOST_MAX + 16];
    redis_url_place(url, place, sizeof place);
    (void)snprintf(text, room, "%s://%s", url->is_tls ? "https" : "http",
                   url->path[0] != '\0' ? "localhost" : place);
}

/* Called when TLS begins; no other sign of that is left after a timeout. */
static CURLcode on_tls(CURL *curl, void *context, void *link)
{
    (void)curl;
    (void)context;
    ((struct redis_link *)link)->has_greeted = true;
    return CURLE_OK;
}

/* libcurl resolves, connects, and verifies the certificate; it sends nothing of its own. */
static void configure(struct redis_link *link, const struct redis_url *url, const char *ca_file,
                      unsigned wait_ms)
{
    char text[REDIS_URL_HOST_MAX + 32];
    CURL *const curl = link->curl;
    add_url(url, text, sizeof text);
    (void)curl_easy_setopt(curl, CURLOPT_URL, text);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)wait_ms);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)wait_ms);
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, link->why);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_tls);
    (void)curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, link);
    if (url->path[0] != '\0')
        (void)curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, url->path);
    if (ca_file != NULL) {
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file);
        (void)curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }
}

/* What libcurl says, or better words where it speaks of HTTP's ports and of its own clocks. */
static void explain(struct redis_link *link, const struct redis_url *url, CURLcode code, char *why,
                    size_t room)
{
    long error = 0;
    (void)curl_easy_getinfo(link->curl, CURLINFO_OS_ERRNO, &error);
    if (url->path[0] != '\0' && code == CURLE_COULDNT_CONNECT && error != 0)
        (void)snprintf(why, room, "%s", strerror((int)error));
    else if (link->has_greeted && code == CURLE_OPERATION_TIMEDOUT)
        (void)snprintf(why, room,
                       "it takes connections, but does not answer to TLS: name its tls-port, or "
                       "write redis:// if it has none");
    else
        (void)snprintf(why, room, "%s",
                       link->why[0] == '\0' ? curl_easy_strerror(code) : link->why);
}

struct redis_link *redis_link_open(const struct redis_url *url, const char *ca_file,
                                   unsigned wait_ms, char *why, size_t room)
{
    struct redis_link *const link = calloc(1, sizeof *link);
    ASSERT(link != NULL);
    link->curl = curl_easy_init();
    ASSERT(link->curl != NULL);
    link->reader = redis_reader_new();
    link->may_want_tls = !url->is_tls && url->path[0] == '\0';
    configure(link, url, ca_file, wait_ms);
    CURLcode code = curl_easy_perform(link->curl);
    if (code == CURLE_OK)
        code = curl_easy_getinfo(link->curl, CURLINFO_ACTIVESOCKET, &link->socket);
    if (code == CURLE_OK && link->socket != CURL_SOCKET_BAD)
        return link;
    explain(link, url, code, why, room);
    redis_link_close(link);
    return NULL;
}

void redis_link_close(struct redis_link *link)
{
    if (link == NULL)
        return;
    curl_easy_cleanup(link->curl);
    redis_reader_free(link->reader);
    free(link);
}

const char *redis_link_why(const struct redis_link *link)
{
    return link->why;
}

static bool fail(struct redis_link *link, const char *why)
{
    (void)snprintf(link->why, sizeof link->why, "%s", why);
    return false;
}

/* How long to wait: for every byte, and for all of them together. */
struct patience {
    uint64_t wait_ns;
    uint64_t silent_until; /* nothing has been carried since it was set */
    uint64_t slow_until;
};

static struct patience patience_of(unsigned wait_ms)
{
    const uint64_t wait_ns = wait_ms * MS_NS;
    const uint64_t until = uv_hrtime() + wait_ns;
    return (struct patience){.wait_ns = wait_ns, .silent_until = until, .slow_until = until};
}

/* A connection that carries bytes may take longer, one that trickles may not. Bytes that only the kernel took make
 * nobody wait longer for a server that reads none of them. */
static void patience_renew(struct patience *patience, size_t bytes)
{
    if (bytes == 0)
        return;
    patience->silent_until = uv_hrtime() + patience->wait_ns;
    patience->slow_until += bytes * MS_NS / LEAST_BYTES_A_MS;
}

/* Until the socket is ready for that; false at the deadline. */
static bool wait_for(struct redis_link *link, short events, const struct patience *patience)
{
    struct pollfd entry = {.fd = link->socket, .events = events};
    const uint64_t deadline = patience->silent_until < patience->slow_until ? patience->silent_until
                                                                            : patience->slow_until;
    for (;;) {
        const uint64_t now = uv_hrtime();
        if (now >= deadline)
            return fail(link, "it does not answer");
        const uint64_t rest_ms = (deadline - now) / MS_NS + 1;
        const int count = poll(&entry, 1, (int)rest_ms);
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return fail(link, strerror(errno));
    }
}

bool redis_link_send(struct redis_link *link, struct slice bytes, unsigned wait_ms)
{
    struct patience patience = patience_of(wait_ms);
    while (bytes.len > 0) {
        size_t sent = 0;
        const CURLcode code = curl_easy_send(link->curl, bytes.data, bytes.len, &sent);
        bytes = (struct slice){.data = bytes.data + sent, .len = bytes.len - sent};
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return fail(link, "the connection was lost");
        patience_renew(&patience, sent);
        if (code == CURLE_AGAIN && !wait_for(link, POLLOUT, &patience))
            return false;
    }
    return true;
}

/* TLS may have decrypted bytes already that no poll() would tell of, so it is asked first. */
static bool receive_some(struct redis_link *link, struct patience *patience)
{
    size_t len = 0;
    CURLcode code;
    while ((code = curl_easy_recv(link->curl, link->bytes, RECEIVE_BYTES, &len)) == CURLE_AGAIN)
        if (!wait_for(link, POLLIN, patience))
            return false;
    if (code != CURLE_OK || len == 0)
        return fail(link, link->may_want_tls ? "it ends the connection without an answer; if it "
                                               "wants TLS, write rediss://"
                                             : "the connection was lost");
    link->may_want_tls = false;
    patience_renew(patience, len);
    return redis_reader_feed(link->reader, link->bytes, len) ||
           fail(link, "it sent a reply without end");
}

struct redis_reply *redis_link_receive(struct redis_link *link, unsigned wait_ms)
{
    struct redis_reply *reply = NULL;
    struct patience patience = patience_of(wait_ms);
    enum reading reading;
    while ((reading = redis_reader_next(link->reader, &reply)) == READING_MORE)
        if (!receive_some(link, &patience))
            return NULL;
    if (reading == READING_BAD)
        (void)fail(link,
                   "it does not speak the protocol of Redis; if it wants TLS, write rediss://");
    return reply;
}

bool redis_link_hear(struct redis_link *link, int fd, int timeout_ms, struct redis_reply **reply)
{
    struct pollfd entries[] = {{.fd = link->socket, .events = POLLIN},
                               {.fd = fd, .events = POLLIN}};
    size_t len = 0;
    *reply = NULL;
    CURLcode code = CURLE_OK;
    enum reading reading;
    while ((reading = redis_reader_next(link->reader, reply)) == READING_MORE) {
        const bool is_again = code == CURLE_AGAIN;
        code = curl_easy_recv(link->curl, link->bytes, RECEIVE_BYTES, &len);
        if (code == CURLE_AGAIN && is_again)
            return true;
        if (code == CURLE_AGAIN) {
            if (poll(entries, 2, timeout_ms) <= 0 || entries[0].revents == 0)
                return true;
            continue;
        }
        if (code != CURLE_OK || len == 0)
            return fail(link, "the connection was lost");
        if (!redis_reader_feed(link->reader, link->bytes, len))
            return fail(link, "it sent a reply without end");
    }
    return reading == READING_REPLY || fail(link, "it does not speak the protocol of Redis");
}
