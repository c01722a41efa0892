/* The store's own state: what the loop has, what the writer has, and what they share. */
#ifndef SOLVEGATE_STORE_STORE_PRIVATE_H
#define SOLVEGATE_STORE_STORE_PRIVATE_H

#include "store/store.h"
#include "store/store_clock.h"
#include "store/store_db.h"

#include <uv.h>

/* A record on its way: made and freed on the loop, only read by the writer, since the blobs it
 * holds are counted without atomics. */
struct store_entry {
    struct store_entry *next;
    journal_seq seq;
    struct store_leap *leap; /* owned, or NULL: it is this instead of a record */
    struct record record;    /* owned */
    size_t client_len;
    char client[]; /* the name, as numbers may change before it is written */
};

struct store_queue {
    struct store_entry *first; /* owned, with those behind it */
    struct store_entry *last;
    uint32_t count;
};

/* A queue is the caller's to guard. */
void store_queue_push(struct store_queue *queue, struct store_entry *entry);
/* Moves everything to the end of another. */
void store_queue_join(struct store_queue *to, struct store_queue *from);
/* Moves count entries from the front to an empty one. */
void store_queue_split(struct store_queue *from, uint32_t count, struct store_queue *front);
/* On the loop: gives the records back. */
void store_queue_clear(struct store_queue *queue);

struct store {
    struct store_db db; /* of the writer while it runs */

    /* The loop's. */
    struct store_names names;
    struct store_handlers handlers;
    struct store_counters counters;
    uv_async_t wake;
    journal_seq latest;    /* appended */
    journal_seq durable;   /* told to the handlers */
    enum store_state told; /* as well */
    bool is_started, is_closing, is_closed;
    void (*on_closed)(void *context);
    void *on_closed_context;

    /* Of both, under the mutex. */
    uv_mutex_t mutex;
    uv_cond_t work;
    struct store_queue queue; /* not yet taken by the writer */
    struct store_queue done;  /* durable, to be given back */
    enum store_state state;
    char why[768];
    uint64_t records, commits, bytes, commit_ms_max;
    struct histogram commit_times;
    bool must_end; /* told to the writer */
    bool must_stop_check;
    bool is_finished; /* the writer has only to return */

    /* The writer's. */
    uv_thread_t thread;
    struct store_queue batch; /* taken: being written, or kept until the disk has room */
    struct buf scratch;
    uint64_t retry_at_ns; /* while the disk is full */
    uint64_t tidy_at_ns;
    int64_t dead_wall_ms; /* rows that were dead by then were passed over and are to go; 0: none */
    bool has_tried_last;  /* since it was told to end with a full disk */

    /* The checker's, but for the two that begin and end it. */
    uv_thread_t checker;
    struct sqlite3 *checked; /* owned: a connection of its own, or NULL */
    bool is_checking;        /* there is a thread to be waited for */
};

/* The writer thread: takes a struct store. */
void store_writer_run(void *store);
/* What the loop is to hear of it, from whichever thread; broken is for good. */
void store_tell(struct store *store, enum store_state state, const char *why);

/* The thread that looks for damage: it begins, is told to hurry, and is waited for. */
void store_check_start(struct store *store);
void store_check_stop(struct store *store);
void store_check_join(struct store *store);

#endif
