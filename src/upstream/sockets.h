/* The sockets libcurl works on, in an epoll set of our own that the loop watches as one. */
#ifndef SOLVEGATE_UPSTREAM_SOCKETS_H
#define SOLVEGATE_UPSTREAM_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* The same bits as libcurl's CURL_POLL_ and CURL_CSELECT_; lane.c asserts it. */
#define SOCKET_READ 1u
#define SOCKET_WRITE 2u
#define SOCKET_ERROR 4u

struct uv_loop_s;
struct sockets;

struct sockets_handlers {
    void *context;
    /* owner is who wanted the socket last. */
    void (*on_ready)(void *owner, int fd, unsigned events);
    /* After every batch of on_ready. */
    void (*on_settled)(void *context);
};

/* NULL without a descriptor to spare. It keeps the loop alive only while held. */
struct sockets *sockets_new(struct uv_loop_s *loop, const struct sockets_handlers *handlers);
void sockets_hold(struct sockets *sockets, bool is_held);

/* A new socket of ours, or -1; sockets_shut closes it. */
int sockets_open(struct sockets *sockets, int family, int type, int protocol);
void sockets_shut(struct sockets *sockets, int fd);

/* What libcurl wants to know of a socket from now on; 0 for nothing. A socket of ours that
 * nobody wants any more stays registered until it wakes us for nothing: the next call on its
 * connection then costs no system call. Descriptors libcurl made for itself are forgotten at
 * once. */
void sockets_want(struct sockets *sockets, int fd, void *owner, unsigned events);

/* Handles what is ready now, without waiting. */
void sockets_drain(struct sockets *sockets);

uint64_t sockets_epoll_calls(const struct sockets *sockets);
uint64_t sockets_opened(const struct sockets *sockets);

/* Every socket must be shut by then. Frees itself before on_closed. */
void sockets_close(struct sockets *sockets, void (*on_closed)(void *context), void *context);

#endif
