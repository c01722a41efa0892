/* This gateway among those that share its store: its name, its lease, its claims. */
#ifndef SOLVEGATE_GATE_CLUSTER_H
#define SOLVEGATE_GATE_CLUSTER_H

#include "gate/roster.h"

struct gate;
struct action;
struct uv_timer_s;

struct cluster {
    bool is_on;                     /* the store is shared */
    uint32_t lease_ms;              /* how long the others believe in us after a beat */
    uint32_t margin_ms;             /* how much sooner we stop deciding */
    int64_t lease_end_ms;           /* by the machine's even clock; 0: there was no beat yet */
    bool is_lost;                   /* it ended, and somebody was told */
    uint64_t leases_lost;           /* how often */
    uint32_t member_count;          /* gateways that have not left */
    struct roster roster;           /* all of them, by name */
    struct uv_timer_s *lease_timer; /* owned; NULL: not open */
};

/* Completes the place of the store with the node's name, which buf holds, and the lease. */
void cluster_place(struct gate *gate, struct store_place *place, struct buf *name);

/* From the store's opening on. */
void cluster_open(struct gate *gate);
/* Gives the engine the claims that this gateway had; an exit code. */
int cluster_restore(struct gate *gate);
void cluster_close(struct gate *gate);

/* Sends an ACTION_CLAIM or ACTION_RELEASE. */
void cluster_send(struct gate *gate, const struct action *action);

/* Has a beat been confirmed since the start? */
bool cluster_has_joined(const struct gate *gate);
/* How long the others still believe in us, at least; 0: nothing may be decided. */
uint32_t cluster_lease_left(const struct gate *gate);

/* May something be paid for? Not unless the others still believe in us. */
bool cluster_may_submit(const struct gate *gate);

/* As in struct store_handlers, the context being the gate. */
void cluster_on_claimed(void *context, const struct claimed *claimed);
void cluster_on_woken(void *context, const struct key *name);
void cluster_on_beat(void *context, const struct store_beat *beat);

#endif
