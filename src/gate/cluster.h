/* This gateway among those that share its store: its name, its lease, its claims. */
#ifndef SOLVEGATE_GATE_CLUSTER_H
#define SOLVEGATE_GATE_CLUSTER_H

#include "gate/adoptions.h"
#include "gate/roster.h"

struct gate;
struct action;
struct uv_timer_s;
struct rejoin_job;
struct store_letters;

struct cluster {
    bool is_on; /* the store is shared */
    char
        run[STORE_RUN_MAX + 1]; /* this process, for all stores that it opens; "": not chosen yet */
    uint32_t lease_ms;          /* how long the others believe in us after a beat */
    uint32_t margin_ms;         /* how much sooner we stop deciding */
    int64_t lease_end_ms;       /* by the machine's even clock; 0: there was no beat yet */
    bool is_lost;               /* it ended, and somebody was told */
    uint64_t leases_lost;       /* how often */
    uint32_t member_count;      /* gateways that were not adopted */
    struct roster roster;       /* all of them, by name */
    uint64_t adopted_rows;      /* of the adoption under way */
    bool is_adopting_dead;      /* it is that of a gateway that did not end in order */
    uint64_t times_fenced;      /* since the start */
    struct adoptions adoptions;
    struct uv_timer_s *lease_timer; /* owned; NULL: not open */
    bool is_fenced;                 /* another gateway adopted this run; see rejoin.h */
    bool is_store_closing;          /* the fenced run's store is closed, or closing */
    struct rejoin_job *rejoin;      /* owned; NULL: no store is being opened */
};

/* Completes the place of the store with the node's name, which buf holds, and the lease. */
void cluster_place(struct gate *gate, struct store_place *place, struct buf *name);

/* Once in each turn of the loop, where the store is shared: tells the others what this gateway wants and holds. */
void cluster_before_sleep(struct gate *gate);

/* From the store's opening on. */
void cluster_open(struct gate *gate);
/* Gives the engine the claims that this gateway had; an exit code. */
int cluster_restore(struct gate *gate);
void cluster_close(struct gate *gate);
/* The configuration is new, or the store is: tells the others what it is like. */
void cluster_tell_config(struct gate *gate);

/* Is the action for the shared store? Then cluster_send() sends it, and takes its references. */
bool cluster_is_for_store(const struct action *action);
void cluster_send(struct gate *gate, const struct action *take_action);

/* Has a beat been confirmed since the start? */
bool cluster_has_joined(const struct gate *gate);
/* How long the others still believe in us, at least; 0: nothing may be decided. */
uint32_t cluster_lease_left(const struct gate *gate);

/* Performs an ACTION_FIND. */
void cluster_find(struct gate *gate, const struct find *find);

/* May something be paid for? Not unless the others still believe in us. */
bool cluster_may_submit(const struct gate *gate);

/* Adds the handlers of what only a shared store says; their context is the gate. */
void cluster_add_handlers(struct store_handlers *handlers);

#endif
