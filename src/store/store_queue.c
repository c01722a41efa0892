#include "store/store_queue.h"

#include "base/assert.h"
#include "store/store_fact.h"

#include <stdlib.h>
#include <string.h>

struct store_entry *store_entry_named(journal_seq seq, const char *client)
{
    const size_t len = strlen(client);
    struct store_entry *const entry = malloc(sizeof *entry + len + 1);
    ASSERT(entry != NULL);
    *entry = (struct store_entry){.seq = seq, .record.is_drop = true, .client_len = len};
    memcpy(entry->client, client, len + 1);
    return entry;
}

void store_entry_free(struct store_entry *entry)
{
    record_close(&entry->record);
    if (entry->asked != NULL && entry->asked->has_solution)
        record_close(&entry->asked->solution);
    if (entry->told != NULL)
        fact_close(entry->told);
    free(entry->told);
    free(entry->asked);
    free(entry->drawn);
    free(entry->release);
    free(entry->shift);
    free(entry);
}

void store_queue_push(struct store_queue *queue, struct store_entry *take_entry)
{
    take_entry->next = NULL;
    if (queue->last == NULL)
        queue->first = take_entry;
    else
        queue->last->next = take_entry;
    queue->last = take_entry;
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
    if (count == from->count) {
        *front = *from;
        *from = (struct store_queue){0};
        return;
    }
    struct store_entry *last = from->first;
    for (uint32_t i = 1; i < count; i++)
        last = last->next;
    *front = (struct store_queue){.first = from->first, .last = last, .count = count};
    from->first = last->next;
    from->count -= count;
    last->next = NULL;
}

void store_queue_clear(struct store_queue *queue)
{
    struct store_entry *entry = queue->first;
    while (entry != NULL) {
        struct store_entry *const next = entry->next;
        store_entry_free(entry);
        entry = next;
    }
    *queue = (struct store_queue){0};
}
