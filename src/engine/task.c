#include "engine/task.h"

#include "engine/attempt.h"

/* As long as an attempt listens for callbacks. The vendor may reuse older ids. */
#define KEEP_MS 3600000

/* ---- finding ----------------------------------------------------------------------------- */

static uint64_t hash(const struct engine *engine, struct slice bytes)
{
    return table_hash_bytes(bytes.data, bytes.len, engine->options.secret);
}

uint64_t task_text_hash(const struct engine *engine, const struct blob *text)
{
    return text == NULL ? 0 : hash(engine, blob_slice(text));
}

/* Most ids fit into a key as they are; the table hashes the key. */
static struct key key_of(const struct engine *engine, const char name[TASK_ID_MAX])
{
    const struct slice text = slice_from(name);
    if (text.len > KEY_BYTES)
        return key_from_u64(hash(engine, text));
    struct key key = {{0}};
    memcpy(key.bytes, text.data, text.len);
    return key;
}

static bool is_old(const struct engine *engine, const struct task *task)
{
    return task->since_ms + KEEP_MS <= engine->now_ms;
}

static struct task *find(const struct engine *engine, const char name[TASK_ID_MAX])
{
    const struct key key = key_of(engine, name);
    struct table_node *node = table_find(&engine->tasks_by_name, &key);
    for (; node != NULL; node = table_find_next(node)) {
        struct task *task = CONTAINER_OF(node, struct task, node);
        if (strcmp(task->name, name) == 0 && !is_old(engine, task))
            return task;
    }
    return NULL;
}

/* ---- birth and death --------------------------------------------------------------------- */

void tasks_init(struct engine *engine)
{
    list_init(&engine->tasks);
}

static void forget(struct engine *engine, struct task *task)
{
    list_unlink(&task->link);
    table_remove(&engine->tasks_by_name, &task->node);
    slab_free(&engine->task_slab, task->id);
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

static struct task *task_new(struct engine *engine, const char name[TASK_ID_MAX],
                             attempt_id attempt, const struct key *key)
{
    slab_id id;
    make_room(engine);
    struct task *task = slab_alloc(&engine->task_slab, &id);
    ASSERT(task != NULL);
    task->id = id;
    task->attempt = attempt;
    task->key = *key;
    task->since_ms = engine->now_ms;
    memcpy(task->name, name, TASK_ID_MAX);
    task->node.key = key_of(engine, name);
    list_init(&task->link);
    list_append(&engine->tasks, &task->link);
    table_insert(&engine->tasks_by_name, &task->node);
    return task;
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
    action->alert.attempt = attempt->name;
}

bool task_is_anothers(const struct engine *engine, const struct attempt *attempt,
                      const char name[TASK_ID_MAX])
{
    const struct task *task = find(engine, name);
    return task != NULL && task->attempt != attempt->name;
}

bool task_learn(struct engine *engine, struct attempt *attempt, const char name[TASK_ID_MAX])
{
    struct task *task = find(engine, name);
    if (task == NULL) {
        task = task_new(engine, name, attempt->name, &attempt->key);
        task->unborn_ms = attempt->unborn_ms;
    }
    /* The solution came before the task id. */
    if (attempt->state == ATTEMPT_SOLVED && !task->is_claimed)
        take(engine, task, is_shared(attempt) && key_equals(&task->key, &attempt->key),
             attempt->text_hash, attempt->unborn_ms);
    if (task->attempt == attempt->name)
        return true;
    alert(engine, attempt);
    return false;
}

/* Was this very text handed out before? An id that the vendor reuses comes with another text. */
static bool is_known_text(const struct engine *engine, const struct task *task,
                          const struct blob *text)
{
    const uint64_t its = task_text_hash(engine, text);
    return (task->is_claimed && (task->text_hash == 0 || task->text_hash == its)) ||
           (task->own_hash != 0 && task->own_hash == its);
}

/* Two attempts share a solution only if it is shared, fresh, and for the same key. */
static bool may_have_too(const struct engine *engine, const struct task *task,
                         const struct attempt *attempt)
{
    const bool is_fresh = task->unborn_ms + engine->options.ttl_ms[attempt->type] > engine->now_ms;
    return is_fresh && task->is_shared && is_shared(attempt) &&
           key_equals(&task->key, &attempt->key);
}

bool task_claim(struct engine *engine, struct attempt *attempt, const char name[TASK_ID_MAX],
                const struct blob *text, bool is_called_back)
{
    struct task *task = name[0] == '\0' ? NULL : find(engine, name);
    if (task == NULL)
        return true;
    const bool is_same = key_equals(&task->key, &attempt->key);
    /* The first attempt that named the task owns it. A poll for another key would bring a foreign solution. */
    const bool is_its_own = task->attempt == attempt->name || is_same || is_called_back;
    const bool is_known = is_known_text(engine, task, text);
    /* A restart forgets what polls brought to other attempts before. */
    if (task->is_restored && !is_its_own)
        return false;
    if (is_known ? !may_have_too(engine, task, attempt) : !task->is_claimed && !is_its_own)
        return false;
    /* A solution that another attempt had or ordered before is as old as it was there. */
    const bool is_anothers = !task->is_claimed && !is_called_back && task->attempt != attempt->name;
    if ((is_known || is_anothers) && task->unborn_ms < attempt->unborn_ms)
        attempt->unborn_ms = task->unborn_ms;
    /* The nonce proves that the text is this attempt's own; a poll would still bring the first attempt's. */
    if (is_called_back && !is_known && task->attempt != attempt->name)
        task->own_hash = task_text_hash(engine, text);
    else
        take(engine, task, is_same && is_shared(attempt), task_text_hash(engine, text),
             attempt->unborn_ms);
    return true;
}

bool task_has_text(const struct engine *engine, const char name[TASK_ID_MAX])
{
    const struct task *task = find(engine, name);
    return task != NULL && (!task->is_claimed || task->text_hash != 0);
}

void task_report_bad(struct engine *engine, const struct solution *solution)
{
    struct task *task = solution->task_id[0] == '\0' ? NULL : find(engine, solution->task_id);
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
    if (attempt->task_id[0] == '\0')
        return;
    struct task *task = find(engine, attempt->task_id);
    if (task != NULL)
        restore_owner(task, attempt->name, &attempt->key);
    /* The operator was alerted before the restart. */
    attempt->is_twin = task_is_anothers(engine, attempt, attempt->task_id);
    (void)task_learn(engine, attempt, attempt->task_id);
    find(engine, attempt->task_id)->is_restored = true;
}

void task_restore_solution(struct engine *engine, const struct solution *solution, bool is_kept)
{
    if (solution->task_id[0] == '\0')
        return;
    struct task *task = find(engine, solution->task_id);
    if (task == NULL)
        task = task_new(engine, solution->task_id, solution->attempt, &solution->node.key);
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
    const struct task *task = row->task_id[0] == '\0' ? NULL : find(engine, row->task_id);
    struct attempt *attempt = task == NULL ? NULL : attempt_find(engine, task->attempt);
    if (is_its_solution && attempt != NULL && attempt->state == ATTEMPT_SOLVED &&
        attempt->text_hash == 0)
        attempt->text_hash = task_text_hash(engine, row->text);
}

void tasks_check(const struct engine *engine)
{
    slab_check(&engine->task_slab);
    table_check(&engine->tasks_by_name);
    ASSERT(list_length(&engine->tasks) == engine->task_slab.used);
    ASSERT(engine->tasks_by_name.count == engine->task_slab.used);
}
