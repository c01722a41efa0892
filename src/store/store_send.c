#include "store/store_send.h"

/* A batch of so many is worth its commit; the loop and the writer had better work at the same time. With 32, which is
 * what ten callbacks leave, a solve took twice as many commits. */
#define ENOUGH_TO_WAKE 128

void store_hand_over(struct store *store)
{
    if (store->fresh.count == 0)
        return;
    uv_mutex_lock(&store->mutex);
    const bool was_empty = store->queue.count == 0;
    store_queue_join(&store->queue, &store->fresh);
    uv_mutex_unlock(&store->mutex);
    /* The writer waits only after it has emptied the queue. */
    if (was_empty)
        uv_cond_signal(&store->work);
}

/* Few records that are appended in one turn of the loop belong into one batch, where else the writer would be off with
 * the first one and the second had to wait for two commits. */
void store_enqueue(struct store *store, struct store_entry *take_entry)
{
    store->counters.waiting++;
    if (store->reported_state == STORE_BROKEN) {
        store_entry_free(take_entry);
        return;
    }
    store_queue_push(&store->fresh, take_entry);
    if (store->fresh.count == ENOUGH_TO_WAKE || !store->has_turns)
        store_hand_over(store);
}
