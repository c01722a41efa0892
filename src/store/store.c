#include "store/store.h"

#include "base/assert.h"
#include "store/store_load.h"
#include "store/store_private.h"
#include "store/store_rows.h"
#include "store/store_upkeep.h"

#include <stdlib.h>

/* A letter's notes or a day's counters as JSON, with room to spare. */
#define SCRATCH_MAX (16 << 20)

void store_queue_push(struct store_queue *queue, struct store_entry *entry)
{
    entry->next = NULL;
    if (queue->last == NULL)
        queue->first = entry;
    else
        queue->last->next = entry;
    queue->last = entry;
    queue->count++;
}

void store_queue_join(struct store_queue *to, struct store_queue *from)
{
    if (from->first == NULL)
        return;
    if (to->last == NULL)
        to->first = from->first;
    else
        to->last->next = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (struct store_queue){0};
}

void store_queue_split(struct store_queue *from, uint32_t count, struct store_queue *front)
{
    ASSERT(front->first == NULL && count > 0 && count <= from->count);
    struct store_entry *last = from->first;
    for (uint32_t i = 1; i < count; i++)
        last = last->next;
    *front = (struct store_queue){.first = from->first, .last = last, .count = count};
    from->first = last->next;
    from->count -= count;
    if (from->first == NULL)
        from->last = NULL;
    last->next = NULL;
}

void store_queue_clear(struct store_queue *queue)
{
    struct store_entry *entry = queue->first;
    while (entry != NULL) {
        struct store_entry *const next = entry->next;
        record_close(&entry->record);
        free(entry->leap);
        free(entry);
        entry = next;
    }
    *queue = (struct store_queue){0};
}

enum store_opening store_lock(const char *directory, struct store **store, struct buf *mistake)
{
    struct store *const made = calloc(1, sizeof(*made));
    ASSERT(made != NULL);
    const enum store_opening opening = db_lock(&made->db, directory, mistake);
    if (opening != STORE_OPENED) {
        free(made);
        *store = NULL;
        return opening;
    }
    buf_init(&made->scratch, SCRATCH_MAX);
    ASSERT(uv_mutex_init(&made->mutex) == 0 && uv_cond_init(&made->work) == 0);
    *store = made;
    return STORE_OPENED;
}

enum store_opening store_open(struct store *store, const struct store_names *names,
                              struct buf *mistake)
{
    store->names = *names;
    const enum store_opening opening = db_open(&store->db, mistake);
    store->counters.lost_solutions = (uint64_t)store->db.loss.solutions;
    store->counters.lost_idempotency = (uint64_t)store->db.loss.idempotency;
    return opening;
}

void store_explain(const struct store *store, struct buf *mistake)
{
    db_explain(&store->db, mistake);
}

int store_secret(struct store *store, const char *name, uint8_t *bytes, size_t count)
{
    ASSERT(!store->is_started);
    return db_secret(&store->db, name, bytes, count);
}

int store_rotating_secret(struct store *store, const char *name, int64_t max_age_ms, uint8_t *bytes,
                          uint8_t *old_bytes, size_t count)
{
    ASSERT(!store->is_started);
    return db_rotating_secret(&store->db, name, max_age_ms, bytes, old_bytes, count);
}

int store_load(struct store *store, const struct clocks *now,
               void (*on_row)(void *context, const struct record *record), void *context)
{
    ASSERT(!store->is_started);
    store->dead_wall_ms = now->wall_ms;
    const int err = db_meet_clock(&store->db, now);
    return err != 0 ? err
                    : load_rows(&store->db, &store->names, now->wall_ms, on_row, context,
                                &store->counters.skipped);
}

static void on_async_closed(uv_handle_t *handle)
{
    struct store *const store = handle->data;
    store->is_closed = true;
    if (store->on_closed != NULL)
        store->on_closed(store->on_closed_context);
}

struct news {
    struct store_queue done;
    enum store_state state;
    char why[sizeof(((struct store *)NULL)->why)];
    bool is_finished;
};

static void take_news(struct store *store, struct news *news)
{
    struct store_counters *const counters = &store->counters;
    uv_mutex_lock(&store->mutex);
    news->done = store->done;
    store->done = (struct store_queue){0};
    news->state = store->state;
    memcpy(news->why, store->why, sizeof(news->why));
    news->is_finished = store->is_finished;
    counters->records = store->records;
    counters->commits = store->commits;
    counters->bytes = store->bytes;
    counters->commit_ms_max = store->commit_ms_max;
    counters->commit_times = store->commit_times;
    uv_mutex_unlock(&store->mutex);
    counters->waiting -= news->done.count;
}

/* What was durable before the writer broke still is, so it is told first. */
static void on_wake(uv_async_t *wake)
{
    struct store *const store = wake->data;
    const struct store_handlers *const handlers = &store->handlers;
    struct news news;
    take_news(store, &news);
    const journal_seq durable = news.done.last == NULL ? 0 : news.done.last->seq;
    store_queue_clear(&news.done);
    /* A leap of the clock has no number of its own. */
    if (durable > store->durable) {
        store->durable = durable;
        handlers->on_durable(handlers->context, durable);
    }
    if (news.state != store->told) {
        store->told = news.state;
        handlers->on_state(handlers->context, news.state,
                           news.state == STORE_WRITABLE ? "" : news.why);
    }
    if (news.is_finished && !uv_is_closing((uv_handle_t *)wake)) {
        ASSERT(uv_thread_join(&store->thread) == 0);
        uv_close((uv_handle_t *)wake, on_async_closed);
    }
}

void store_start(struct store *store, struct uv_loop_s *loop, const struct store_handlers *handlers)
{
    ASSERT(!store->is_started && !store->is_closing);
    store->handlers = *handlers;
    ASSERT(uv_async_init(loop, &store->wake, on_wake) == 0);
    store->wake.data = store;
    store->is_started = true;
    store_check_start(store);
    ASSERT(uv_thread_create(&store->thread, store_writer_run, store) == 0);
}

static struct store_entry *entry_new(const struct store *store, journal_seq seq,
                                     struct record *take_record)
{
    const client_id *const client = row_client(take_record);
    const char *const name =
        client == NULL ? "" : store->names.name_of(store->names.context, *client);
    const size_t len = strlen(name);
    struct store_entry *const entry = malloc(sizeof(*entry) + len + 1);
    ASSERT(entry != NULL);
    entry->seq = seq;
    entry->leap = NULL;
    entry->record = *take_record;
    entry->client_len = len;
    memcpy(entry->client, name, len + 1);
    return entry;
}

static void enqueue(struct store *store, struct store_entry *entry)
{
    uv_mutex_lock(&store->mutex);
    const bool was_empty = store->queue.count == 0;
    store_queue_push(&store->queue, entry);
    uv_mutex_unlock(&store->mutex);
    /* Only an idle writer waits, and it has taken everything before. */
    if (was_empty)
        uv_cond_signal(&store->work);
}

void store_append(struct store *store, journal_seq seq, struct record *take_record)
{
    ASSERT(seq > store->latest);
    store->latest = seq;
    store->counters.waiting++;
    if (store->told == STORE_BROKEN)
        record_close(take_record);
    else
        enqueue(store, entry_new(store, seq, take_record));
}

void store_leap(struct store *store, int64_t by_ms, const struct clocks *now)
{
    struct record nothing = {.is_drop = true};
    if (store->told == STORE_BROKEN)
        return;
    struct store_entry *const entry = entry_new(store, store->latest, &nothing);
    entry->leap = malloc(sizeof(*entry->leap));
    ASSERT(entry->leap != NULL);
    *entry->leap = (struct store_leap){.by_ms = by_ms, .now = *now};
    store->counters.waiting++;
    enqueue(store, entry);
}

void store_counters(const struct store *store, struct store_counters *counters)
{
    *counters = store->counters;
}

void store_close(struct store *store, void (*on_closed)(void *context), void *context)
{
    ASSERT(!store->is_closing);
    store->is_closing = true;
    store->on_closed = on_closed;
    store->on_closed_context = context;
    if (!store->is_started) {
        store->is_closed = true;
        if (on_closed != NULL)
            on_closed(context);
        return;
    }
    store_check_stop(store);
    uv_mutex_lock(&store->mutex);
    store->must_end = true;
    uv_mutex_unlock(&store->mutex);
    uv_cond_signal(&store->work);
}

void store_free(struct store *store)
{
    if (store == NULL)
        return;
    ASSERT(!store->is_started || store->is_closed);
    store_queue_clear(&store->queue);
    store_queue_clear(&store->batch);
    store_queue_clear(&store->done);
    db_close(&store->db);
    buf_close(&store->scratch);
    uv_cond_destroy(&store->work);
    uv_mutex_destroy(&store->mutex);
    free(store);
}
