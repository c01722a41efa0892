/* One libcurl multi with at most a hundred transfers, since each costs more the more there are. */
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
    /* It is out of its lane and may be reused; false when nothing more is to be told. */
    bool (*on_done)(void *context, struct wire *wire, bool is_ok);
};

/* room: how many transfers, and connections, it may hold. */
struct lane *lane_new(struct uv_loop_s *loop, struct sockets *sockets, uint32_t room,
                      const struct lane_handlers *handlers);
bool lane_has_room(const struct lane *lane);
bool lane_is_touched(const struct lane *lane);

/* It starts with the next lane_run. */
void lane_add(struct lane *lane, struct wire *wire);
/* Takes it out at once and closes its connection; on_done is not called. */
void lane_remove(struct lane *lane, struct wire *wire);

/* For sockets: a socket of this lane is ready. lane_settle must follow. */
void lane_on_ready(void *lane, int fd, unsigned events);
/* Starts what was added; then as lane_settle. */
void lane_run(struct lane *lane);
/* Tells of every transfer that ended, and arms the timer. */
void lane_settle(struct lane *lane);

/* Must be empty. Frees itself before on_closed. */
void lane_close(struct lane *lane, void (*on_closed)(void *context), void *context);

#endif
