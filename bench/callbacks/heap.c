#include "heap.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdlib.h>

void heap_close(struct heap *heap)
{
    free(heap->items);
    *heap = (struct heap){.items = NULL};
}

static bool is_before(const struct happening *a, const struct happening *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->serial < b->serial;
}

static void grow(struct heap *heap)
{
    heap->room = heap->room == 0 ? 1024 : heap->room * 2;
    struct happening *more = realloc(heap->items, heap->room * sizeof(*more));
    ASSERT(more != NULL);
    heap->items = more;
}

void heap_add(struct heap *heap, uint64_t at_ms, uint32_t kind, uint32_t subject)
{
    if (heap->count == heap->room)
        grow(heap);
    const struct happening added = {
        .at_ms = at_ms, .serial = ++heap->serial, .kind = kind, .subject = subject};
    size_t place = heap->count++;
    while (place > 0 && is_before(&added, &heap->items[(place - 1) / 2])) {
        heap->items[place] = heap->items[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->items[place] = added;
}

uint64_t heap_next_ms(const struct heap *heap)
{
    return heap->count == 0 ? UINT64_MAX : heap->items[0].at_ms;
}

struct happening heap_take(struct heap *heap)
{
    ASSERT(heap->count > 0);
    const struct happening first = heap->items[0];
    const struct happening last = heap->items[--heap->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && is_before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!is_before(&heap->items[child], &last))
            break;
        heap->items[place] = heap->items[child];
        place = child;
    }
    if (heap->count > 0)
        heap->items[place] = last;
    return first;
}
