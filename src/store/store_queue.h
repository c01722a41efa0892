/* A first-in, first-out list of entries; the caller guards it. */
#ifndef SOLVEGATE_STORE_STORE_QUEUE_H
#define SOLVEGATE_STORE_STORE_QUEUE_H

#include "store/store_driver.h"

struct store_queue {
    struct store_entry *first; /* owned, with those behind it */
    struct store_entry *last;
    uint32_t count;
};

/* An entry with the client's name and nothing else yet. */
struct store_entry *store_entry_named(journal_seq seq, const char *client);
/* On the loop only, as it releases blobs. */
void store_entry_free(struct store_entry *entry);

/* Entries without contents, for the next ones: a batch is freed at once, and the allocator would join its pieces to
 * split them again. */
/* As store_entry_named(). */
struct store_entry *store_spares_take(struct store_queue *spares, journal_seq seq,
                                      const char *client);
/* As store_entry_free(). */
void store_spares_give(struct store_queue *spares, struct store_entry *take_entry);

void store_queue_push(struct store_queue *queue, struct store_entry *take_entry);
/* Moves all entries to the end of another queue. */
void store_queue_join(struct store_queue *to, struct store_queue *from);
/* Moves count entries from the front to an empty queue. */
void store_queue_split(struct store_queue *from, uint32_t count, struct store_queue *front);
/* Frees all entries. Call it only on the loop, which counts references to blobs. */
void store_queue_clear(struct store_queue *queue);

#endif
