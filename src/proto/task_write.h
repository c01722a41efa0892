/* Replies of the createTask dialect; each is a whole JSON object (docs/createtask.md). */
#ifndef SOLVEGATE_PROTO_TASK_WRITE_H
#define SOLVEGATE_PROTO_TASK_WRITE_H

#include "base/buf.h"

#include <solvegate/event.h>

/* The reply to createTask. The solution is in it if it is known already. */
void task_write_created(struct buf *out, const struct answer *answer);

/* Facts that getTaskResult and a notice add to the answer. */
struct task_facts {
    int64_t wall_ms;     /* now */
    uint64_t cost_micro; /* the price of its type, in millionths */
    bool has_id;         /* callbacks name the task; replies must not */
};

void task_write_result(struct buf *out, const struct answer *answer,
                       const struct task_facts *facts);

/* {"errorId":0,"status":"success"} */
void task_write_success(struct buf *out);

/* has_status: the reply is about a task, so it says "failed". The word is the vendor's; the code is
 * the dialect's for it. */
void task_write_error(struct buf *out, struct slice word, struct slice detail, bool has_status);

/* The reply to getBalance. */
void task_write_balance(struct buf *out, const struct probed *probed);

struct task_queue {
    uint32_t total;      /* slots of the vendor's plan */
    uint32_t used;       /* slots in use */
    uint64_t bid_micro;  /* price of the queue's type */
    uint64_t average_ms; /* of a solve */
};

void task_write_queue(struct buf *out, const struct task_queue *queue);

/* The type behind a queueId of getQueueStats. */
enum type task_queue_type(struct slice queue_id);

#endif
