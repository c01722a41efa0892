#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 512

void wire_die(const char *what)
{
    perror(what);
    exit(1);
}

/* A blocking connect to a listener on this machine is over at once. */
static void open_one(struct wire *wire, struct conn *conn)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(wire->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int on = 1;
    conn->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (conn->fd < 0 ||
        connect(conn->fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
        wire_die("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
    if (epoll_ctl(wire->epoll, EPOLL_CTL_ADD, conn->fd, &event) != 0)
        wire_die("epoll_ctl");
}

void wire_open(struct wire *wire, uint16_t port, uint32_t shared, uint32_t held)
{
    *wire = (struct wire){.epoll = epoll_create1(0), .port = port};
    wire->conns = calloc((size_t)shared + held, sizeof(*wire->conns));
    wire->idle[0] = calloc((size_t)shared + 1, sizeof(uint32_t));
    wire->idle[1] = calloc((size_t)held + 1, sizeof(uint32_t));
    if (wire->epoll < 0 || wire->conns == NULL || wire->idle[0] == NULL || wire->idle[1] == NULL)
        wire_die("wire_open");
    for (uint32_t i = 0; i < shared + held; i++) {
        wire->conns[i].is_held = i >= shared;
        open_one(wire, &wire->conns[i]);
        wire_give_back(wire, &wire->conns[i]);
    }
}

void wire_close(struct wire *wire)
{
    (void)close(wire->epoll);
    free(wire->conns);
    free(wire->idle[0]);
    free(wire->idle[1]);
}

struct conn *wire_take(struct wire *wire, bool is_held)
{
    if (wire->idle_count[is_held] == 0)
        return NULL;
    struct conn *const conn = &wire->conns[wire->idle[is_held][--wire->idle_count[is_held]]];
    conn->is_busy = true;
    conn->len = 0;
    return conn;
}

void wire_give_back(struct wire *wire, struct conn *conn)
{
    conn->is_busy = false;
    wire->idle[conn->is_held][wire->idle_count[conn->is_held]++] = (uint32_t)(conn - wire->conns);
}

void wire_send(struct wire *wire, struct conn *conn, const char *text, size_t len)
{
    (void)wire;
    if (send(conn->fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
        wire_die("send");
}

size_t wire_wait(struct wire *wire, int timeout_ms, struct conn **ready, size_t room)
{
    struct epoll_event events[EVENTS];
    const int most = room < EVENTS ? (int)room : EVENTS;
    const int count = epoll_wait(wire->epoll, events, most, timeout_ms);
    if (count < 0 && errno != EINTR)
        wire_die("epoll_wait");
    for (int i = 0; i < count; i++)
        ready[i] = events[i].data.ptr;
    return count < 0 ? 0 : (size_t)count;
}

/* Servers may close what idles; nobody may close while we wait for a reply. */
static void reopen(struct wire *wire, struct conn *conn)
{
    if (conn->is_busy) {
        fputs("e2e-load: a connection was closed instead of an answer\n", stderr);
        exit(1);
    }
    (void)close(conn->fd);
    wire->reopened++;
    open_one(wire, conn);
}

/* The body's place once all of it is there, else NULL. Everybody here announces its length. */
static char *whole_body(struct conn *conn)
{
    conn->reply[conn->len] = '\0';
    char *const body = strstr(conn->reply, "\r\n\r\n");
    if (body == NULL)
        return NULL;
    const char *const length = strcasestr(conn->reply, "\r\ncontent-length:");
    if (length == NULL || length > body) {
        fprintf(stderr, "e2e-load: a reply without a length:\n%s\n", conn->reply);
        exit(1);
    }
    const size_t wanted = strtoul(length + 17, NULL, 10);
    return conn->len - (size_t)(body + 4 - conn->reply) >= wanted ? body + 4 : NULL;
}

bool wire_read(struct wire *wire, struct conn *conn, int *status, char **body)
{
    const size_t room = sizeof(conn->reply) - 1 - conn->len;
    const ssize_t len = recv(conn->fd, conn->reply + conn->len, room, MSG_DONTWAIT);
    if (len < 0 && errno == EAGAIN)
        return false;
    if (len <= 0) {
        reopen(wire, conn);
        return false;
    }
    conn->len += (uint32_t)len;
    *body = whole_body(conn);
    if (*body == NULL && conn->len == sizeof(conn->reply) - 1) {
        fputs("e2e-load: a reply is too long\n", stderr);
        exit(1);
    }
    *status = (int)strtol(conn->reply + 9, NULL, 10);
    return *body != NULL;
}
