/* The inbox: facts about attempts, for whoever has their rows. */
#include "cluster.h"

#define WAKE_MOST_MS 20

static node_id reader_of(struct store *store, const struct letterbox *entry)
{
    const struct key name = key_from_u64(entry->fact.result.attempt);
    const struct row *row = store_find(store, RECORD_ATTEMPT, &name);
    return row == NULL ? entry->teller : row->owner;
}

static uint32_t place_of(const struct cluster *c, node_id run)
{
    for (uint32_t i = 0; i < c->plan.nodes; i++)
        if (c->nodes[i].run == run && c->nodes[i].engine != NULL)
            return i;
    return NONE;
}

bool run_is_alive(const struct cluster *c, node_id run)
{
    return place_of(c, run) != NONE;
}

void inbox_put(struct cluster *c, node_id teller, const struct fact *fact)
{
    struct store *store = &c->store;
    store->inbox =
        room_for(store->inbox, store->inbox_count, &store->inbox_room, sizeof *store->inbox);
    struct letterbox *entry = &store->inbox[store->inbox_count++];
    *entry = (struct letterbox){.fact = *fact, .teller = teller};
    (void)blob_ref(fact->result.text);
    (void)blob_ref(fact->result.extra);
    c->facts++;
    const uint32_t place = place_of(c, reader_of(store, entry));
    if (place != NONE && !chance(c, FAULT_WAKE_LOST))
        at(c, 1 + below(c, WAKE_MOST_MS),
           (struct moment){
               .what = HAPPEN_INBOX, .node = place, .incarnation = c->nodes[place].incarnation});
}

void inbox_forget(struct store *store, uint64_t number)
{
    for (size_t i = 0; i < store->inbox_count; i++) {
        if (store->inbox[i].fact.number != number)
            continue;
        blob_unref(store->inbox[i].fact.result.text);
        blob_unref(store->inbox[i].fact.result.extra);
        store->inbox_count--;
        memmove(&store->inbox[i], &store->inbox[i + 1],
                (store->inbox_count - i) * sizeof *store->inbox);
        return;
    }
}

void inbox_read(struct cluster *c, uint32_t place)
{
    struct store *store = &c->store;
    const node_id run = c->nodes[place].run;
    for (size_t i = 0; i < store->inbox_count; i++) {
        if (reader_of(store, &store->inbox[i]) != run)
            continue;
        struct event event = {.kind = EVENT_TOLD};
        event.told = store->inbox[i].fact;
        tell(c, "n%u is told a fact about %llx", place,
             (unsigned long long)event.told.result.attempt);
        node_step(c, place, &event);
    }
}
