#include "upstream/upstream_queue.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void call_queue_init(struct call_queue *queue, uint32_t limit, const uint64_t secret[2])
{
    *queue = (struct call_queue){.limit = limit};
    numbers_init(&queue->by_attempt, limit, secret);
    list_init(&queue->unsent);
    list_init(&queue->submits);
    list_init(&queue->others);
}

struct due_call *due_call_new(enum call_kind kind, attempt_id attempt, struct slice task_id)
{
    ASSERT(task_id.len < TASK_ID_MAX);
    struct due_call *call = calloc(1, sizeof *call + task_id.len + 1);
    ASSERT(call != NULL);
    list_init(&call->link);
    call->kind = kind;
    call->node.number = attempt;
    if (task_id.len > 0)
        memcpy(call->task_id, task_id.data, task_id.len);
    return call;
}

void due_call_free(struct due_call *call)
{
    list_unlink(&call->link);
    blob_unref(call->params);
    blob_unref(call->pingback);
    free(call);
}

static struct due_call *take_first(struct list *list)
{
    struct list *link = list_first(list);
    if (link == NULL)
        return NULL;
    list_unlink(link);
    return CONTAINER_OF(link, struct due_call, link);
}

void call_queue_close(struct call_queue *queue)
{
    struct due_call *call;
    while ((call = call_queue_take_unsent(queue)) != NULL)
        due_call_free(call);
    while ((call = call_queue_take(queue)) != NULL)
        due_call_free(call);
    numbers_close(&queue->by_attempt);
}

/* ---- waiting ------------------------------------------------------------------------------ */

static bool can_be_withdrawn(enum call_kind kind)
{
    return kind == CALL_SUBMIT || kind == CALL_POLL;
}

/* A submit and a poll of one attempt may wait at the same time, but never two of one kind. */
static struct due_call *find(const struct call_queue *queue, enum call_kind kind,
                             attempt_id attempt)
{
    struct numbers_node *node = numbers_find(&queue->by_attempt, attempt);
    for (; node != NULL; node = numbers_find_next(node)) {
        struct due_call *call = CONTAINER_OF(node, struct due_call, node);
        if (call->kind == kind)
            return call;
    }
    return NULL;
}

void call_queue_add(struct call_queue *queue, struct due_call *take_call)
{
    if (queue->waiting >= queue->limit) {
        take_call->is_refused = true;
        list_append(&queue->unsent, &take_call->link);
        return;
    }
    queue->waiting++;
    if (can_be_withdrawn(take_call->kind))
        numbers_insert(&queue->by_attempt, &take_call->node);
    list_append(take_call->kind == CALL_SUBMIT ? &queue->submits : &queue->others,
                &take_call->link);
}

struct due_call *call_queue_take_unsent(struct call_queue *queue)
{
    return take_first(&queue->unsent);
}

static void stop_waiting(struct call_queue *queue, struct due_call *call)
{
    queue->waiting--;
    if (can_be_withdrawn(call->kind))
        numbers_remove(&queue->by_attempt, &call->node);
}

bool call_queue_withdraw(struct call_queue *queue, enum call_kind kind, attempt_id attempt)
{
    struct due_call *call = find(queue, kind, attempt);
    if (call == NULL)
        return false;
    stop_waiting(queue, call);
    call->is_withdrawn = true;
    list_unlink(&call->link);
    list_append(&queue->unsent, &call->link);
    return true;
}

struct due_call *call_queue_take(struct call_queue *queue)
{
    struct due_call *call = take_first(&queue->submits);
    if (call == NULL)
        call = take_first(&queue->others);
    if (call != NULL)
        stop_waiting(queue, call);
    return call;
}
