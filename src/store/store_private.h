/* The state of a store: the loop's part, the writer thread's part, and the shared part. */
#ifndef SOLVEGATE_STORE_STORE_PRIVATE_H
#define SOLVEGATE_STORE_STORE_PRIVATE_H

#include "store/store_adoption.h"
#include "store/store_pulse.h"
#include "store/store_queue.h"

#include <uv.h>

/* The secret that the writer replaces when it is too old. */
struct store_rotation {
    const char *name; /* borrowed; NULL: there is none */
    int64_t max_age_ms;
    size_t count;
    uint8_t bytes[STORE_SECRET_MAX];
    uint8_t old_bytes[STORE_SECRET_MAX];
    bool is_replaced; /* the loop has not been told yet */
};

/* What is told about the store, and how often it lost rows. */
struct store_facts {
    char server[sizeof(((struct store_backend *)NULL)->server)];
    char durability[sizeof(((struct store_backend *)NULL)->durability)];
    bool is_async;
    uint64_t losses;
    char loss[sizeof(((struct store_backend *)NULL)->loss)];
};

struct store {
    struct store_backend *backend; /* owned; the writer's while it runs */

    /* Owned by the loop. */
    struct store_names names;
    uint32_t heartbeat_ms; /* of a shared store, as is the next */
    uint32_t lease_ms;
    struct store_handlers handlers;
    struct store_counters counters;
    uv_async_t wake;
    struct store_queue answers;   /* claims that ended and were not told yet */
    journal_seq latest;           /* last appended */
    journal_seq reported_durable; /* reported to the handlers */
    enum store_state reported_state;
    struct store_facts reported_facts;
    bool is_started, is_closing, is_closed;
    uv_prepare_t turn;         /* ends a turn */
    bool has_turns;            /* it is active */
    struct store_queue fresh;  /* of this turn, for the writer */
    struct store_queue spares; /* entries for the next records */
    void (*on_closed)(void *context);
    void *on_closed_context;

    /* Shared, under the mutex. */
    uv_mutex_t mutex;
    uv_cond_t work;
    struct store_queue queue; /* not yet taken by the writer */
    struct store_queue done;  /* durable, for the loop to free */
    enum store_state state;
    char why[sizeof(((struct store_backend *)NULL)->why)];
    struct store_facts facts;
    uint64_t records, commits, bytes, commit_ms_max, reconnects;
    struct histogram commit_times, round_trips, batch_sizes;
    struct store_rotation rotation;
    char parts[STORE_PARTS_MAX]; /* what the pulse says of our configuration */
    uint64_t losses_mended;      /* all rows were written again after so many */
    bool must_hold;              /* another gateway has not done so yet */
    bool must_end;               /* the writer must write the rest and return */
    bool is_finished;            /* the writer is about to return */

    /* Owned by the writer. */
    uint64_t beat_ns;
    uv_thread_t thread;
    struct store_queue batch; /* being written, or kept for a retry */
    uint64_t batches;         /* that were written */
    uint64_t retry_at_ns;     /* 0: the latest batch was written */
    unsigned away_tries;      /* in vain since the store was last reached */
    uint64_t tidy_at_ns;
    uint64_t beat_at_ns;     /* UINT64_MAX: the driver needs none */
    uint64_t look_at_ns;     /* likewise */
    uint64_t rotate_at_ns;   /* when to check the secret's age; UINT64_MAX: there is none */
    int64_t expired_wall_ms; /* rows expired by then were not loaded and must be deleted; 0: none */
    bool has_tried_last;     /* the last attempt after must_end was made */

    /* The checker's thread, started by the loop and joined by the writer. */
    uv_thread_t checker;
    bool is_checking; /* the thread must be joined */

    struct store_ahead *ahead;     /* owned; NULL: nothing was read ahead */
    struct store_pulse *pulse;     /* owned; NULL: the store is not shared, or not started */
    struct store_adopter *adopter; /* owned; NULL: nobody was adopted yet */
    struct store_finder *finder;   /* owned; NULL: the store is not shared, or not started */
};

#endif
