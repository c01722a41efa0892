#include "store/store_queue.h"

#include "base/assert.h"
#include "store/store_fact.h"

#include <stdlib.h>
#include <string.h>

/* Each entry has room for such a name, so that it can serve for the next. */
#define NAME_ROOM 32
/* About 350 KiB. */
#define SPARES_MAX 1024

static void fill(struct store_entry *entry, journal_seq seq, const char *client, size_t len)
{
    *entry = (struct store_entry){.seq = seq, .record.is_drop = true, .client_len = len};
    memcpy(entry->client, client, len + 1);
}

struct store_entry *store_entry_named(journal_seq seq, const char *client)
{
    const size_t len = strlen(client);
    struct store_entry *const entry =
        malloc(sizeof *entry + (len < NAME_ROOM ? NAME_ROOM : len + 1));
    ASSERT(entry != NULL);
    fill(entry, seq, client, len);
    return entry;
}

static void release(struct store_entry *entry)
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
}

void store_entry_free(struct store_entry *entry)
{
    release(entry);
    free(entry);
}

struct store_entry *store_spares_take(struct store_queue *spares, journal_seq seq,
                                      const char *client)
{
    const size_t len = strlen(client);
    struct store_entry *const entry = spares->first;
    if (entry == NULL || len >= NAME_ROOM)
        return store_entry_named(seq, client);
    spares->first = entry->next;
    spares->count--;
    if (spares->first == NULL)
        spares->last = NULL;
    fill(entry, seq, client, len);
    return entry;
}

void store_spares_give(struct store_queue *spares, struct store_entry *take_entry)
{
    if (spares->count == SPARES_MAX) {
        store_entry_free(take_entry);
        return;
    }
    release(take_entry);
    *take_entry = (struct store_entry){.record.is_drop = true};
    store_queue_push(spares, take_entry);
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
