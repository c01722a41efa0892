/* The state of the gateway, shared by the gate and its doors only. */
#ifndef SOLVEGATE_GATE_GATE_STATE_H
#define SOLVEGATE_GATE_GATE_STATE_H

#include "base/buf.h"
#include "base/series.h"
#include "config/config.h"
#include "gate/client_keys.h"
#include "gate/cluster.h"
#include "gate/gate.h"
#include "gate/persist.h"
#include "gate/resume.h"
#include "gate/targets.h"
#include "http/http.h"
#include "proto/key.h"
#include "proto/nonce.h"
#include "proto/params.h"
#include "upstream/notices.h"
#include "upstream/upstream.h"
#include "upstream/webhook.h"

#include <solvegate/engine.h>

#include <uv.h>

#define ENTROPY_WORDS 64
#define SEED_WORDS 4
/* How many different unconfigured clients are remembered; rows of further ones are left alone. */
#define GONE_CLIENTS 64

struct ask_memo;
struct render;

struct gate {
    uv_loop_t loop;
    uv_timer_t deadline; /* wakes the loop for the engine's next deadline */
    uv_prepare_t before_sleep;
    uv_check_t after_poll;
    uv_signal_t sigterm, sigint, sighup;
    uv_timer_t drain_timer;
    uv_timer_t last_writes;   /* while the store is closing */
    struct resume *resume;    /* or NULL */
    uint64_t armed_ms;        /* the time that `deadline` is set to; 0: not set */
    uint64_t sleep_until_ms;  /* the latest time at which the loop should wake up */
    uint64_t listen_until_ms; /* nothing expires before this time, after a start or a standstill */
    unsigned listen_turns;    /* and not within so many turns of the loop */
    struct buf ready;         /* a line for every listening address */
    bool is_draining;
    uint64_t drain_until_ms; /* by the loop's clock */
    bool is_dismissing;      /* that time is over: who still waits is refused */
    uint64_t leave_until_ms; /* when the refusals must have left */
    bool is_closing;
    struct reload_job *reload_job; /* a thread is reading the configuration; else NULL */
    bool is_reload_due;            /* read it again after that */
    int exit_code;

    struct config *config;            /* borrowed; a reload changes it in place */
    const struct gate_loader *loader; /* borrowed */
    const struct gate_doors *doors;   /* borrowed */
    size_t client_room;               /* capacity for clients, including those that reloads add */
    struct engine *engine;
    struct persist persist;
    struct cluster cluster;
    uint32_t submits_out; /* submits without a reply so far */
    struct http_server *server;
    const struct vendor_protocol *protocol; /* how the vendor's requests and replies are written */
    struct upstream *upstream;
    struct webhook *webhook; /* NULL without alerts.url */
    struct notices *notices;
    struct identity_options identity_options;
    struct identity_scope *scopes; /* owned: one per client; its index keeps its name */
    size_t scope_count;
    /* Clients that only rows name; their numbers begin at client_room. */
    char gone_names[GONE_CLIENTS][CLIENT_NAME_MAX];
    size_t gone_count;
    bool *is_warned;        /* owned: one per client that is gone */
    struct targets targets; /* of pools */
    uint8_t nonce_secret[NONCE_SECRET_BYTES];
    uint8_t old_nonce_secret[NONCE_SECRET_BYTES]; /* verifies nonces made before the rotation */
    uint64_t started_ms;
    int64_t started_wall_ms;
    struct histogram loop_lag;
    struct series *series; /* owned: lines over time (sampling.h) */
    uint64_t series_run;   /* names this run in them */
    uv_timer_t series_timer;
    int64_t wall_ms;      /* of this turn, taken at wall_at_ms */
    uint64_t wall_at_ms;  /* when it was read, by the loop's clock */
    int64_t even_ms;      /* and by the one that goes on while the machine sleeps */
    uint64_t asleep_ms;   /* how long the machine slept since the start */
    int64_t slept_before; /* and before the start */

    struct client_keys client_keys;
    struct ask_memo *ask_memo; /* the doors' */
    struct render *render;     /* likewise */

    /* Reused for every request, so that a hit allocates nothing. */
    struct params params;
    struct identity identity;
    struct buf scratch; /* for computing the identity */
    struct buf body;    /* of the reply under construction */
    struct buf headers; /* its further header lines */
    struct buf words;   /* its sentences */

    uint64_t entropy[SEED_WORDS + ENTROPY_WORDS]; /* the next seed, then the unused numbers */
    unsigned entropy_left;
    bool has_entropy;
};

/* The clock for ages and lifetimes: the loop's clock plus the time that the machine slept, when the
 * loop's clock stood still. */
uint64_t gate_now_ms(struct gate *gate);

/* An event of this kind with clocks and entropy set. */
struct event gate_event(struct gate *gate, enum event_kind kind);

/* Steps the engine and performs its actions. */
void gate_step(struct gate *gate, const struct event *event);

/* Journals, holds back or performs the engine's actions. */
void gate_take_actions(struct gate *gate);

/* 64 unpredictable random bits. */
uint64_t gate_entropy(struct gate *gate);

int64_t gate_wall_ms(void);

#endif
