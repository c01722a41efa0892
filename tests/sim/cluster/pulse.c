/* Beats, and what keeps them from arriving: each node has a thread of its own for them. */
#include "cluster.h"

#define TRAVEL_MS 10
#define SLOW_MS 2500
/* Longer than any lease, so that some are taken for dead. */
#define CUT_MOST_MS 40000

/* Chance of its own, so that a world without these faults is what it would be without beats. */
bool pulse_chance(struct cluster *c, enum fault fault)
{
    return rand_below(&c->pulse_rand, 1000) < c->plan.strength[fault] && !c->is_healing;
}

static uint64_t travel_ms(struct cluster *c)
{
    return 1 + rand_below(&c->pulse_rand, pulse_chance(c, FAULT_STORE_SLOW) ? SLOW_MS : TRAVEL_MS);
}

bool node_is_cut(const struct cluster *c, uint32_t place)
{
    return c->now_ms < c->nodes[place].cut_until_ms || c->now_ms < c->store.away_until_ms;
}

static struct moment moment_of(const struct cluster *c, enum happening what, uint32_t place,
                               uint64_t sent_ms)
{
    return (struct moment){
        .what = what, .node = place, .incarnation = c->nodes[place].incarnation, .number = sent_ms};
}

void pulse_start(struct cluster *c, uint32_t place)
{
    at(c, 0, moment_of(c, HAPPEN_BEAT, place, 0));
}

static void send(struct cluster *c, uint32_t place)
{
    at(c, c->plan.options.lease_ms / 4, moment_of(c, HAPPEN_BEAT, place, 0));
    engine_demand(c->nodes[place].engine, &c->nodes[place].demand);
    if (!node_is_cut(c, place) && !pulse_chance(c, FAULT_BEAT_LOST))
        at(c, travel_ms(c), moment_of(c, HAPPEN_BEAT_AT_STORE, place, c->now_ms));
}

static void arrive(struct cluster *c, const struct moment *moment)
{
    const uint32_t place = moment->node;
    if (node_is_cut(c, place))
        return;
    struct member *member = &c->store.members[place];
    c->store.beat_ms[place] = c->now_ms;
    member->id = place + 1;
    member->beat++;
    member->demand = c->nodes[place].demand;
    memcpy(c->nodes[place].members, c->store.members, sizeof c->store.members);
    if (!pulse_chance(c, FAULT_BEAT_LOST))
        at(c, travel_ms(c), moment_of(c, HAPPEN_BEAT_BACK, place, moment->number));
}

static void come_back(struct cluster *c, const struct moment *moment)
{
    struct event event = {.kind = EVENT_BEAT, .random = rand_u64(&c->pulse_rand)};
    if (node_is_cut(c, moment->node))
        return;
    struct member members[NODES_MAX];
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        members[i] = c->nodes[moment->node].members[i];
        members[i].is_self = i == moment->node;
    }
    event.beat.sent_ms = node_clock_ms(c, moment->node, moment->number);
    event.beat.members = members;
    event.beat.member_count = (uint16_t)c->plan.nodes;
    node_step(c, moment->node, &event);
}

void pulse_happens(struct cluster *c, const struct moment *moment)
{
    if (moment->what == HAPPEN_BEAT)
        send(c, moment->node);
    else if (moment->what == HAPPEN_BEAT_AT_STORE)
        arrive(c, moment);
    else
        come_back(c, moment);
}

/* ---- nodes that do not hear, or do not run --------------------------------------------------------- */

bool node_is_paused(const struct cluster *c, uint32_t place)
{
    return c->now_ms < c->nodes[place].paused_until_ms;
}

static void cut(struct cluster *c, uint32_t place)
{
    c->nodes[place].cut_until_ms = c->now_ms + rand_below(&c->pulse_rand, CUT_MOST_MS);
    tell(c, "n%u is cut off from the store", place);
}

static void stop(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    node->paused_until_ms = c->now_ms + 1 + rand_below(&c->pulse_rand, CUT_MOST_MS);
    tell(c, "n%u stands still", place);
    at(c, node->paused_until_ms - c->now_ms, moment_of(c, HAPPEN_RESUME, place, 0));
    clients_on_pause(c, place);
}

void pulse_disturb(struct cluster *c)
{
    const bool is_cut = pulse_chance(c, FAULT_CUT);
    const bool is_stopped = pulse_chance(c, FAULT_PAUSE);
    if (!is_cut && !is_stopped)
        return;
    const uint32_t place = (uint32_t)rand_below(&c->pulse_rand, c->plan.nodes);
    if (c->nodes[place].engine == NULL || node_is_paused(c, place))
        return;
    if (is_cut)
        cut(c, place);
    else
        stop(c, place);
}
