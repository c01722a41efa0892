/* Callers, the real engine and a model vendor that loses things, in virtual time (docs/reliability.md 5.3). */
#ifndef SOLVEGATE_BENCH_CALLBACKS_WORLD_H
#define SOLVEGATE_BENCH_CALLBACKS_WORLD_H

#include "base/rand.h"
#include "heap.h"

#include <solvegate/engine.h>

#define SUBMIT_TIMEOUT_MS 15000
#define POLL_TIMEOUT_MS 10000
#define CALLER_DEADLINE_MS 120000
/* How often each key is asked for: hot, so that what is banked finds somebody soon. */
#define KEY_PERIOD_MS 20000

/* What differs between two runs of the same million. */
struct scenario {
    const char *name;
    uint32_t lost_requests; /* per million, of submits and polls */
    uint32_t lost_replies;  /* the same */
    uint32_t lost_callbacks;
    enum reuse reuse;
    uint32_t fallback_after_ms; /* 0: as by default */
    uint32_t keys;              /* 0: as the setting says */
    bool is_naive; /* resends at the submit's timeout, and knows callbacks by their task id only */
};

struct setting {
    uint64_t seed;
    uint32_t requests;
    uint32_t keys;
};

enum happening_kind {
    HAPPENS_ASK,      /* somebody asks; subject: nothing */
    HAPPENS_LEAVE,    /* subject: whose patience ends */
    HAPPENS_REPLY,    /* subject: the task whose submit ends for us */
    HAPPENS_SOLVE,    /* subject: the task that is solved at the vendor */
    HAPPENS_CALLBACK, /* subject: the task */
    HAPPENS_POLL,     /* subject: the task whose poll ends for us */
    HAPPENS_PROBE,    /* subject: which free question is answered */
};

/* A submit as the vendor sees it, or would have seen it. */
struct task {
    attempt_id attempt;
    uint64_t solved_ms;
    uint32_t asker;   /* the request that began its flight */
    bool is_accepted; /* paid for */
    bool is_answered; /* its reply reaches us */
    bool is_solved;
    bool is_used; /* a caller got its solution */
};

struct figures {
    uint64_t submits, accepted, unused, duplicates_live;
    uint64_t callbacks, polls, probes;
    uint64_t answered, gave_up, failed, refused;
    uint64_t breaker_openings;
};

struct world {
    struct scenario scenario;
    struct setting setting;
    struct engine *engine; /* owned */
    struct heap heap;
    struct rand rand;
    uint64_t now_ms;
    uint32_t asked;
    struct task *tasks; /* owned; place 0 is nobody's */
    uint32_t task_count;
    uint32_t task_room;
    bool *is_served; /* owned, by request: answered or gone */
    uint8_t *live;   /* owned, by request: its flight's tasks that the vendor is working on */
    journal_seq seq; /* of the newest record */
    struct figures figures;
};

/* Runs the whole scenario; engine counters are still readable in world->engine afterwards. */
void world_run(struct world *world, const struct scenario *scenario, const struct setting *setting);
void world_close(struct world *world);

/* Applies one event at the world's time and does everything that the engine wants done. */
void world_step(struct world *world, struct event *event);

/* True with that probability per million. */
bool world_chance(struct world *world, uint32_t per_million);
/* Exponentially distributed. */
uint64_t world_exponential_ms(struct world *world, double mean_ms);

/* ---- the vendor (vendor.c) --------------------------------------------------------------- */

void vendor_on_submit(struct world *world, const struct call *call);
void vendor_on_poll(struct world *world, const struct call *call);
void vendor_happen(struct world *world, const struct happening *happening);
/* The task whose solution this is. */
struct task *vendor_task_of(struct world *world, const struct blob *text);

#endif
