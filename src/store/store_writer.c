#include "store/store_private.h"
#include "store/store_rows.h"
#include "store/store_upkeep.h"

#include <sqlite3.h>
#include <stdio.h>

#define MS_NS UINT64_C(1000000)
/* So that neither a transaction nor the log grows without end when much has gathered. */
#define BATCH_MAX 4096
/* Four megabytes: some milliseconds of moving, after every few hundred records with tokens. */
#define CHECKPOINT_PAGES 1000
#define FULL_RETRY_NS (1000 * MS_NS)
#define TIDY_EVERY_NS (UINT64_C(300) * 1000 * MS_NS)
/* Dead rows are deleted a few at a time, so that no record waits long behind them. */
#define TIDY_ROWS 512
#define TIDY_AGAIN_NS (20 * MS_NS)

enum work {
    WORK_WRITE,
    WORK_TIDY,
    WORK_END,
};

static int write_record(struct store *store, const struct store_entry *entry)
{
    if (entry->leap != NULL) {
        /* What the start was to delete goes with the next round, by the clock as it is then. */
        store->dead_wall_ms = 0;
        store->tidy_at_ns = uv_hrtime() + TIDY_EVERY_NS;
        return db_leap(&store->db, entry->leap);
    }
    const struct record *const record = &entry->record;
    const struct slice client = {.data = entry->client, .len = entry->client_len};
    struct sqlite3_stmt *const statement =
        record->is_drop ? store->db.drop[record->kind] : store->db.put[record->kind];
    struct sql_out out = {.statement = statement};
    if (record->is_drop)
        row_put_name(&out, record, client);
    else
        row_put(&out, record, client, &store->scratch);
    return out.rc == SQLITE_OK ? db_step(statement) : out.rc;
}

/* The first entries of the batch as one transaction. */
static int write_batch(struct store *store, uint32_t *count)
{
    const struct store_entry *entry = store->batch.first;
    int rc = db_step(store->db.begin);
    for (*count = 0; entry != NULL && *count < BATCH_MAX && rc == SQLITE_OK; (*count)++) {
        rc = write_record(store, entry);
        entry = entry->next;
    }
    return rc == SQLITE_OK ? db_step(store->db.commit) : rc;
}

void store_tell(struct store *store, enum store_state state, const char *why)
{
    uv_mutex_lock(&store->mutex);
    if (store->state != STORE_BROKEN) {
        store->state = state;
        (void)snprintf(store->why, sizeof(store->why), "%s", why);
    }
    uv_mutex_unlock(&store->mutex);
    (void)uv_async_send(&store->wake);
}

/* SQLite reports success again after a failed sync although pages are lost, so any failure but a
 * full disk is for good (docs/reliability.md, finding 2). */
static void fail(struct store *store, int rc)
{
    const bool is_full = db_is_full(&store->db, rc);
    sql_roll_back(store->db.sqlite);
    store->retry_at_ns = uv_hrtime() + FULL_RETRY_NS;
    char why[128];
    (void)snprintf(why, sizeof(why), "%s (SQLite %d)", sqlite3_errstr(rc), rc);
    store_tell(store, is_full ? STORE_FULL : STORE_BROKEN, why);
}

static void succeed(struct store *store, uint32_t count, uint64_t took_ns)
{
    struct store_queue written = {0};
    store_queue_split(&store->batch, count, &written);
    store->retry_at_ns = 0;
    store->has_tried_last = false;
    uv_mutex_lock(&store->mutex);
    if (store->state != STORE_BROKEN)
        store->state = STORE_WRITABLE;
    store->records += count;
    store->commits++;
    store->bytes = store->db.wal_bytes;
    histogram_add(&store->commit_times, took_ns / MS_NS);
    if (took_ns / MS_NS > store->commit_ms_max)
        store->commit_ms_max = took_ns / MS_NS;
    store_queue_join(&store->done, &written);
    uv_mutex_unlock(&store->mutex);
    (void)uv_async_send(&store->wake);
}

static void move_log(struct store *store, bool is_last)
{
    const int rc = db_checkpoint(&store->db, is_last);
    if (rc != SQLITE_OK && !db_is_full(&store->db, rc))
        fail(store, rc);
}

static void do_write(struct store *store)
{
    /* A log that has been moved is written over from its start, which needs no new room. */
    if (store->retry_at_ns != 0)
        move_log(store, false);
    if (store->state == STORE_BROKEN)
        return;
    const uint64_t start = uv_hrtime();
    uint32_t count;
    const int rc = write_batch(store, &count);
    if (rc != SQLITE_OK) {
        fail(store, rc);
        return;
    }
    succeed(store, count, uv_hrtime() - start);
    if (store->db.wal_pages >= CHECKPOINT_PAGES)
        move_log(store, false);
}

/* By the clock of the rows, lest one that was just set lets them die early; first those that were passed over. */
static void do_tidy(struct store *store)
{
    const uint64_t now = uv_hrtime();
    int64_t wall_ms = store->dead_wall_ms;
    bool has_more = false;
    int rc = wall_ms == 0 ? db_wall_ms(&store->db, &wall_ms) : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = db_tidy(&store->db, wall_ms, TIDY_ROWS, &has_more);
    if (rc != SQLITE_OK && !db_is_full(&store->db, rc))
        fail(store, rc);
    if (!has_more)
        store->dead_wall_ms = 0;
    store->tidy_at_ns = now + (has_more && rc == SQLITE_OK ? TIDY_AGAIN_NS : TIDY_EVERY_NS);
}

/* What to do now, or false with how long to wait. Under the mutex. */
static bool choose(struct store *store, enum work *work, uint64_t *wait_ns)
{
    if (store->batch.count == 0)
        store_queue_join(&store->batch, &store->queue);
    const uint64_t now = uv_hrtime();
    const bool has_batch = store->batch.count > 0;
    const bool is_broken = store->state == STORE_BROKEN;
    const bool may_end = is_broken || !has_batch || store->has_tried_last;
    *wait_ns = TIDY_EVERY_NS;
    if (store->must_end && may_end)
        *work = WORK_END;
    else if (is_broken)
        return false;
    else if (has_batch && (now >= store->retry_at_ns || store->must_end))
        *work = WORK_WRITE;
    else if (now >= store->tidy_at_ns)
        *work = WORK_TIDY;
    else {
        const uint64_t until = has_batch && store->retry_at_ns < store->tidy_at_ns
                                   ? store->retry_at_ns
                                   : store->tidy_at_ns;
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
    /* A full disk gets one more chance after the order to end. */
    if (work == WORK_WRITE && store->must_end && store->retry_at_ns != 0)
        store->has_tried_last = true;
    uv_mutex_unlock(&store->mutex);
    return work;
}

static void end(struct store *store)
{
    store_check_join(store);
    if (store->state != STORE_BROKEN)
        move_log(store, true);
    uv_mutex_lock(&store->mutex);
    store->is_finished = true;
    uv_mutex_unlock(&store->mutex);
    (void)uv_async_send(&store->wake);
}

void store_writer_run(void *context)
{
    struct store *const store = context;
    store->tidy_at_ns = uv_hrtime() + (store->dead_wall_ms == 0 ? TIDY_EVERY_NS : 0);
    for (;;) {
        switch (wait_for_work(store)) {
        case WORK_WRITE:
            do_write(store);
            break;
        case WORK_TIDY:
            do_tidy(store);
            break;
        case WORK_END:
            end(store);
            return;
        }
    }
}
