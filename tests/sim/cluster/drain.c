/* Nodes that end in order: they drain, write what is left, and give their rows up. */
#include "cluster.h"

/* As long as somebody is waited for. */
#define DRAIN_MOST_MS 20000
#define DOWN_MOST_MS 20000
/* How often it looks whether everything is written before it ends all the same. */
#define LOOKS_MOST 20
#define LOOK_AGAIN_MS 500

/* Chance of its own, as in pulse.c. */
bool drain_chance(struct cluster *c, enum fault fault)
{
    return rand_below(&c->drain_rand, 1000) < c->plan.strength[fault] && !c->is_healing;
}

static struct moment moment_of(const struct cluster *c, uint32_t place, uint64_t looks)
{
    return (struct moment){.what = HAPPEN_LEFT,
                           .node = place,
                           .incarnation = c->nodes[place].incarnation,
                           .number = looks};
}

void drain_disturb(struct cluster *c)
{
    if (!drain_chance(c, FAULT_DRAIN))
        return;
    const uint32_t place = (uint32_t)rand_below(&c->drain_rand, c->plan.nodes);
    struct node *node = &c->nodes[place];
    if (node->engine == NULL || node->is_draining || node_is_paused(c, place))
        return;
    tell(c, "n%u drains", place);
    node->is_draining = true;
    at(c, rand_below(&c->drain_rand, DRAIN_MOST_MS), moment_of(c, place, 0));
    struct event event = {.kind = EVENT_DRAIN, .random = rand_u64(&c->drain_rand)};
    node_step(c, place, &event);
}

/* Without the store it cannot say that it leaves: the others find it dead. */
void drain_happens(struct cluster *c, const struct moment *moment)
{
    struct node *node = &c->nodes[moment->node];
    const bool is_written = node->queue_count == 0 && !node_is_cut(c, moment->node);
    if (!is_written && moment->number < LOOKS_MOST) {
        at(c, LOOK_AGAIN_MS, moment_of(c, moment->node, moment->number + 1));
        return;
    }
    struct run *run = &c->store.runs[node->run];
    if (is_written && !run->is_gone) {
        tell(c, "n%u leaves", moment->node);
        run->member.is_leaving = true;
        c->drains++;
    }
    node_end(c, moment->node);
    at(c, 1 + rand_below(&c->drain_rand, DOWN_MOST_MS),
       (struct moment){.what = HAPPEN_UP, .node = moment->node});
}
