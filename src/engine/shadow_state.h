/* The state of shadow mode, for its own files only. */
#ifndef SOLVEGATE_ENGINE_SHADOW_STATE_H
#define SOLVEGATE_ENGINE_SHADOW_STATE_H

#include "engine/repeats.h"
#include "engine/state.h"

/* Followers that are remembered, to go on with the guess if its leader fails: serving retries only
 * a few times. */
#define GUESS_FOLLOWERS 4

/* What serving would have for a key: a flight under way, or its solution. It has no timers: what is
 * over is noticed when it is looked up, and the oldest guess makes room. */
struct guess {
    struct table_node node; /* by key, while others could find it */
    slab_id id;
    struct list link;                   /* all guesses, oldest first */
    slab_id followers[GUESS_FOLLOWERS]; /* flights that would have joined; a ring */
    attempt_id attempt;                 /* that brought the solution */
    uint64_t born_ms, expires_ms, arrived_ms;
    uint32_t follower_count; /* that ever joined */
    uint16_t tries;          /* retries that serving would have used */
    client_id client;
    enum reuse reuse;
    bool is_solved;
    bool is_mistake;  /* solved, but a caller's mistake */
    bool is_one_time; /* joined in flight, never cached */
    bool is_marked;   /* an idempotency key stands for it */
    bool is_deserted; /* for one request only, and whose that was left */
    bool is_given;    /* deserted before, and somebody else's since */
};

/* What an idempotency key would stand for. */
struct mark {
    struct table_node node; /* by digest */
    slab_id id;
    struct list link; /* all marks, the least recently used first */
    struct key fingerprint;
    slab_id guess;
    uint64_t until_ms;
    client_id client;
};

struct shadow {
    struct slab guesses, marks;
    struct table guesses_by_key, marks_by_digest;
    struct list guess_order, mark_order;
    struct repeats repeats;
};

#endif
