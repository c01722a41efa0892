#include "map.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 64

static size_t place_of(const struct map *map, uint64_t key)
{
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(key ^ key >> 31) & (map->room - 1);
}

static void make(struct map *map, size_t room)
{
    map->entries = calloc(room, sizeof *map->entries);
    ASSERT(map->entries != NULL);
    map->room = room;
    map->count = 0;
}

void map_init(struct map *map)
{
    make(map, ROOM_LEAST);
}

void map_close(struct map *map)
{
    free(map->entries);
    *map = (struct map){.entries = NULL};
}

void map_clear(struct map *map)
{
    /* What a large world needed would only slow a small one down. */
    if (map->room > ROOM_LEAST && map->count * 16 < map->room) {
        map_close(map);
        map_init(map);
        return;
    }
    memset(map->entries, 0, map->room * sizeof *map->entries);
    map->count = 0;
}

static struct map_entry *find(const struct map *map, uint64_t key)
{
    size_t place = place_of(map, key);
    while (map->entries[place].key != 0 && map->entries[place].key != key)
        place = (place + 1) & (map->room - 1);
    return &map->entries[place];
}

static void grow(struct map *map)
{
    const struct map old = *map;
    make(map, old.room * 2);
    for (size_t i = 0; i < old.room; i++) {
        if (old.entries[i].key == 0)
            continue;
        *find(map, old.entries[i].key) = old.entries[i];
        map->count++;
    }
    free(old.entries);
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
    ASSERT(key != 0);
    if (map->count * 2 >= map->room)
        grow(map);
    struct map_entry *entry = find(map, key);
    map->count += entry->key == 0;
    *entry = (struct map_entry){.key = key, .value = value};
}

uint32_t map_get(const struct map *map, uint64_t key)
{
    const struct map_entry *entry = key == 0 ? NULL : find(map, key);
    return entry == NULL || entry->key == 0 ? MAP_NONE : entry->value;
}

void map_remove(struct map *map, uint64_t key)
{
    struct map_entry *entry = find(map, key);
    if (entry->key == 0)
        return;
    map->count--;
    /* Those behind the hole move up, so that no search ends too early. */
    size_t hole = (size_t)(entry - map->entries);
    size_t place = hole;
    for (;;) {
        place = (place + 1) & (map->room - 1);
        if (map->entries[place].key == 0)
            break;
        const size_t home = place_of(map, map->entries[place].key);
        if (((place - home) & (map->room - 1)) < ((place - hole) & (map->room - 1)))
            continue;
        map->entries[hole] = map->entries[place];
        hole = place;
    }
    map->entries[hole].key = 0;
}

void *array_grow(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 64 : *room * 2;
    void *larger = realloc(items, *room * item_bytes);
    ASSERT(larger != NULL);
    return larger;
}
