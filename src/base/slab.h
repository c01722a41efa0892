/* A fixed number of equal items, named by ids that become invalid when the item is freed. */
#ifndef SOLVEGATE_BASE_SLAB_H
#define SOLVEGATE_BASE_SLAB_H

#include <stddef.h>
#include <stdint.h>

/* Low 32 bits: place; high 32 bits: generation, odd while the item lives. 0 names nothing. */
typedef uint64_t slab_id;

struct slab {
    char *items;           /* owned; capacity * item_bytes; untouched pages cost nothing */
    uint32_t *generations; /* owned; one per place, odd while in use */
    uint32_t *free_next;   /* owned; free list threaded through the places */
    size_t item_bytes;
    uint32_t capacity;
    uint32_t used;
    uint32_t touched;   /* places used at least once */
    uint32_t free_head; /* UINT32_MAX when the free list is empty */
};

/* Reserves room for capacity items; aborts if memory runs out. */
void slab_init(struct slab *slab, size_t item_bytes, uint32_t capacity);
void slab_close(struct slab *slab);

/* Returns a zeroed item and its id in *id, or NULL when all places are taken. */
void *slab_alloc(struct slab *slab, slab_id *id);

/* Returns the item, or NULL when the id is stale, foreign or 0. */
void *slab_get(const struct slab *slab, slab_id id);

/* The id of a live item. */
slab_id slab_id_of(const struct slab *slab, const void *item);

/* The id must be live. */
void slab_free(struct slab *slab, slab_id id);
/* The same for an item that does not know its id; it must be live. */
void slab_free_item(struct slab *slab, const void *item);

/* Iterates over live items in order of place: pass 0 first, then the id returned last; 0 at the
 * end. The item returned last may be freed meanwhile. */
slab_id slab_next(const struct slab *slab, slab_id after);

/* Like slab_next, but looks at no more than *most places and subtracts those it looked at. When
 * *most reaches 0, or at the last place, the id may be that of a free place; continue from
 * there. */
slab_id slab_next_within(const struct slab *slab, slab_id after, uint32_t *most);

/* Aborts if counts, generations and the free list disagree. */
void slab_check(const struct slab *slab);

#endif
