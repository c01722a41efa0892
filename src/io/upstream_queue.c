#include "io/upstream_queue.h"

#include "base/assert.h"

#include <stdlib.h>

void call_queue_init(struct call_queue *queue, uint32_t limit)
{
    *queue = (struct call_queue){.limit = limit};
    list_init(&queue->refused);
    list_init(&queue->submits);
    list_init(&queue->others);
}

struct due_call *due_call_new(enum call_kind kind, attempt_id attempt)
{
    struct due_call *call = calloc(1, sizeof(*call));
    ASSERT(call != NULL);
    list_init(&call->link);
    call->kind = kind;
    call->attempt = attempt;
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
    while ((call = call_queue_take_refused(queue)) != NULL)
        due_call_free(call);
    while ((call = call_queue_take(queue)) != NULL)
        due_call_free(call);
}

void call_queue_add(struct call_queue *queue, struct due_call *take_call)
{
    if (queue->waiting >= queue->limit) {
        take_call->is_refused = true;
        list_append(&queue->refused, &take_call->link);
        return;
    }
    queue->waiting++;
    list_append(take_call->kind == CALL_SUBMIT ? &queue->submits : &queue->others,
                &take_call->link);
}

struct due_call *call_queue_take_refused(struct call_queue *queue)
{
    return take_first(&queue->refused);
}

struct due_call *call_queue_take(struct call_queue *queue)
{
    struct due_call *call = take_first(&queue->submits);
    if (call == NULL)
        call = take_first(&queue->others);
    if (call != NULL)
        queue->waiting--;
    return call;
}
