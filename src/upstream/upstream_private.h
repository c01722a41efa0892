/* Shared by the files of upstream: its state, and the steps between them. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_PRIVATE_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_PRIVATE_H

#include "upstream/transfer.h"
#include "upstream/upstream.h"
#include "upstream/upstream_queue.h"

#include <uv.h>

/* libcurl's CPU time per transfer is flat (44 to 52 µs) up to about this many in one multi handle;
 * with 8 000 it was 156 to 189 µs. */
#define LANE_ROOM 100u

/* Transfers in progress, grouped by timeout: within a group the first to start is the first to
 * expire. */
enum { DEADLINES_SUBMIT, DEADLINES_OTHER, DEADLINES_COUNT };

struct upstream {
    uv_loop_t *loop;
    uv_idle_t turn;      /* active while there are calls to start or to report */
    uv_timer_t deadline; /* fires at the first deadline, or earlier */
    uint64_t armed_ms;   /* when it fires; UINT64_MAX: not armed */
    struct upstream_handlers handlers;
    const struct vendor_protocol *protocol;
    struct vendor_options vendor;
    int64_t (*wall_ms)(void);
    char *key; /* owned, secret */
    uint32_t connections;
    uint32_t timeout_ms[DEADLINES_COUNT];

    struct transfer_setup setup;
    struct sockets *sockets; /* owned */
    struct lane **lanes;     /* owned, created when needed */
    uint32_t lane_count, lane_limit;
    uint32_t lane_hint; /* no lane before this one has room */
    uint32_t lane_turn; /* counts the lanes visited, to go on with the next one */

    struct call_queue queue;
    struct list idle;                       /* transfers to reuse */
    struct list deadlines[DEADLINES_COUNT]; /* transfers under way */
    uint32_t active;
    uint64_t calls, errors, bytes_in, bytes_out;

    bool is_held; /* the loop is kept alive while calls are in progress */
    bool is_closing;
    uint32_t closing_handles;
    void (*on_closed)(void *context);
    void *closed_context;
};

/* Makes the next turn of the loop start calls and report unsent and finished ones. */
void upstream_wake(struct upstream *upstream);
void upstream_on_turn(uv_idle_t *turn);

/* Keeps the loop alive exactly while there are calls. */
void upstream_hold_loop(struct upstream *upstream);

/* Called after a batch of ready sockets: reports finished calls while the turn has time for it. */
void upstream_settle_lanes(void *upstream);

#endif
