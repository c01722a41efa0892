/* Calls that are due and wait for a connection: submits first, else first come, first served. What waits can be
 * taken back. */
#ifndef SOLVEGATE_UPSTREAM_UPSTREAM_QUEUE_H
#define SOLVEGATE_UPSTREAM_UPSTREAM_QUEUE_H

#include "base/list.h"
#include "base/table.h"
#include "upstream/transfer.h"

struct due_call {
    struct list link;
    struct table_node node; /* by attempt and kind, while a submit or poll waits */
    enum call_kind kind;
    bool is_good;      /* of a report */
    bool is_refused;   /* came when the queue was full: it is told so in its turn */
    bool is_withdrawn; /* the same, since nobody wants it any more */
    attempt_id attempt;
    struct blob *params;   /* owned, of a submit */
    struct blob *pingback; /* owned, of a submit, or NULL */
    char task_id[TASK_ID_MAX];
};

struct call_queue {
    struct list unsent; /* refused or withdrawn: they are told so in their turn */
    struct list submits, others;
    struct table by_attempt;
    uint32_t waiting; /* without the unsent */
    uint32_t limit;
};

/* secret: of the table, random per process. */
void call_queue_init(struct call_queue *queue, uint32_t limit, const uint64_t secret[2]);
/* Drops everything. */
void call_queue_close(struct call_queue *queue);

struct due_call *due_call_new(enum call_kind kind, attempt_id attempt);
void due_call_free(struct due_call *call);

/* Takes the call over. */
void call_queue_add(struct call_queue *queue, struct due_call *take_call);

/* Takes this attempt's submit or poll out of those that wait; false when it does not. */
bool call_queue_withdraw(struct call_queue *queue, enum call_kind kind, attempt_id attempt);

/* The caller owns it then; NULL when there is none. */
struct due_call *call_queue_take_unsent(struct call_queue *queue);
struct due_call *call_queue_take(struct call_queue *queue);

#endif
