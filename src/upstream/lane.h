/* One libcurl multi handle with at most a hundred transfers, since the cost of each grows with
 * their number. */
#ifndef SOLVEGATE_UPSTREAM_LANE_H
#define SOLVEGATE_UPSTREAM_LANE_H

#include <stdbool.h>
#include <stdint.h>

struct lane;
struct sockets;
struct uv_loop_s;
struct wire;

struct lane_handlers {
    void *context;
    /* The wire has left its lane and may be reused. Return false to get no further reports now: the
     * lane stays touched, and the next lane_settle or lane_run goes on. */
    bool (*on_done)(void *context, struct wire *wire, bool is_ok);
    /* May be NULL. One call fewer waits for its connection; called from within libcurl. */
    void (*on_opened)(void *context);
};

/* room is the limit of both transfers and connections. */
struct lane *lane_new(struct uv_loop_s *loop, struct sockets *sockets, uint32_t room,
                      const struct lane_handlers *handlers);
/* Room for one more, while at most so many wait for their connections to open. libcurl may serve all
 * of these in one call, and a TLS handshake takes half a millisecond. */
bool lane_has_room(const struct lane *lane, uint32_t most_opening);
/* Did a transfer ever get as far as sending? */
bool lane_has_sent(const struct lane *lane);
bool lane_is_touched(const struct lane *lane);

/* The transfer starts with the next lane_run. */
void lane_add(struct lane *lane, struct wire *wire);
/* Its connection is open. */
void lane_note_sent(struct wire *wire);
/* Removes it at once and closes its connection; on_done is not called. */
void lane_remove(struct lane *lane, struct wire *wire);

/* A callback for sockets: a socket of this lane is ready. Call lane_settle afterwards. */
void lane_on_ready(void *lane, int fd, unsigned events);
/* Starts added transfers, then does what lane_settle does. */
void lane_run(struct lane *lane);
/* Reports finished transfers until on_done returns false, else all, and arms the timer. */
void lane_settle(struct lane *lane);

/* The lane must be empty. It is freed before on_closed runs. */
void lane_close(struct lane *lane, void (*on_closed)(void *context), void *context);

#endif
