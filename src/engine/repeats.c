#include "engine/repeats.h"

#include "engine/flight_name.h"
#include "engine/shadow_state.h"

#include <solvegate/findings.h>

#include <stdlib.h>

void repeats_init(struct repeats *repeats, uint32_t room, const uint64_t secret[2])
{
    *repeats = (struct repeats){.room = room};
    repeats->items = calloc(room, sizeof *repeats->items);
    ASSERT(repeats->items != NULL);
    table_init(&repeats->by_key, room, secret);
}

void repeats_close(struct repeats *repeats)
{
    for (uint32_t i = 0; i < repeats->count; i++)
        blob_unref(repeats->items[i].host);
    table_close(&repeats->by_key);
    free(repeats->items);
}

/* A search through at most a thousand counters, and only for keys that are not in the table. */
static struct repeat *rarest(const struct repeats *repeats)
{
    struct repeat *found = &repeats->items[0];
    for (uint32_t i = 1; i < repeats->count; i++)
        if (repeats->items[i].times < found->times)
            found = &repeats->items[i];
    return found;
}

static struct repeat *place_for(struct repeats *repeats, const struct key *key)
{
    struct table_node *node = table_find(&repeats->by_key, key);
    if (node != NULL)
        return CONTAINER_OF(node, struct repeat, node);
    struct repeat *repeat = NULL;
    uint64_t inherited = 0;
    if (repeats->count < repeats->room) {
        repeat = &repeats->items[repeats->count++];
    } else {
        repeat = rarest(repeats);
        inherited = repeat->times;
        table_remove(&repeats->by_key, &repeat->node);
        blob_unref(repeat->host);
    }
    *repeat = (struct repeat){.times = inherited, .uncertain = inherited, .node = {.key = *key}};
    table_insert(&repeats->by_key, &repeat->node);
    return repeat;
}

void repeats_note(struct repeats *repeats, const struct flight *flight, uint64_t price_micro)
{
    struct repeat *repeat = place_for(repeats, &flight->node.key);
    if (repeat->host == NULL)
        repeat->host = flight_host(flight);
    repeat->type = flight->type;
    repeat->client = flight->client;
    repeat->times++;
    repeat->saved_micro += price_micro;
}

void repeats_check(const struct repeats *repeats)
{
    table_check(&repeats->by_key);
    ASSERT(repeats->count <= repeats->room && repeats->by_key.count == repeats->count);
    for (uint32_t i = 0; i < repeats->count; i++)
        ASSERT(repeats->items[i].times > repeats->items[i].uncertain);
}

static int compare(const void *left, const void *right)
{
    const struct repeat *a = *(const struct repeat *const *)left;
    const struct repeat *b = *(const struct repeat *const *)right;
    if (a->times != b->times)
        return a->times > b->times ? -1 : 1;
    if (a->uncertain != b->uncertain)
        return a->uncertain < b->uncertain ? -1 : 1;
    return memcmp(&a->node.key, &b->node.key, sizeof a->node.key);
}

size_t engine_list_repeats(const struct engine *engine, struct repeat_view *views, size_t room)
{
    const struct repeats *repeats = engine->shadow == NULL ? NULL : &engine->shadow->repeats;
    if (repeats == NULL || repeats->count == 0)
        return 0;
    const struct repeat **order = calloc(repeats->count, sizeof *order);
    ASSERT(order != NULL);
    for (uint32_t i = 0; i < repeats->count; i++)
        order[i] = &repeats->items[i];
    qsort(order, repeats->count, sizeof *order, compare);
    const size_t count = repeats->count < room ? repeats->count : room;
    for (size_t i = 0; i < count; i++)
        views[i] = (struct repeat_view){
            .key = order[i]->node.key,
            .host = blob_slice(order[i]->host),
            .type = order[i]->type,
            .client = order[i]->client,
            .times = order[i]->times,
            .uncertain = order[i]->uncertain,
            .saved_micro = order[i]->saved_micro,
        };
    free(order);
    return count;
}
