/* Calls that are due and wait for a connection: submits first, else first come, first served. */
#ifndef SOLVEGATE_IO_UPSTREAM_QUEUE_H
#define SOLVEGATE_IO_UPSTREAM_QUEUE_H

#include "base/list.h"
#include "io/transfer.h"

struct due_call {
    struct list link;
    enum call_kind kind;
    bool is_good;    /* of a report */
    bool is_refused; /* came when the queue was full: it is told so in its turn */
    attempt_id attempt;
    struct blob *params;   /* owned, of a submit */
    struct blob *pingback; /* owned, of a submit, or NULL */
    char task_id[TASK_ID_MAX];
};

struct call_queue {
    struct list refused, submits, others;
    uint32_t waiting; /* without the refused */
    uint32_t limit;
};

void call_queue_init(struct call_queue *queue, uint32_t limit);
/* Drops everything. */
void call_queue_close(struct call_queue *queue);

struct due_call *due_call_new(enum call_kind kind, attempt_id attempt);
void due_call_free(struct due_call *call);

/* Takes the call over. */
void call_queue_add(struct call_queue *queue, struct due_call *take_call);

/* The caller owns it then; NULL when there is none. */
struct due_call *call_queue_take_refused(struct call_queue *queue);
struct due_call *call_queue_take(struct call_queue *queue);

#endif
