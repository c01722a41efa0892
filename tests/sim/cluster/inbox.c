/* The inbox: facts about attempts, for whoever has their rows. */
#include "cluster.h"

#define WAKE_MOST_MS 20

static node_id reader_of(struct store *store, const struct letterbox *entry)
{
    const struct fact *fact = &entry->fact;
    if (fact->kind == FACT_ERRAND && fact->errand.verb == ERRAND_LETTERS) {
        const struct row *letter = orders_find(store, fact->errand.id);
        return letter == NULL ? entry->teller : letter->owner;
    }
    const bool is_news = fact->kind == FACT_NEWS;
    const struct key name = key_from_u64(is_news ? fact->result.attempt : fact->errand.id);
    const struct row *row = NULL;
    if (is_news || fact->kind == FACT_ERRAND)
        row = store_find(store, is_news ? RECORD_ATTEMPT : RECORD_REQUEST, &name);
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

/* The run of the node with this number, unless it is over; else the teller. */
static node_id left_to(const struct store *store, node_id teller, const struct fact *fact)
{
    for (node_id run = store->last_run; run > 0 && fact->kind != FACT_NEWS; run--)
        if (run % ENGINE_NODES == fact->errand.to && !store->runs[run].is_gone)
            return run;
    return teller;
}

static void put(struct cluster *c, node_id teller, const struct fact *fact)
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

static void put_for_all(struct cluster *c, node_id teller, const struct fact *fact)
{
    for (node_id run = 1; run <= c->store.last_run; run++) {
        struct fact own = *fact;
        own.number += run % ENGINE_NODES * FACT_NUMBER_STEP;
        if (run != teller && !c->store.runs[run].is_gone)
            put(c, run, &own);
    }
}

void inbox_put(struct cluster *c, node_id teller, const struct fact *fact)
{
    if (fact->kind == FACT_BAD) {
        store_condemn(c, &fact->bad);
        put_for_all(c, teller, fact);
    } else {
        put(c, left_to(&c->store, teller, fact), fact);
    }
}

bool inbox_has_bad(const struct store *store, attempt_id attempt)
{
    for (size_t i = 0; i < store->inbox_count; i++)
        if (store->inbox[i].fact.kind == FACT_BAD && store->inbox[i].fact.bad.attempt == attempt)
            return true;
    return false;
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
        tell(c, "n%u is told fact %llu", place, (unsigned long long)event.told.number);
        node_step(c, place, &event);
    }
}
