/* libcurl's sockets, in an epoll set of our own that the loop watches as one descriptor. */
#ifndef SOLVEGATE_UPSTREAM_SOCKETS_H
#define SOLVEGATE_UPSTREAM_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* The bits of libcurl's CURL_POLL_ and CURL_CSELECT_; lane.c asserts that they match. */
#define SOCKET_READ 1u
#define SOCKET_WRITE 2u
#define SOCKET_ERROR 4u

struct uv_loop_s;
struct sockets;

struct sockets_handlers {
    void *context;
    /* owner is the last owner that wanted the socket. */
    void (*on_ready)(void *owner, int fd, unsigned events);
    /* Called after every batch of on_ready. */
    void (*on_settled)(void *context);
};

/* NULL if there is no free descriptor. It keeps the loop alive only while held. */
struct sockets *sockets_new(struct uv_loop_s *loop, const struct sockets_handlers *handlers);
void sockets_hold(struct sockets *sockets, bool is_held);

/* Opens a socket of ours, or returns -1; sockets_shut closes it. */
int sockets_open(struct sockets *sockets, int family, int type, int protocol);
void sockets_shut(struct sockets *sockets, int fd);
/* Names a socket of ours for ever, unlike its descriptor. */
uint64_t sockets_name(struct sockets *sockets, int fd);
/* Ends the connection of the socket with this name, if it is still open; its owner will see that. */
void sockets_hang_up(struct sockets *sockets, uint64_t name);

/* Sets the events that libcurl wants of a socket; 0 for none. A socket of ours that is no longer
 * wanted stays registered until it wakes us needlessly: the next call on its connection then needs
 * no system call. Descriptors that libcurl made itself are unregistered at once. */
void sockets_want(struct sockets *sockets, int fd, void *owner, unsigned events);

/* True if this turn of the loop has used up its time for these sockets and what follows from them:
 * the rest waits for the next turn. The first question in a turn starts the time. */
bool sockets_is_late(struct sockets *sockets);

/* Handles sockets that are ready now, without waiting. False if there may be more, for which this
 * turn has no time. */
bool sockets_drain(struct sockets *sockets);

uint64_t sockets_epoll_calls(const struct sockets *sockets);
uint64_t sockets_opened(const struct sockets *sockets);

/* Every socket must be shut by then. Frees itself before on_closed. */
void sockets_close(struct sockets *sockets, void (*on_closed)(void *context), void *context);

#endif
