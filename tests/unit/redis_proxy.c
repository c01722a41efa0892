#include "redis_proxy.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define LOOK_MS 20

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return address;
}

static void close_pair(struct redis_pair *pair)
{
    (void)close(pair->client);
    if (pair->server >= 0)
        (void)close(pair->server);
    *pair = (struct redis_pair){.client = -1, .server = -1};
}

/* In a copy of the script, which is the caller's. */
static char *with_name(const struct redis_proxy *proxy, int client)
{
    char heard[512] = "";
    char *const script = malloc(proxy->script_len + 1);
    const ssize_t count = recv(client, heard, sizeof(heard) - 1, 0);
    const char *name = count > 0 ? strstr(heard, "SETNAME\r\n") : NULL;
    name = name == NULL ? NULL : strchr(name + 9, '\n');
    memcpy(script, proxy->script, proxy->script_len);
    script[proxy->script_len] = '\0';
    const size_t len = strlen(proxy->token);
    for (char *place = script; name != NULL && strlen(name + 1) >= len;) {
        place = memmem(place, (size_t)(script + proxy->script_len - place), proxy->token, len);
        if (place == NULL)
            break;
        memcpy(place, name + 1, len);
    }
    return script;
}

/* The script may be longer than the client's patience: it is sent as long as somebody reads. */
static void play(const struct redis_proxy *proxy, int client)
{
    char *const named = proxy->token[0] == '\0' ? NULL : with_name(proxy, client);
    const char *const script = named == NULL ? proxy->script : named;
    for (size_t i = 0; i < proxy->script_times; i++)
        for (size_t sent = 0; sent < proxy->script_len;) {
            const ssize_t count =
                send(client, script + sent, proxy->script_len - sent, MSG_NOSIGNAL);
            if (count <= 0)
                i = proxy->script_times;
            if (count <= 0)
                break;
            sent += (size_t)count;
        }
    (void)shutdown(client, SHUT_WR);
    char rest[4096];
    while (recv(client, rest, sizeof(rest), 0) > 0)
        ;
    (void)close(client);
    free(named);
}

static void admit(struct redis_proxy *proxy)
{
    const struct sockaddr_un address = address_of(proxy->target);
    const int client = accept(proxy->listener, NULL, NULL);
    if (client < 0)
        return;
    if (proxy->script != NULL) {
        play(proxy, client);
        return;
    }
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(client);
        (void)close(server);
        return;
    }
    for (size_t i = 0; i < PROXY_PAIRS; i++)
        if (proxy->pairs[i].client < 0) {
            proxy->pairs[i] = (struct redis_pair){.client = client, .server = server};
            return;
        }
}

static void remember(struct redis_proxy *proxy, const char *bytes, size_t len)
{
    proxy->replies = realloc(proxy->replies, proxy->replies_len + len);
    memcpy(proxy->replies + proxy->replies_len, bytes, len);
    proxy->replies_len += len;
}

/* False if the pair has ended. */
static bool forward(struct redis_proxy *proxy, int from, int to, atomic_long *cut, bool is_reply)
{
    char bytes[16384];
    const ssize_t count = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count < 0)
        return true;
    if (count == 0)
        return false;
    const long left = atomic_load(cut);
    const size_t len = left >= 0 && left < count ? (size_t)left : (size_t)count;
    if (len > 0 && send(to, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        return false;
    if (is_reply)
        remember(proxy, bytes, len);
    else if (proxy->commands_len + len < sizeof(proxy->commands)) {
        memcpy(proxy->commands + proxy->commands_len, bytes, len);
        proxy->commands_len += len;
    }
    if (left < 0)
        return true;
    atomic_store(cut, len < (size_t)count ? -1 : left - count);
    return len == (size_t)count;
}

static void serve(struct redis_proxy *proxy, struct redis_pair *pair)
{
    if (pair->client < 0)
        return;
    const bool must_hold = atomic_load(&proxy->must_hold);
    if (pair->is_held && must_hold)
        return;
    const bool lives = forward(proxy, pair->client, pair->server, &proxy->cut_commands, false) &&
                       forward(proxy, pair->server, pair->client, &proxy->cut_replies, true);
    /* What was held back is heard to its end, although its sender has gone. */
    if (!lives && !pair->is_held)
        close_pair(pair);
}

static void mark_held(struct redis_proxy *proxy)
{
    static bool was_held;
    const bool must_hold = atomic_load(&proxy->must_hold);
    for (size_t i = 0; i < PROXY_PAIRS && must_hold && !was_held; i++)
        proxy->pairs[i].is_held = proxy->pairs[i].client >= 0;
    was_held = must_hold;
}

static void run(void *context)
{
    struct redis_proxy *const proxy = context;
    while (!atomic_load(&proxy->must_end)) {
        struct pollfd all[2 * PROXY_PAIRS + 2];
        nfds_t count = 0;
        all[count++] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
        for (size_t i = 0; i < PROXY_PAIRS; i++) {
            const struct redis_pair *const pair = &proxy->pairs[i];
            if (pair->client < 0 || pair->is_held)
                continue;
            all[count++] = (struct pollfd){.fd = pair->client, .events = POLLIN};
            all[count++] = (struct pollfd){.fd = pair->server, .events = POLLIN};
        }
        (void)poll(all, count, LOOK_MS);
        mark_held(proxy);
        if ((all[0].revents & POLLIN) != 0)
            admit(proxy);
        for (size_t i = 0; i < PROXY_PAIRS; i++)
            serve(proxy, &proxy->pairs[i]);
    }
}

void redis_proxy_start(struct redis_proxy *proxy)
{
    const struct sockaddr_un address = address_of(proxy->path);
    (void)unlink(proxy->path);
    atomic_store(&proxy->cut_commands, -1);
    atomic_store(&proxy->cut_replies, -1);
    atomic_store(&proxy->must_end, false);
    for (size_t i = 0; i < PROXY_PAIRS; i++)
        proxy->pairs[i] = (struct redis_pair){.client = -1, .server = -1};
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(proxy->listener >= 0);
    assert_int_equal(bind(proxy->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(proxy->listener, 8), 0);
    assert_int_equal(uv_thread_create(&proxy->thread, run, proxy), 0);
}

void redis_proxy_stop(struct redis_proxy *proxy)
{
    atomic_store(&proxy->must_end, true);
    assert_int_equal(uv_thread_join(&proxy->thread), 0);
    for (size_t i = 0; i < PROXY_PAIRS; i++)
        if (proxy->pairs[i].client >= 0)
            close_pair(&proxy->pairs[i]);
    (void)close(proxy->listener);
    (void)unlink(proxy->path);
}

void redis_proxy_free(struct redis_proxy *proxy)
{
    free(proxy->replies);
    proxy->replies = NULL;
    proxy->replies_len = 0;
}
