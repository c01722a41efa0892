#include "sim/tasks.h"

#include "base/assert.h"

#include <stdlib.h>

void tasks_init(struct tasks *tasks, uint32_t capacity, uint64_t ledger_max, uint64_t first_number,
                const uint64_t secret[2])
{
    *tasks = (struct tasks){.ledger_max = ledger_max, .next_number = first_number};
    slab_init(&tasks->slab, sizeof(struct task), capacity);
    table_init(&tasks->table, capacity, secret);
    list_init(&tasks->solving);
    list_init(&tasks->finished);
    list_init(&tasks->ledger);
}

static void drop_detail(struct tasks *tasks, struct task *task)
{
    struct task_detail *detail = task->detail;

    if (detail == NULL)
        return;
    list_unlink(&detail->link);
    blob_unref(detail->params);
    free(detail);
    task->detail = NULL;
    tasks->ledger_count--;
}

void tasks_release(struct tasks *tasks, struct task *task)
{
    ASSERT(!task->timer.is_armed);
    drop_detail(tasks, task);
    if (task->state == TASK_SOLVING)
        tasks->in_flight--;
    table_remove(&tasks->table, &task->by_id);
    list_unlink(&task->link);
    blob_unref(task->pingback);
    blob_unref(task->user_agent);
    slab_free(&tasks->slab, task->self);
}

void tasks_close(struct tasks *tasks)
{
    for (slab_id id = slab_next(&tasks->slab, 0); id != 0; id = slab_next(&tasks->slab, id)) {
        struct task *task = slab_get(&tasks->slab, id);
        tasks_release(tasks, task);
    }
    table_close(&tasks->table);
    slab_close(&tasks->slab);
}

static struct task *make_room(struct tasks *tasks, void (*forget)(void *, struct task *),
                              void *context, slab_id *self)
{
    struct list *oldest = list_first(&tasks->finished);

    if (oldest == NULL)
        return NULL;
    struct task *task = CONTAINER_OF(oldest, struct task, link);
    forget(context, task);
    tasks_release(tasks, task);
    return slab_alloc(&tasks->slab, self);
}

struct task *tasks_new(struct tasks *tasks, void (*forget)(void *context, struct task *task),
                       void *context)
{
    slab_id self;
    struct task *task = slab_alloc(&tasks->slab, &self);

    if (task == NULL)
        task = make_room(tasks, forget, context, &self);
    if (task == NULL)
        return NULL;
    task->self = self;
    task->number = tasks->next_number++;
    task->by_id.key = key_from_u64(task->number);
    table_insert(&tasks->table, &task->by_id);
    list_init(&task->link);
    list_append(&tasks->solving, &task->link);
    tasks->in_flight++;
    return task;
}

struct task *tasks_find(const struct tasks *tasks, uint64_t number)
{
    const struct key key = key_from_u64(number);
    struct table_node *node = table_find(&tasks->table, &key);

    return node == NULL ? NULL : CONTAINER_OF(node, struct task, by_id);
}

struct task *tasks_get(const struct tasks *tasks, slab_id self)
{
    return slab_get(&tasks->slab, self);
}

static void forget_oldest_detail(struct tasks *tasks)
{
    struct list *oldest = list_first(&tasks->ledger);
    struct task *task = CONTAINER_OF(oldest, struct task_detail, link)->task;

    drop_detail(tasks, task);
    tasks->forgotten++;
    if (task->state == TASK_EXPIRED)
        tasks_release(tasks, task);
}

void tasks_add_detail(struct tasks *tasks, struct task *task, struct blob *take_params)
{
    struct task_detail *detail = calloc(1, sizeof *detail);

    ASSERT(detail != NULL);
    detail->task = task;
    detail->params = take_params;
    task->detail = detail;
    list_init(&detail->link);
    list_append(&tasks->ledger, &detail->link);
    tasks->ledger_count++;
    while (tasks->ledger_count > tasks->ledger_max)
        forget_oldest_detail(tasks);
}

void tasks_settle(struct tasks *tasks, struct task *task, enum task_state state)
{
    ASSERT(task->state == TASK_SOLVING && (state == TASK_SOLVED || state == TASK_FAILED));
    task->state = (uint8_t)state;
    tasks->in_flight--;
    list_unlink(&task->link);
    list_append(&tasks->finished, &task->link);
}

void tasks_expire(struct tasks *tasks, struct task *task)
{
    ASSERT(task->state == TASK_SOLVED || task->state == TASK_FAILED);
    task->state = TASK_EXPIRED;
    if (task->detail == NULL)
        tasks_release(tasks, task);
}
