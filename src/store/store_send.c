#include "store/store_send.h"

/* A batch of so many is worth its commit; the loop and the writer had better work at the same time. */
#define ENOUGH_TO_WAKE 32

/* When the loop's turn is over: few records that are appended together belong into one batch, where else the writer
 * would be off with the first one and the second had to wait for two commits. */
static void wake_writer_later(struct store *store)
{
    store->must_wake_writer = true;
    if (store->is_started && !store->is_closing && !store->is_waking)
        (void)uv_async_send(&store->wake);
}

void store_enqueue(struct store *store, struct store_entry *take_entry)
{
    store->counters.waiting++;
    if (store->reported_state == STORE_BROKEN) {
        store_entry_free(take_entry);
        return;
    }
    uv_mutex_lock(&store->mutex);
    store_queue_push(&store->queue, take_entry);
    const uint32_t count = store->queue.count;
    uv_mutex_unlock(&store->mutex);
    /* The writer waits only after it has emptied the queue. */
    if (count == 1)
        wake_writer_later(store);
    else if (count == ENOUGH_TO_WAKE)
        uv_cond_signal(&store->work);
}
