#include "store/store_inbox.h"

#include "base/assert.h"
#include "store/store_fact.h"
#include "store/store_private.h"
#include "store/store_send.h"

#include <stdlib.h>

static struct store_entry *entry_new(journal_seq seq, const struct fact *take_fact)
{
    struct store_entry *const entry = store_entry_named(seq, "");
    entry->told = malloc(sizeof *entry->told);
    ASSERT(entry->told != NULL);
    *entry->told = *take_fact;
    return entry;
}

void store_tell(struct store *store, journal_seq seq, const struct fact *take_fact)
{
    ASSERT(store->backend->node != 0 && seq > store->latest);
    store->latest = seq;
    struct store_entry *const entry = entry_new(seq, take_fact);
    if (take_fact->kind == FACT_ERRAND)
        entry->told->result.text = blob_new(
            slice_from(store->names.name_of(store->names.context, take_fact->errand.client)));
    store_enqueue(store, entry);
}

void store_name_client(const struct store *store, struct fact *fact)
{
    const struct slice name = blob_slice(fact->result.text);
    if (fact->kind == FACT_ERRAND &&
        !store->names.find(store->names.context, name, &fact->errand.client))
        fact->errand.client = UINT16_MAX;
}

void store_forget(struct store *store, uint64_t number)
{
    ASSERT(store->backend->node != 0 && number != 0);
    struct store_entry *const entry = store_entry_named(store->latest, "");
    entry->forgotten = number;
    store_enqueue(store, entry);
}

/* No record of the next run has the number of the one before. */
static void pass(struct store_queue *queue, struct store *to)
{
    for (struct store_entry *entry = queue->first; entry != NULL; entry = entry->next) {
        if (entry->told == NULL)
            continue;
        struct store_entry *const copy = entry_new(to->latest, entry->told);
        free(entry->told);
        entry->told = NULL;
        store_enqueue(to, copy);
    }
}

static uint32_t count_facts(const struct store_queue *queue)
{
    uint32_t count = 0;
    for (const struct store_entry *entry = queue->first; entry != NULL; entry = entry->next)
        count += entry->told != NULL;
    return count;
}

uint32_t store_count_facts(const struct store *store)
{
    return store->is_closed ? count_facts(&store->batch) + count_facts(&store->queue)
                            : store->counters.waiting;
}

void store_pass_facts(struct store *from, struct store *to)
{
    ASSERT(from->is_closed);
    pass(&from->batch, to);
    pass(&from->queue, to);
}
