/* Connections to the program under load: one call at a time on each, replies read whole. */
#ifndef SOLVEGATE_BENCH_E2E_WIRE_H
#define SOLVEGATE_BENCH_E2E_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_REPLY_BYTES 2048

struct conn {
    int fd;
    uint32_t request; /* whose call is on it */
    bool is_held;     /* one of those that wait for solutions */
    bool is_busy;
    uint32_t len; /* of what has arrived */
    char reply[WIRE_REPLY_BYTES];
};

struct wire {
    int epoll;
    uint16_t port;
    struct conn *conns; /* owned */
    uint32_t *idle[2];  /* owned: stacks of those without a call; [1] are the held ones */
    uint32_t idle_count[2];
    uint32_t reopened; /* how often the other side had closed */
};

/* Opens all connections before anything is asked. */
void wire_open(struct wire *wire, uint16_t port, uint32_t shared, uint32_t held);
void wire_close(struct wire *wire);

/* A connection without a call, or NULL while all are busy. */
struct conn *wire_take(struct wire *wire, bool is_held);
void wire_give_back(struct wire *wire, struct conn *conn);

void wire_send(struct wire *wire, struct conn *conn, const char *text, size_t len);

/* Waits at most that long. Fills up to room connections that have something to read. */
size_t wire_wait(struct wire *wire, int timeout_ms, struct conn **ready, size_t room);

/* Reads what there is. True when the reply is whole: *status and *body, which is NUL-terminated, are set. */
bool wire_read(struct wire *wire, struct conn *conn, int *status, char **body);

_Noreturn void wire_die(const char *what);

#endif
