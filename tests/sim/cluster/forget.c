/* A store that forgets everything: emptied, or succeeded by a replica that has none of it. */
#include "cluster.h"

bool forget_is_planned(struct plan *plan)
{
    static const enum fault others[] = {
        /* Whoever dies, leaves or is late then takes with it what only the store knew. */
        FAULT_CRASH, FAULT_STORE_AWAY, FAULT_STORE_SLOW, FAULT_BATCH_LOST, FAULT_COMMIT_LOST,
        FAULT_BEAT_LOST, FAULT_CUT, FAULT_PAUSE, FAULT_DRAIN, FAULT_ROLL, FAULT_ADOPTION_LOST,
        /* Facts that nobody has read yet are in no memory. */
        FAULT_ELSEWHERE, FAULT_REPORT, FAULT_GIVE_UP};
    struct rand rand;
    stream_init(&rand, plan, STREAM_FORGET_PLAN);
    if (rand_below(&rand, 8) != 0)
        return false;
    plan->strength[FAULT_FORGET] = (uint16_t)(1 + rand_below(&rand, 3));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        plan->strength[others[i]] = 0;
    /* Nor has any node all of a budget's draws. */
    plan->budget = UINT64_MAX;
    plan->client.budget_per_day = UINT64_MAX;
    return true;
}

static void forget(struct cluster *c)
{
    struct store *store = &c->store;
    tell(c, "the store forgets everything");
    c->losses++;
    for (size_t i = 0; i < store->row_count; i++)
        record_close(&store->rows[i].record);
    for (size_t i = 0; i < store->end_count; i++)
        record_close(&store->ends[i].solution);
    for (size_t i = 0; i < store->inbox_count; i++) {
        blob_unref(store->inbox[i].fact.result.text);
        blob_unref(store->inbox[i].fact.result.extra);
    }
    node_unsettle(c);
    store->row_count = store->end_count = store->inbox_count = 0;
    store->claim_count = store->share_count = 0;
    for (node_id id = 1; id <= store->last_run; id++)
        store->runs[id].is_forgotten = true;
    for (uint32_t i = 0; i < NODES_MAX; i++)
        store->applied[i] = 0;
}

void forget_disturb(struct cluster *c)
{
    const bool strikes = rand_below(&c->forget_rand, 1000) < c->plan.strength[FAULT_FORGET];
    if (strikes && !c->is_healing)
        forget(c);
}

/* It stays who it is, and grants itself nothing before the others had time to come back, too. */
void forget_enter(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    struct run *run = &c->store.runs[node->run];
    if (!run->is_forgotten)
        return;
    tell(c, "n%u enters again", place);
    run->is_forgotten = false;
    node->has_lost = true;
    node->grace_until_ms = c->now_ms + c->plan.options.lease_ms;
}

bool forget_makes_wait(const struct cluster *c, uint32_t place, const struct claim *claim)
{
    return c->now_ms < c->nodes[place].grace_until_ms && !claim->is_held;
}

void forget_tell(struct cluster *c, uint32_t place)
{
    struct event event = {.kind = EVENT_STORE_LOST};
    if (!c->nodes[place].has_lost)
        return;
    c->nodes[place].has_lost = false;
    node_step(c, place, &event);
}
