#include "engine/task.h"

#include "engine/attempt.h"
#include "engine/vigil.h"

/* As long as an attempt listens for callbacks. The vendor may reuse older ids. */
#define KEEP_MS 3600000

/* ---- names ------------------------------------------------------------------------------- */

struct blob *task_id_new(const char task_id[TASK_ID_MAX])
{
    return task_id[0] == '\0' ? NULL : blob_new(slice_from(task_id));
}

void task_id_copy(char out[TASK_ID_MAX], const struct blob *task_id)
{
    const struct slice text = blob_slice(task_id);
    ASSERT(text.len < TASK_ID_MAX);
    if (text.len > 0)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
}

bool task_id_is(const struct blob *task_id, const char other[TASK_ID_MAX])
{
    return slice_equals(blob_slice(task_id), slice_from(other));
}

void task_id_change(struct blob **task_id, const char other[TASK_ID_MAX])
{
    if (other[0] == '\0' || task_id_is(*task_id, other))
        return;
    blob_unref(*task_id);
    *task_id = task_id_new(other);
}

/* ---- finding ----------------------------------------------------------------------------- */

static uint64_t hash(const struct engine *engine, struct slice bytes)
{
    return table_hash_bytes(bytes.data, bytes.len, engine->options.secret);
}

uint64_t task_text_hash(const struct engine *engine, const struct blob *text)
{
    return text == NULL ? 0 : hash(engine, blob_slice(text));
}

static bool is_old(const struct engine *engine, const struct task *task)
{
    return task->since_ms + KEEP_MS <= engine->now_ms;
}

static struct task *find_record(const struct engine *engine, struct slice name, uint64_t number)
{
    struct numbers_node *node = numbers_find(&engine->tasks_by_name, number);
    for (; node != NULL; node = numbers_find_next(node)) {
        struct task *task = CONTAINER_OF(node, struct task, node);
        if (slice_equals(blob_slice(task->name), name) && !is_old(engine, task))
            return task;
    }
    return NULL;
}

/* The attempt that stands for the task, or NULL. */
static struct attempt *find_standing(const struct engine *engine, struct slice name,
                                     uint64_t number)
{
    struct numbers_node *node = numbers_find(&engine->attempts_by_task, number);
    for (; node != NULL; node = numbers_find_next(node)) {
        struct attempt *attempt = CONTAINER_OF(node, struct attempt, by_task);
        if (slice_equals(blob_slice(attempt->task_id), name))
            return attempt;
    }
    return NULL;
}

/* ---- birth and death --------------------------------------------------------------------- */

void tasks_init(struct engine *engine)
{
    list_init(&engine->tasks);
}

void tasks_close(struct engine *engine)
{
    for (slab_id id = 0; (id = slab_next(&engine->task_slab, id)) != 0;)
        blob_unref(((struct task *)slab_get(&engine->task_slab, id))->name);
}

static void forget(struct engine *engine, struct task *task)
{
    list_unlink(&task->link);
    numbers_remove(&engine->tasks_by_name, &task->node);
    blob_unref(task->name);
    slab_free_item(&engine->task_slab, task);
}

/* Forgets up to two tasks per new one, so that old tasks do not pile up. */
static void make_room(struct engine *engine)
{
    for (int left = 2; left > 0 && !list_is_empty(&engine->tasks); left--) {
        struct task *oldest = CONTAINER_OF(list_first(&engine->tasks), struct task, link);
        const bool is_full = engine->task_slab.used == engine->task_slab.capacity;
        if (!is_full && !is_old(engine, oldest))
            return;
        forget(engine, oldest);
    }
}

static struct task *task_new(struct engine *engine, struct blob *name, uint64_t number,
                             attempt_id attempt, const struct key *key)
{
    slab_id id;
    make_room(engine);
    struct task *task = slab_alloc(&engine->task_slab, &id);
    ASSERT(task != NULL);
    task->attempt = attempt;
    task->key = *key;
    task->since_ms = engine->now_ms;
    task->name = blob_ref(name);
    task->node.number = number;
    list_init(&task->link);
    list_append(&engine->tasks, &task->link);
    numbers_insert(&engine->tasks_by_name, &task->node);
    return task;
}

static void stand_for(struct engine *engine, struct attempt *attempt, uint64_t number)
{
    ASSERT(attempt != NULL);
    attempt->stands_for_task = true;
    attempt->by_task.number = number;
    numbers_insert(&engine->attempts_by_task, &attempt->by_task);
}

static struct task *record_of(struct engine *engine, struct attempt *attempt)
{
    attempt->stands_for_task = false;
    numbers_remove(&engine->attempts_by_task, &attempt->by_task);
    struct task *task = task_new(engine, attempt->task_id, attempt->by_task.number,
                                 attempt->by_name.number, attempt_key(attempt));
    /* Polls may have told more since, but another attempt's poll may meet another solution. */
    task->unborn_ms = attempt->started_ms;
    return task;
}

void task_keep(struct engine *engine, struct attempt *attempt)
{
    if (attempt->stands_for_task)
        (void)record_of(engine, attempt);
}

/* The task's record, which is made if an attempt stands for it; NULL if nobody named it. */
static struct task *find(struct engine *engine, struct slice name)
{
    const uint64_t number = hash(engine, name);
    struct attempt *standing = find_standing(engine, name, number);
    return standing != NULL ? record_of(engine, standing) : find_record(engine, name, number);
}

/* ---- who has it -------------------------------------------------------------------------- */

/* True if the solution is for all requests of the same key while it is fresh. */
static bool is_shared(const struct attempt *attempt)
{
    return attempt->reuse == REUSE_SHARED && !attempt->is_one_time;
}

static void take(struct engine *engine, struct task *task, bool is_shared, uint64_t text_hash,
                 uint64_t unborn_ms)
{
    task->unborn_ms = unborn_ms;
    task->is_shared = is_shared;
    task->is_claimed = true;
    task->text_hash = text_hash;
    task->since_ms = engine->now_ms;
    list_unlink(&task->link);
    list_append(&engine->tasks, &task->link);
}

static void alert(struct engine *engine, struct attempt *attempt)
{
    if (attempt->is_twin)
        return;
    attempt->is_twin = true;
    COUNT(engine, tasks_twice);
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = ALERT_TASK_TWICE;
    action->alert.attempt = attempt->by_name.number;
}

bool task_is_anothers(const struct engine *engine, const struct attempt *attempt, struct slice name)
{
    const uint64_t number = hash(engine, name);
    const struct attempt *standing = find_standing(engine, name, number);
    if (standing != NULL)
        return standing != attempt;
    const struct task *task = find_record(engine, name, number);
    return task != NULL && task->attempt != attempt->by_name.number;
}

/* May the attempt stand for the task of this name, or does it already? */
static bool may_stand(const struct attempt *attempt, const struct blob *name)
{
    return attempt->flight != NULL && name == attempt->task_id && attempt->state != ATTEMPT_SOLVED;
}

bool task_learn(struct engine *engine, struct attempt *attempt, struct blob *name)
{
    const uint64_t number = hash(engine, blob_slice(name));
    struct attempt *standing = find_standing(engine, blob_slice(name), number);
    if (standing != NULL && standing == attempt && may_stand(attempt, name))
        return true;
    struct task *task = standing != NULL ? record_of(engine, standing)
                                         : find_record(engine, blob_slice(name), number);
    if (task == NULL && may_stand(attempt, name)) {
        stand_for(engine, attempt, number);
        return true;
    }
    if (task == NULL) {
        task = task_new(engine, name, number, attempt->by_name.number, attempt_key(attempt));
        task->unborn_ms = attempt->unborn_ms;
    }
    /* The solution came before the task id. */
    if (attempt->state == ATTEMPT_SOLVED && !task->is_claimed)
        take(engine, task, is_shared(attempt) && key_equals(&task->key, attempt_key(attempt)),
             attempt->text_hash, attempt->unborn_ms);
    if (task->attempt == attempt->by_name.number)
        return true;
    alert(engine, attempt);
    return false;
}

/* Was this very text handed out before? An id that the vendor reuses comes with another text. */
static bool is_known_text(const struct task *task, uint64_t its)
{
    return (task->is_claimed && (task->text_hash == 0 || task->text_hash == its)) ||
           (task->own_hash != 0 && task->own_hash == its);
}

/* Two attempts share a solution only if it is shared, fresh, and for the same key. */
static bool may_have_too(const struct engine *engine, const struct task *task,
                         const struct attempt *attempt)
{
    const bool is_fresh = task->unborn_ms + engine->options.ttl_ms[attempt->type] > engine->now_ms;
    return is_fresh && task->is_shared && is_shared(attempt) &&
           key_equals(&task->key, attempt_key(attempt));
}

bool task_claim(struct engine *engine, struct attempt *attempt, struct slice name,
                uint64_t text_hash, bool is_called_back)
{
    struct task *task = name.len == 0 ? NULL : find(engine, name);
    if (task == NULL)
        return true;
    const bool is_same = key_equals(&task->key, attempt_key(attempt));
    /* The first attempt that named the task owns it. A poll for another key would bring a foreign solution. */
    const bool is_its_own = task->attempt == attempt->by_name.number || is_same || is_called_back;
    const bool is_known = is_known_text(task, text_hash);
    /* A restart forgets what polls brought to other attempts before. */
    if (task->is_restored && !is_its_own)
        return false;
    if (is_known ? !may_have_too(engine, task, attempt) : !task->is_claimed && !is_its_own)
        return false;
    /* A solution that another attempt had or ordered before is as old as it was there. */
    const bool is_anothers =
        !task->is_claimed && !is_called_back && task->attempt != attempt->by_name.number;
    if ((is_known || is_anothers) && task->unborn_ms < attempt->unborn_ms)
        attempt->unborn_ms = task->unborn_ms;
    /* The nonce proves that the text is this attempt's own; a poll would still bring the first attempt's. */
    if (is_called_back && !is_known && task->attempt != attempt->by_name.number)
        task->own_hash = text_hash;
    else
        take(engine, task, is_same && is_shared(attempt), text_hash, attempt->unborn_ms);
    return true;
}

bool task_has_text(const struct engine *engine, struct slice name)
{
    const uint64_t number = hash(engine, name);
    const struct task *task = find_record(engine, name, number);
    return find_standing(engine, name, number) != NULL ||
           (task != NULL && (!task->is_claimed || task->text_hash != 0));
}

void task_report_bad(struct engine *engine, const struct solution *solution)
{
    struct task *task =
        solution->task_id == NULL ? NULL : find(engine, blob_slice(solution->task_id));
    if (task != NULL)
        task->is_shared = false;
}

/* ---- after a restart --------------------------------------------------------------------- */

/* Rows are restored by kind and number, but a task belongs to the first attempt that named it, and
 * attempts are numbered in time. What the later one has was brought by its own callback. */
static void restore_owner(struct task *task, attempt_id attempt, const struct key *key)
{
    if (attempt >= task->attempt)
        return;
    if (task->own_hash == 0)
        task->own_hash = task->text_hash;
    task->attempt = attempt;
    task->key = *key;
    task->text_hash = 0;
    task->is_claimed = false;
}

void task_restore(struct engine *engine, struct attempt *attempt)
{
    if (attempt->task_id == NULL)
        return;
    struct task *task = find(engine, blob_slice(attempt->task_id));
    if (task != NULL)
        restore_owner(task, attempt->by_name.number, attempt_key(attempt));
    /* The operator was alerted before the restart. */
    attempt->is_twin = task_is_anothers(engine, attempt, blob_slice(attempt->task_id));
    (void)task_learn(engine, attempt, attempt->task_id);
    find(engine, blob_slice(attempt->task_id))->is_restored = true;
}

void task_restore_solution(struct engine *engine, const struct solution *solution, bool is_kept)
{
    if (solution->task_id == NULL)
        return;
    struct task *task = find(engine, blob_slice(solution->task_id));
    if (task == NULL)
        task = task_new(engine, solution->task_id, hash(engine, blob_slice(solution->task_id)),
                        solution->attempt, &solution->node.key);
    restore_owner(task, solution->attempt, &solution->node.key);
    if (task->is_claimed)
        return;
    task->is_restored = true;
    take(engine, task, solution->is_shared && is_kept, task_text_hash(engine, solution->text),
         solution->born_ms);
}

void task_restore_letter(struct engine *engine, const struct letter_row *row)
{
    const bool is_its_solution = row->kind == LETTER_OF_ORPHAN || row->kind == LETTER_OF_ANSWER;
    const struct task *task =
        row->task_id[0] == '\0' ? NULL : find(engine, slice_from(row->task_id));
    struct attempt *attempt = task == NULL ? NULL : attempt_find(engine, task->attempt);
    if (is_its_solution && attempt != NULL && attempt->state == ATTEMPT_SOLVED &&
        attempt->text_hash == 0)
        attempt->text_hash = task_text_hash(engine, row->text);
}

static void check_standing(const struct engine *engine)
{
    size_t count = 0;
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;) {
        const struct attempt *attempt = slab_get(&engine->attempts, id);
        ASSERT(!attempt->stands_for_task || (attempt->flight != NULL && attempt->task_id != NULL));
        count += attempt->stands_for_task;
    }
    ASSERT(engine->attempts_by_task.count == count);
}

void tasks_check(const struct engine *engine)
{
    check_standing(engine);
    numbers_check(&engine->attempts_by_task);
    slab_check(&engine->task_slab);
    numbers_check(&engine->tasks_by_name);
    ASSERT(list_length(&engine->tasks) == engine->task_slab.used);
    ASSERT(engine->tasks_by_name.count == engine->task_slab.used);
}
