/* A small hash map from numbers to places in an array, with deletion; its order is never seen. */
#ifndef SOLVEGATE_TESTS_SIM_MAP_H
#define SOLVEGATE_TESTS_SIM_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_entry {
    uint64_t key; /* 0: empty */
    uint32_t value;
};

struct map {
    struct map_entry *entries; /* owned */
    size_t room;               /* a power of two */
    size_t count;
};

void map_init(struct map *map);
void map_close(struct map *map);
void map_clear(struct map *map);

/* Replaces what was there. The key is not 0. */
void map_set(struct map *map, uint64_t key, uint32_t value);
uint32_t map_get(const struct map *map, uint64_t key);
void map_remove(struct map *map, uint64_t key);

/* Room for one more item in an array that grows by doubling; aborts without memory. */
void *array_grow(void *items, size_t count, size_t *room, size_t item_bytes);

#endif
