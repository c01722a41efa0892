#include "postgres_proxy.h"

#include "postgres_world.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define LINKS_MAX 16
#define PORT_OFFSET 1

struct link {
    int client; /* -1: cut */
    int server; /* -1: none */
};

static struct {
    pthread_t thread;
    int listener;
    struct link links[LINKS_MAX];
    atomic_int order;
    atomic_uint count;
    atomic_bool must_stop;
    char path[108];
} proxy;

static void fill_address(struct sockaddr_un *address, unsigned port)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    (void)snprintf(address->sun_path, sizeof(address->sun_path), "%.80s/.s.PGSQL.%u",
                   postgres_directory(), port);
}

static void cut(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void take_client(void)
{
    struct sockaddr_un address;
    const int client = accept(proxy.listener, NULL, NULL);
    struct link *link = proxy.links;
    while (link < proxy.links + LINKS_MAX && link->server >= 0)
        link++;
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    fill_address(&address, postgres_port());
    if (link == proxy.links + LINKS_MAX ||
        connect(server, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(server);
        (void)close(client);
        return;
    }
    *link = (struct link){.client = client, .server = server};
}

static bool has_commit_tag(const char *bytes, size_t len)
{
    static const char tag[] = "COMMIT";
    return memmem(bytes, len, tag, sizeof(tag)) != NULL;
}

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        len -= (size_t)sent;
    }
}

static void move_bytes(struct link *link, bool is_reply)
{
    char bytes[65536];
    const int from = is_reply ? link->server : link->client;
    const int to = is_reply ? link->client : link->server;
    const ssize_t len = read(from, bytes, sizeof(bytes));
    const bool is_lost = is_reply && proxy.order == PROXY_LOSE_COMMIT && len > 0 &&
                         has_commit_tag(bytes, (size_t)len);
    if (is_lost) {
        proxy.order = PROXY_PASS;
        proxy.count++;
    }
    if (len <= 0 || is_lost) {
        cut(&link->client);
        cut(&link->server);
    } else if (to >= 0) {
        send_all(to, bytes, (size_t)len);
    }
}

static void cut_clients(void)
{
    for (size_t i = 0; i < LINKS_MAX; i++)
        cut(&proxy.links[i].client);
    proxy.order = PROXY_PASS;
    proxy.count++;
}

static void turn(void)
{
    struct pollfd items[1 + 2 * LINKS_MAX] = {{.fd = proxy.listener, .events = POLLIN}};
    for (size_t i = 0; i < LINKS_MAX; i++) {
        items[1 + 2 * i] = (struct pollfd){.fd = proxy.links[i].client, .events = POLLIN};
        items[2 + 2 * i] = (struct pollfd){.fd = proxy.links[i].server, .events = POLLIN};
    }
    (void)poll(items, 1 + 2 * LINKS_MAX, 20);
    if (proxy.order == PROXY_CUT_CLIENT)
        cut_clients();
    if (proxy.order == PROXY_FREEZE) {
        (void)usleep(20000);
        return;
    }
    for (size_t i = 0; i < LINKS_MAX; i++) {
        if (items[1 + 2 * i].revents != 0 && proxy.links[i].client >= 0)
            move_bytes(&proxy.links[i], false);
        if (items[2 + 2 * i].revents != 0 && proxy.links[i].server >= 0)
            move_bytes(&proxy.links[i], true);
    }
    if (items[0].revents != 0)
        take_client();
}

static void *run(void *context)
{
    (void)context;
    while (!proxy.must_stop)
        turn();
    return NULL;
}

void proxy_start(void)
{
    struct sockaddr_un address;
    for (size_t i = 0; i < LINKS_MAX; i++)
        proxy.links[i] = (struct link){.client = -1, .server = -1};
    proxy.order = PROXY_PASS;
    proxy.count = 0;
    proxy.must_stop = false;
    proxy.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    fill_address(&address, postgres_port() + PORT_OFFSET);
    memcpy(proxy.path, address.sun_path, sizeof(proxy.path));
    (void)unlink(proxy.path);
    assert_int_equal(bind(proxy.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(proxy.listener, 8), 0);
    assert_int_equal(pthread_create(&proxy.thread, NULL, run, NULL), 0);
}

void proxy_stop(void)
{
    proxy.must_stop = true;
    assert_int_equal(pthread_join(proxy.thread, NULL), 0);
    cut(&proxy.listener);
    for (size_t i = 0; i < LINKS_MAX; i++) {
        cut(&proxy.links[i].client);
        cut(&proxy.links[i].server);
    }
    (void)unlink(proxy.path);
}

void proxy_set(enum proxy_order order)
{
    proxy.order = (int)order;
}

unsigned proxy_count(void)
{
    return proxy.count;
}

void proxy_url(char *url, size_t room)
{
    (void)snprintf(url, room, "postgresql://%s:%s@/%s?host=%s&port=%u", POSTGRES_ROLE,
                   POSTGRES_PASSWORD_ESCAPED, POSTGRES_DATABASE, postgres_directory(),
                   postgres_port() + PORT_OFFSET);
}
