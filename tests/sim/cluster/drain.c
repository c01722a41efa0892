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

static void drain(struct cluster *c, uint32_t place, struct rand *rand)
{
    tell(c, "n%u drains", place);
    c->nodes[place].is_draining = true;
    at(c, rand_below(rand, DRAIN_MOST_MS), moment_of(c, place, 0));
    struct event event = {.kind = EVENT_DRAIN, .random = rand_u64(rand)};
    node_step(c, place, &event);
}

void drain_disturb(struct cluster *c)
{
    if (!drain_chance(c, FAULT_DRAIN))
        return;
    const uint32_t place = (uint32_t)rand_below(&c->drain_rand, c->plan.nodes);
    struct node *node = &c->nodes[place];
    if (node->engine == NULL || node->is_draining || node_is_paused(c, place))
        return;
    drain(c, place, &c->drain_rand);
}

static bool is_written(const struct cluster *c, uint32_t place)
{
    return c->nodes[place].queue_count == 0 && !node_is_cut(c, place);
}

/* Nothing is submitted any more, so units that it has not used go back. */
static void give_back_units(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    if (node->has_stopped)
        return;
    node->has_stopped = true;
    engine_stop_submits(node->engine);
    engine_give_back_units(node->engine);
    struct event event = {.kind = EVENT_TICK, .random = 1};
    node_step(c, place, &event);
}

/* Without the store it can neither say that it leaves nor give anything back: for the others it has died. */
static void end_in_order(struct cluster *c, uint32_t place)
{
    struct run *run = &c->store.runs[c->nodes[place].run];
    if (run->is_gone) {
        c->crashes++;
        return;
    }
    tell(c, is_written(c, place) ? "n%u leaves" : "n%u ends without the store", place);
    run->member.is_leaving = is_written(c, place);
    if (run->member.is_leaving)
        c->drains++;
    else
        c->crashes++;
}

void drain_happens(struct cluster *c, const struct moment *moment)
{
    if (is_written(c, moment->node))
        give_back_units(c, moment->node);
    const bool is_closed = is_written(c, moment->node) && books_are_closed(c, moment->node);
    if (!is_closed && moment->number < LOOKS_MOST) {
        at(c, LOOK_AGAIN_MS, moment_of(c, moment->node, moment->number + 1));
        return;
    }
    /* The store was away for so long that nobody waits for the last page. */
    c->has_unclosed |= !is_closed;
    end_in_order(c, moment->node);
    node_end(c, moment->node);
    at(c, 1 + rand_below(&c->drain_rand, DOWN_MOST_MS),
       (struct moment){.what = HAPPEN_UP, .node = moment->node});
}

/* ---- all in turn ---------------------------------------------------------------------------------- */

void rolls_begin(struct cluster *c)
{
    stream_init(&c->roll_rand, &c->plan, STREAM_ROLLS);
    /* The first number says whether (world.c). */
    (void)rand_u64(&c->roll_rand);
    if (c->plan.strength[FAULT_ROLL] > 0)
        at(c, rand_below(&c->roll_rand, (uint64_t)c->plan.needs * c->plan.gap_ms + 1),
           (struct moment){.what = HAPPEN_ROLL});
}

/* The next one is told to end when this one is back. */
static void roll_on(struct cluster *c, const struct moment *moment)
{
    const struct node *node = &c->nodes[moment->subject];
    const bool is_back =
        node->engine != NULL && moment->detail != 0 && node->incarnation > moment->detail;
    struct moment next = {
        .what = HAPPEN_ROLL, .subject = moment->subject, .detail = moment->detail};
    if (is_back)
        next = (struct moment){.what = HAPPEN_ROLL, .subject = moment->subject + 1};
    if (next.subject < c->plan.nodes)
        at(c, 1 + rand_below(&c->roll_rand, LOOK_AGAIN_MS), next);
    else
        c->rolls++;
}

void rolls_happen(struct cluster *c, const struct moment *moment)
{
    const uint32_t place = moment->subject;
    const struct node *node = &c->nodes[place];
    struct moment waiting = *moment;
    if (c->is_healing)
        return;
    const bool is_told = moment->detail == 0 && !node_is_paused(c, place);
    if (is_told)
        waiting.detail = node->incarnation;
    /* Whoever is down, or ends already, restarts all the same. */
    if (is_told && node->engine != NULL && !node->is_draining)
        drain(c, place, &c->roll_rand);
    roll_on(c, &waiting);
}
