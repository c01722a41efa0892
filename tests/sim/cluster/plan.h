/* Which world a seed means: its nodes and clients, and what goes wrong. */
#ifndef SOLVEGATE_TESTS_SIM_CLUSTER_PLAN_H
#define SOLVEGATE_TESTS_SIM_CLUSTER_PLAN_H

#include "base/rand.h"

#include <solvegate/engine.h>

#define NODES_MAX 5
#define START_WALL_MS INT64_C(1704110400000)
#define DAY_MS INT64_C(86400000)
#define START_MS 1000000

/* ---- what can go wrong --------------------------------------------------------------------- */

/* name, word, highest strength in thousandths. A seed draws which of them exist and how strong they are. */
#define FAULT_LIST(X)                      \
    X(NOT_SENT, "not_sent", 200)           \
    X(REJECTED, "rejected", 250)           \
    X(REQUEST_LOST, "request_lost", 200)   \
    X(REPLY_LOST, "reply_lost", 300)       \
    X(UNSOLVABLE, "unsolvable", 300)       \
    X(NEVER, "never", 150)                 \
    X(SLOW_SOLVE, "slow_solve", 300)       \
    X(POLL_UNHEARD, "poll_unheard", 300)   \
    X(CALLBACK, "callback", 700)           \
    X(LEAVE, "leave", 300)                 \
    X(SINGLE, "single", 500)               \
    X(NO_REUSE, "no_reuse", 200)           \
    X(IDEMPOTENCY, "idempotency", 700)     \
    X(MUTATE, "mutate", 200)               \
    X(PICKY, "picky", 200)                 \
    X(CRASH, "crash", 20)                  \
    X(STORE_SLOW, "store_slow", 300)       \
    X(STORE_AWAY, "store_away", 10)        \
    X(BATCH_LOST, "batch_lost", 100)       \
    X(COMMIT_LOST, "commit_lost", 200)     \
    X(WAKE_LOST, "wake_lost", 900)         \
    X(IMPATIENT, "impatient", 300)         \
    X(BEAT_LOST, "beat_lost", 300)         \
    X(CUT, "cut", 10)                      \
    X(PAUSE, "pause", 10)                  \
    X(ELSEWHERE, "elsewhere", 1000)        \
    X(DRAIN, "drain", 10)                  \
    X(ADOPTION_LOST, "adoption_lost", 500) \
    X(REPORT, "report", 700)               \
    X(GIVE_UP, "give_up", 200)             \
    X(FORGET, "forget", 3)                 \
    X(CLOCKS, "clocks", 1)                 \
    X(ROLL, "roll", 1)                     \
    X(HURRY, "hurry", 1)

enum fault {
#define FAULT_AS_ENUM(name, word, most) FAULT_##name,
    FAULT_LIST(FAULT_AS_ENUM)
#undef FAULT_AS_ENUM
        FAULT_COUNT
};

const char *fault_word(enum fault fault);

/* Random numbers for one purpose each: two that are drawn from one stream decide alike. A seed's streams are numbered
 * from itself on, so new ones come last. */
enum stream {
    STREAM_PLAN,
    STREAM_WORLD,
    STREAM_PULSE,
    STREAM_FIND,
    STREAM_DRAIN,
    STREAM_FORGET_PLAN,
    STREAM_FORGET,
    STREAM_POOL,
    STREAM_LETTERS,
    STREAM_SIGHTS,
    STREAM_CLOCKS,
    STREAM_ROLLS,
    STREAM_HURRIES
};

struct plan {
    uint64_t seed;
    /* A kept seed of a time when letters were drawn as what forgets, sights as pools, and clocks agreed. */
    bool is_early;
    uint32_t nodes, needs, keys, gap_ms, solve_ms;
    uint64_t budget; /* of the only client; UINT64_MAX: none */
    int64_t day_ms;  /* added to the clock on the wall */
    struct client_options client;
    struct pool_options pool; /* of the first key; size 0: there is none */
    uint16_t strength[FAULT_COUNT];
    struct engine_options options;
};

void plan_draw(struct plan *plan, uint64_t seed, bool is_early);
void stream_init(struct rand *rand, const struct plan *plan, enum stream stream);

#endif
