#include "engine/gather.h"

#include "engine/cache.h"

#include <stdlib.h>

static void *grow(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 64 : *room * 2;
    void *larger = realloc(items, *room * item_bytes);
    ASSERT(larger != NULL);
    return larger;
}

static int compare_uid(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

struct restored_flight *find_flight_row(const struct recovery *recovery, uint64_t uid)
{
    if (recovery->flight_count == 0)
        return NULL;
    return bsearch(&uid, recovery->flights, recovery->flight_count, sizeof *recovery->flights,
                   compare_uid);
}

/* In an adoption it stays sorted, since sorting it at once would take too long for one step; rows come
 * nearly in order. */
void index_add(struct recovery *recovery, struct solution_index *index, uint64_t number,
               struct solution *solution)
{
    if (number == 0)
        return;
    index->entries = grow(index->entries, index->count, &index->room, sizeof *index->entries);
    size_t place = index->count++;
    for (; recovery->is_adoption && place > 0 && index->entries[place - 1].number > number; place--)
        index->entries[place] = index->entries[place - 1];
    index->entries[place] = (struct solution_entry){.number = number, .solution = solution};
    index->is_sorted = recovery->is_adoption;
}

struct solution *index_find(struct solution_index *index, uint64_t number)
{
    if (index->count == 0)
        return NULL;
    if (!index->is_sorted)
        qsort(index->entries, index->count, sizeof *index->entries, compare_uid);
    index->is_sorted = true;
    const struct solution_entry *found =
        bsearch(&number, index->entries, index->count, sizeof *index->entries, compare_uid);
    return found == NULL ? NULL : found->solution;
}

struct recovery *recovery_of(struct engine *engine)
{
    if (engine->recovery == NULL) {
        engine->recovery = calloc(1, sizeof *engine->recovery);
        ASSERT(engine->recovery != NULL);
    }
    return engine->recovery;
}

void recovery_free(struct engine *engine)
{
    struct recovery *recovery = engine->recovery;
    engine->recovery = NULL;
    if (recovery == NULL)
        return;
    for (size_t i = recovery->settled; i < recovery->by_uid.count; i++)
        solution_unref(engine, recovery->by_uid.entries[i].solution);
    free(recovery->flights);
    free(recovery->repeats);
    free(recovery->by_uid.entries);
    free(recovery->by_flight.entries);
    free(recovery->by_attempt.entries);
    free(recovery);
}

struct restored_flight *gather_flight(struct recovery *recovery)
{
    recovery->flights = grow(recovery->flights, recovery->flight_count, &recovery->flight_room,
                             sizeof *recovery->flights);
    return &recovery->flights[recovery->flight_count++];
}

void gather_repeat(struct recovery *recovery, slab_id flight, const struct key *digest)
{
    recovery->repeats = grow(recovery->repeats, recovery->repeat_count, &recovery->repeat_room,
                             sizeof *recovery->repeats);
    recovery->repeats[recovery->repeat_count++] =
        (struct repeat){.flight = flight, .digest = *digest};
}
