#include "store/store_writer.h"

#include "base/assert.h"
#include "store/store_check.h"
#include "store/store_clock.h"
#include "store/store_find.h"
#include "store/store_private.h"
#include "store/store_secret.h"

#include <sodium.h>
#include <stdio.h>

#define TENTH_NS UINT64_C(100000)
#define MS_NS UINT64_C(1000000)
/* Limits the size of a transaction when many records are queued. */
#define BATCH_MAX 4096
/* Others may wait for a batch with claims. */
#define CLAIMS_MAX 256
/* A server that cannot be reached may be back soon, or be overwhelmed by those who ask. */
#define AWAY_FIRST_MS 100
#define AWAY_MOST_MS 5000
/* A minute. */
#define LOOK_BEATS 30
#define TIDY_EVERY_NS (UINT64_C(300) * 1000 * MS_NS)
/* Rows deleted at a time, few enough that no record waits long behind them. */
#define TIDY_ROWS 512
#define TIDY_AGAIN_NS (20 * MS_NS)
/* The secret's age follows the wall clock, which may be set at any time. */
#define ROTATE_CHECK_MOST_MS 3600000
#define ROTATE_CHECK_LEAST_MS 100

enum work {
    WORK_WRITE,
    WORK_BEAT,
    WORK_LOOK,
    WORK_TIDY,
    WORK_ROTATE,
    WORK_END,
};

void store_wake(struct store *store)
{
    uv_mutex_lock(&store->mutex);
    const bool is_started = store->is_started;
    uv_mutex_unlock(&store->mutex);
    if (is_started)
        (void)uv_async_send(&store->wake);
}

void store_report(struct store *store, enum store_state state, const char *why)
{
    uv_mutex_lock(&store->mutex);
    const bool is_final =
        store->state == STORE_BROKEN || (store->state == STORE_FENCED && state != STORE_BROKEN);
    if (!is_final) {
        store->state = state;
        (void)snprintf(store->why, sizeof store->why, "%s", why);
    }
    uv_mutex_unlock(&store->mutex);
    store_wake(store);
}

void store_publish(struct store *store)
{
    const struct store_backend *const backend = store->backend;
    struct store_facts facts = {.is_async = backend->is_async, .losses = backend->losses};
    memcpy(facts.server, backend->server, sizeof facts.server);
    memcpy(facts.durability, backend->durability, sizeof facts.durability);
    memcpy(facts.loss, backend->loss, sizeof facts.loss);
    uv_mutex_lock(&store->mutex);
    store->facts = facts;
    store->reconnects = backend->reconnects;
    uv_mutex_unlock(&store->mutex);
}

/* Maintenance that finds no disk space is retried later; the records themselves are safe. */
static void break_if_failed(struct store *store, enum store_result result)
{
    if (result == STORE_FAILED || result == STORE_REFUSED)
        store_report(store, result == STORE_FAILED ? STORE_BROKEN : STORE_FENCED,
                     store->backend->why);
}

static void settle(struct store *store, bool is_last)
{
    const struct store_driver *const driver = store->backend->driver;
    if (driver->settle != NULL)
        break_if_failed(store, driver->settle(store->backend, is_last));
}

static void on_written(struct store *store, uint32_t count, uint64_t took_ns)
{
    struct store_queue written = {0};
    store_queue_split(&store->batch, count, &written);
    store->batches++;
    store->retry_at_ns = 0;
    store->away_tries = 0;
    store->has_tried_last = false;
    store_publish(store);
    uv_mutex_lock(&store->mutex);
    if (store->state != STORE_BROKEN && store->state != STORE_FENCED)
        store->state = STORE_WRITABLE;
    store->records += count;
    store->commits++;
    store->bytes = store->backend->bytes;
    histogram_add(&store->commit_times, took_ns / MS_NS);
    histogram_add(&store->round_trips, took_ns / TENTH_NS);
    histogram_add(&store->batch_sizes, count);
    if (took_ns / MS_NS > store->commit_ms_max)
        store->commit_ms_max = took_ns / MS_NS;
    store_queue_join(&store->done, &written);
    uv_mutex_unlock(&store->mutex);
    (void)uv_async_send(&store->wake);
}

/* Does the entry drop the solution of a release that comes before it? The end of a claim keeps a copy of it. */
static bool drops_released(const struct store_batch *batch, const struct store_entry *drop)
{
    if (!store_entry_is_record(drop) || drop->record.kind != RECORD_SOLUTION ||
        !drop->record.is_drop)
        return false;
    const struct store_entry *entry = batch->first;
    for (uint32_t i = 0; i < batch->count; i++, entry = entry->next)
        if (entry->release != NULL && entry->release->solution == drop->record.solution.id)
            return true;
    return false;
}

/* A shift is sent alone. In a batch with records it could not be sent twice: the records before it
 * would have to move again, and all others must not. In a batch records come first and claims last: a claim may be
 * decided later than others that follow it, and the end of one finds rows that were written after it no better, but
 * not those that were dropped. */
static struct store_batch next_batch(const struct store *store)
{
    struct store_batch batch = {.first = store->batch.first, .number = store->batches + 1};
    const uint32_t limit = store->backend->batch_most;
    const uint32_t most = limit == 0 || limit > BATCH_MAX ? BATCH_MAX : limit;
    unsigned releases = 0;
    unsigned claims = 0;
    for (const struct store_entry *entry = batch.first; entry != NULL; entry = entry->next) {
        const bool is_alone = entry->shift != NULL && batch.count > 0;
        if (batch.count == most || is_alone || claims == CLAIMS_MAX ||
            (releases > 0 && drops_released(&batch, entry)))
            break;
        batch.count++;
        if (entry->shift != NULL)
            break;
        releases += entry->release != NULL;
        claims += entry->asked != NULL || entry->drawn != NULL;
    }
    return batch;
}

static enum store_result write_batch(struct store *store, const struct store_batch *batch)
{
    const struct store_driver *const driver = store->backend->driver;
    uv_mutex_lock(&store->mutex);
    store->backend->is_held_up = store->must_hold;
    uv_mutex_unlock(&store->mutex);
    if (batch->first->shift == NULL)
        return driver->write(store->backend, batch);
    /* Searches again for expired rows, now by the new clock. */
    store->expired_wall_ms = 0;
    store->tidy_at_ns = uv_hrtime() + TIDY_EVERY_NS;
    return driver->shift(store->backend, batch->first->shift);
}

static enum store_state state_after(enum store_result result)
{
    switch (result) {
    case STORE_DONE:
        return STORE_WRITABLE;
    case STORE_RETRY:
        return STORE_AWAY;
    case STORE_NO_ROOM:
        return STORE_FULL;
    case STORE_FAILED:
        return STORE_BROKEN;
    case STORE_REFUSED:
        return STORE_FENCED;
    }
    UNREACHABLE();
}

/* Doubles with every try in vain; the last half is random, so that many gateways do not return together. */
static uint64_t away_ns(struct store *store)
{
    uint32_t wait_ms = AWAY_FIRST_MS;
    for (unsigned i = 0; i < store->away_tries && wait_ms < AWAY_MOST_MS; i++)
        wait_ms *= 2;
    if (wait_ms > AWAY_MOST_MS)
        wait_ms = AWAY_MOST_MS;
    store->away_tries++;
    return (wait_ms / 2 + randombytes_uniform(wait_ms / 2 + 1)) * MS_NS;
}

static uint64_t retry_ns(struct store *store, enum store_result result)
{
    /* Disk space comes back when somebody makes room. */
    return result == STORE_RETRY ? away_ns(store) : store->beat_ns / 2;
}

static void plan_beat(struct store *store)
{
    const bool has_beat = store->backend->driver->beat != NULL;
    store->beat_at_ns = has_beat ? uv_hrtime() + store->beat_ns : UINT64_MAX;
}

/* A batch stays the same until it is written: if its outcome is unknown, exactly this batch is sent
 * again. */
static void do_write(struct store *store)
{
    const uint64_t start = uv_hrtime();
    const struct store_batch batch = next_batch(store);
    const enum store_result result = write_batch(store, &batch);
    if (result != STORE_DONE) {
        store->retry_at_ns = uv_hrtime() + retry_ns(store, result);
        /* The retry is the next question, too. */
        if (result == STORE_RETRY && store->beat_at_ns != UINT64_MAX)
            store->beat_at_ns = store->retry_at_ns + store->beat_ns;
        store_report(store, state_after(result), store->backend->why);
        return;
    }
    on_written(store, batch.count, uv_hrtime() - start);
    plan_beat(store);
    settle(store, false);
}

/* Notices a store that went away, or came back, while there is nothing to write. */
static void do_beat(struct store *store)
{
    const enum store_result result = store->backend->driver->beat(store->backend);
    store_publish(store);
    plan_beat(store);
    if (result == STORE_DONE)
        store->away_tries = 0;
    else
        store->beat_at_ns = uv_hrtime() + retry_ns(store, result);
    if (result != STORE_DONE || store->batch.count == 0)
        store_report(store, state_after(result), result == STORE_DONE ? "" : store->backend->why);
}

static void plan_look(struct store *store)
{
    const bool has_look = store->backend->driver->look != NULL;
    store->look_at_ns = has_look ? uv_hrtime() + LOOK_BEATS * store->beat_ns : UINT64_MAX;
}

/* Settings that were changed on a server that never went away would be noticed by nobody. */
static void do_look(struct store *store)
{
    const enum store_result result = store->backend->driver->look(store->backend);
    store_publish(store);
    plan_look(store);
    if (result == STORE_DONE) {
        (void)uv_async_send(&store->wake);
        return;
    }
    store->beat_at_ns = uv_hrtime() + retry_ns(store, result);
    store_report(store, state_after(result), store->backend->why);
}

/* Uses the clock of the rows, lest a wall clock that was just set makes them expire early. Rows
 * that were not loaded go first. */
static void do_tidy(struct store *store)
{
    struct store_backend *const backend = store->backend;
    const uint64_t now = uv_hrtime();
    int64_t wall_ms = store->expired_wall_ms;
    bool has_more = false;
    if (wall_ms == 0 && backend->node != 0)
        wall_ms = clocks_read().wall_ms;
    enum store_result result = wall_ms == 0 ? store_clock_read(backend, &wall_ms) : STORE_DONE;
    if (result == STORE_DONE)
        result = backend->driver->tidy(backend, wall_ms, TIDY_ROWS, &has_more);
    break_if_failed(store, result);
    if (!has_more)
        store->expired_wall_ms = 0;
    store->tidy_at_ns = now + (has_more && result == STORE_DONE ? TIDY_AGAIN_NS : TIDY_EVERY_NS);
}

static void plan_rotation(struct store *store)
{
    const struct store_rotation *const rotation = &store->rotation;
    int64_t wait_ms = rotation->max_age_ms;
    if (wait_ms > ROTATE_CHECK_MOST_MS)
        wait_ms = ROTATE_CHECK_MOST_MS;
    if (wait_ms < ROTATE_CHECK_LEAST_MS)
        wait_ms = ROTATE_CHECK_LEAST_MS;
    store->rotate_at_ns =
        rotation->name == NULL ? UINT64_MAX : uv_hrtime() + (uint64_t)wait_ms * MS_NS;
}

/* Tells the loop the new secret only after it is durable together with the previous one. */
static void do_rotate(struct store *store)
{
    struct store_rotation *const rotation = &store->rotation;
    uint8_t bytes[sizeof rotation->bytes] = {0};
    uint8_t old_bytes[sizeof rotation->bytes] = {0};
    plan_rotation(store);
    const int err = secret_get(store->backend, rotation->name, rotation->max_age_ms, bytes,
                               old_bytes, rotation->count);
    if (err != 0) {
        break_if_failed(store, err == ERR_FULL ? STORE_NO_ROOM : STORE_FAILED);
        return;
    }
    uv_mutex_lock(&store->mutex);
    const bool is_replaced = sodium_memcmp(rotation->bytes, bytes, rotation->count) != 0;
    memcpy(rotation->bytes, bytes, rotation->count);
    memcpy(rotation->old_bytes, old_bytes, rotation->count);
    rotation->is_replaced |= is_replaced;
    uv_mutex_unlock(&store->mutex);
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(old_bytes, sizeof old_bytes);
    if (is_replaced)
        (void)uv_async_send(&store->wake);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Decides what to do now, or returns false with how long to wait. Under the mutex. */
static bool choose(struct store *store, enum work *work, uint64_t *wait_ns)
{
    if (store->batch.count == 0)
        store_queue_join(&store->batch, &store->queue);
    const uint64_t now = uv_hrtime();
    const bool has_batch = store->batch.count > 0;
    const bool is_broken = store->state == STORE_BROKEN || store->state == STORE_FENCED;
    const bool may_end = is_broken || !has_batch || store->has_tried_last;
    *wait_ns = TIDY_EVERY_NS;
    if (store->must_end && may_end)
        *work = WORK_END;
    else if (is_broken)
        return false;
    else if (now >= store->look_at_ns && store->state == STORE_WRITABLE && !store->must_end)
        *work = WORK_LOOK;
    else if (has_batch && (now >= store->retry_at_ns || store->must_end))
        *work = WORK_WRITE;
    else if (now >= store->beat_at_ns)
        *work = WORK_BEAT;
    else if (now >= store->tidy_at_ns)
        *work = WORK_TIDY;
    else if (now >= store->rotate_at_ns)
        *work = WORK_ROTATE;
    else {
        uint64_t until =
            earlier(store->beat_at_ns, earlier(store->tidy_at_ns, store->rotate_at_ns));
        if (has_batch)
            until = earlier(until, store->retry_at_ns);
        if (store->state == STORE_WRITABLE)
            until = earlier(until, store->look_at_ns);
        *wait_ns = until - now;
        return false;
    }
    return true;
}

static enum work wait_for_work(struct store *store)
{
    enum work work = WORK_END;
    uint64_t wait_ns;
    uv_mutex_lock(&store->mutex);
    while (!choose(store, &work, &wait_ns))
        (void)uv_cond_timedwait(&store->work, &store->mutex, wait_ns);
    /* A batch that could not be written gets one more try after the request to end. */
    if (work == WORK_WRITE && store->must_end && store->retry_at_ns != 0)
        store->has_tried_last = true;
    uv_mutex_unlock(&store->mutex);
    return work;
}

static void end(struct store *store)
{
    store_check_join(store);
    if (store->state != STORE_BROKEN && store->state != STORE_FENCED)
        settle(store, true);
    store_pulse_end(store);
    store_adopter_end(store);
    store_finder_end(store);
    if (store->state == STORE_WRITABLE && store->backend->node != 0)
        (void)store->backend->driver->sharing->leave(store->backend);
    /* Not on the loop, since a server may be silent. And a fenced gateway's next run wants the lock while this store
     * still has facts to pass on. */
    store_hang_up(store->backend);
    uv_mutex_lock(&store->mutex);
    store->is_finished = true;
    uv_mutex_unlock(&store->mutex);
    (void)uv_async_send(&store->wake);
}

void store_writer_run(void *context)
{
    struct store *const store = context;
    store->tidy_at_ns = uv_hrtime() + (store->expired_wall_ms == 0 ? TIDY_EVERY_NS : 0);
    plan_rotation(store);
    plan_beat(store);
    plan_look(store);
    for (;;) {
        switch (wait_for_work(store)) {
        case WORK_WRITE:
            do_write(store);
            break;
        case WORK_BEAT:
            do_beat(store);
            break;
        case WORK_LOOK:
            do_look(store);
            break;
        case WORK_TIDY:
            do_tidy(store);
            break;
        case WORK_ROTATE:
            do_rotate(store);
            break;
        case WORK_END:
            end(store);
            return;
        }
    }
}
