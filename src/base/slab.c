#include "base/slab.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_PLACE UINT32_MAX

static uint32_t place_of(slab_id id)
{
    return (uint32_t)id;
}

static uint32_t generation_of(slab_id id)
{
    return (uint32_t)(id >> 32);
}

static slab_id id_of(const struct slab *slab, uint32_t place)
{
    return (uint64_t)slab->generations[place] << 32 | place;
}

static bool is_live(const struct slab *slab, uint32_t place)
{
    return (slab->generations[place] & 1) != 0;
}

static void *item_at(const struct slab *slab, uint32_t place)
{
    return slab->items + slab->item_bytes * place;
}

void slab_init(struct slab *slab, size_t item_bytes, uint32_t capacity)
{
    ASSERT(item_bytes > 0);
    ASSERT(capacity > 0 && capacity < NO_PLACE);
    ASSERT(item_bytes <= SIZE_MAX / capacity);
    *slab = (struct slab){
        /* malloc, not calloc: big blocks come from fresh pages either way, and alloc zeroes. */
        .items = malloc(item_bytes * capacity),
        .generations = calloc(capacity, sizeof *slab->generations),
        .free_next = malloc(capacity * sizeof *slab->free_next),
        .item_bytes = item_bytes,
        .capacity = capacity,
        .free_head = NO_PLACE,
    };
    ASSERT(slab->items != NULL && slab->generations != NULL && slab->free_next != NULL);
}

void slab_close(struct slab *slab)
{
    free(slab->items);
    free(slab->generations);
    free(slab->free_next);
    *slab = (struct slab){.free_head = NO_PLACE};
}

/* Prefers the place freed last, which is still in the CPU's cache; untouched places, whose pages
 * cost memory, come last. */
static uint32_t take_place(struct slab *slab)
{
    const uint32_t place = slab->free_head;
    if (place != NO_PLACE) {
        slab->free_head = slab->free_next[place];
        return place;
    }
    return slab->touched < slab->capacity ? slab->touched++ : NO_PLACE;
}

void *slab_alloc(struct slab *slab, slab_id *id)
{
    const uint32_t place = take_place(slab);
    if (place == NO_PLACE) {
        *id = 0;
        return NULL;
    }
    slab->generations[place]++;
    slab->used++;
    *id = id_of(slab, place);
    void *item = item_at(slab, place);
    memset(item, 0, slab->item_bytes);
    return item;
}

void *slab_get(const struct slab *slab, slab_id id)
{
    const uint32_t place = place_of(id);
    const uint32_t generation = generation_of(id);
    /* An even generation is never given out, so a forged id cannot reach a free place. */
    if (place >= slab->touched || (generation & 1) == 0 || slab->generations[place] != generation)
        return NULL;
    return item_at(slab, place);
}

static void free_place(struct slab *slab, uint32_t place)
{
    slab->generations[place]++;
    slab->free_next[place] = slab->free_head;
    slab->free_head = place;
    slab->used--;
}

void slab_free(struct slab *slab, slab_id id)
{
    ASSERT(slab_get(slab, id) != NULL);
    free_place(slab, place_of(id));
}

/* The place of a live item. */
static uint32_t place_of_item(const struct slab *slab, const void *item)
{
    const size_t offset = (size_t)((const char *)item - slab->items);
    const size_t place = offset / slab->item_bytes;
    ASSERT(place * slab->item_bytes == offset && place < slab->touched);
    ASSERT(is_live(slab, (uint32_t)place));
    return (uint32_t)place;
}

slab_id slab_id_of(const struct slab *slab, const void *item)
{
    return id_of(slab, place_of_item(slab, item));
}

void slab_free_item(struct slab *slab, const void *item)
{
    free_place(slab, place_of_item(slab, item));
}

slab_id slab_next(const struct slab *slab, slab_id after)
{
    /* Goes by place, not by liveness, so that the item returned last may be freed meanwhile. */
    uint32_t place = after == 0 ? 0 : place_of(after) + 1;
    for (; place < slab->touched; place++)
        if (is_live(slab, place))
            return id_of(slab, place);
    return 0;
}

slab_id slab_next_within(const struct slab *slab, slab_id after, uint32_t *most)
{
    uint32_t place = after == 0 ? 0 : place_of(after) + 1;
    ASSERT(*most > 0);
    if (place >= slab->touched)
        return 0;
    while (--*most > 0 && !is_live(slab, place) && place + 1 < slab->touched)
        place++;
    return id_of(slab, place);
}

void slab_check(const struct slab *slab)
{
    ASSERT(slab->touched <= slab->capacity);
    ASSERT(slab->used <= slab->touched);
    uint32_t live = 0;
    for (uint32_t place = 0; place < slab->touched; place++)
        live += is_live(slab, place) ? 1 : 0;
    ASSERT(live == slab->used);
    for (uint32_t place = slab->touched; place < slab->capacity; place++)
        ASSERT(slab->generations[place] == 0);
    uint32_t idle = 0;
    for (uint32_t place = slab->free_head; place != NO_PLACE; place = slab->free_next[place]) {
        ASSERT(place < slab->touched);
        ASSERT(!is_live(slab, place));
        /* More steps than free places means that the list runs in a circle. */
        ASSERT(idle < slab->touched - slab->used);
        idle++;
    }
    ASSERT(idle == slab->touched - slab->used);
}
