/* A heap of things that will happen, earliest first; what happens at the same time keeps its order. */
#ifndef SOLVEGATE_BENCH_CALLBACKS_HEAP_H
#define SOLVEGATE_BENCH_CALLBACKS_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct happening {
    uint64_t at_ms;
    uint64_t serial; /* kept by the heap */
    uint32_t kind;   /* the owner's words */
    uint32_t subject;
};

struct heap {
    struct happening *items; /* owned */
    size_t count;
    size_t room;
    uint64_t serial;
};

void heap_close(struct heap *heap);

void heap_add(struct heap *heap, uint64_t at_ms, uint32_t kind, uint32_t subject);

/* When the first is due; UINT64_MAX when nothing is. */
uint64_t heap_next_ms(const struct heap *heap);

/* Takes the first; there must be one. */
struct happening heap_take(struct heap *heap);

#endif
