/* Due calls that wait for a connection: submits first, otherwise first come, first served. Waiting
 * calls can be withdrawn. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_QUEUE_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_QUEUE_H

#include "base/list.h"
#include "base/numbers.h"
#include "upstream/transfer.h"

/* Many submits may wait, between the parameters of flights that stay: what they leave behind is hardly used again, so
 * they are small. */
struct due_call {
    struct list link;
    struct numbers_node node; /* by attempt, while a submit or poll waits */
    struct blob *params;      /* owned, of a submit */
    struct blob *pingback;    /* owned, of a submit, or NULL */
    enum call_kind kind;
    bool is_good;      /* of a report */
    bool is_refused;   /* the queue was full: reported in its turn */
    bool is_withdrawn; /* nobody wants it any more: reported in its turn */
    char task_id[];    /* "" of a submit */
};

static inline attempt_id due_call_attempt(const struct due_call *call)
{
    return call->node.number;
}

struct call_queue {
    struct list unsent; /* refused or withdrawn calls, to be reported in their turn */
    struct list submits, others;
    struct numbers by_attempt;
    uint32_t waiting; /* without the unsent */
    uint32_t limit;
};

/* secret is for the table, random per process. */
void call_queue_init(struct call_queue *queue, uint32_t limit, const uint64_t secret[2]);
/* Frees all calls. */
void call_queue_close(struct call_queue *queue);

struct due_call *due_call_new(enum call_kind kind, attempt_id attempt, struct slice task_id);
void due_call_free(struct due_call *call);

/* Takes ownership of the call. */
void call_queue_add(struct call_queue *queue, struct due_call *take_call);

/* Moves this attempt's submit or poll to the unsent calls; false if it does not wait. */
bool call_queue_withdraw(struct call_queue *queue, enum call_kind kind, attempt_id attempt);

/* The caller owns the call; NULL if there is none. */
struct due_call *call_queue_take_unsent(struct call_queue *queue);
struct due_call *call_queue_take(struct call_queue *queue);

#endif
