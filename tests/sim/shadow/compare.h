/* The same trace twice: once in shadow mode, which predicts what serving saves, and once served. */
#ifndef SOLVEGATE_TESTS_SIM_SHADOW_COMPARE_H
#define SOLVEGATE_TESTS_SIM_SHADOW_COMPARE_H

#include "base/rand.h"

#include <solvegate/engine.h>
#include <solvegate/view.h>

#define TRACE_CLIENTS 3
#define TRACE_MOST 1500

/* What a world has besides requests: the less there is, the less may the prediction be wrong. */
enum weather {
    CALM,   /* callbacks, room for everything, no faults: nothing is left to chance */
    POLLED, /* the moments of polls are drawn anew in each run */
    QUEUED, /* polls, and a plan so small that served requests wait */
    STORMY, /* polls, and a vendor that refuses, gives up and loses replies */
    WEATHERS
};
const char *weather_name(enum weather weather);

/* One request of the trace. */
struct asked {
    uint64_t at_ms;
    uint64_t leaves_ms; /* when its caller hangs up; 0: never */
    uint32_t key;
    uint32_t idempotency; /* 0: none */
    client_id client;
    enum reuse reuse;
    bool is_one_time;
    bool is_id_told;
    uint32_t min_ttl_ms, max_age_ms;
};

struct trace {
    uint64_t seed;
    enum weather weather;
    uint32_t count;
    uint16_t client_count;
    bool clients_share;
    uint32_t slots;
    uint32_t busy_permille, unsolvable_permille, lost_permille, wrong_permille;
    uint32_t solve_least_ms, solve_most_ms;
    struct asked asks[TRACE_MOST];
};

/* What a run came to. */
struct came_to {
    uint64_t paid;  /* accepted submits, by the vendor's own count */
    uint64_t twice; /* requests that were paid for more than once */
    uint64_t unanswered;
    struct stats stats;
};

/* Draws the trace of a seed: everything about it is decided here. */
void trace_draw(struct trace *trace, uint64_t seed);

/* A number below `below` that belongs to this seed, request and question, in whichever run. */
uint64_t trace_fate(const struct trace *trace, uint32_t ask, uint32_t salt, uint64_t below);

/* Runs it, in shadow mode or served; aborts if the engine is inconsistent. */
void trace_run(const struct trace *trace, bool is_shadow, struct came_to *outcome);

#endif
