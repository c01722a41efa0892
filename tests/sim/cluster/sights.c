/* Sights: whoever got a solution comes back with its id, at any node, also if no row tells of it. */
#include "cluster.h"

#define LATER_MOST_MS 6000
/* A question a second, on slow ways, and a held look. */
#define HEARD_WITHIN_MS 4000

/* In half of the worlds. */
void sights_begin(struct cluster *c)
{
    stream_init(&c->sight_rand, &c->plan, c->plan.is_early ? STREAM_POOL : STREAM_SIGHTS);
    c->sight_strength = rand_below(&c->sight_rand, 2) == 0 ? 0 : rand_below(&c->sight_rand, 1000);
}

void sights_on_solved(struct cluster *c, uint32_t need)
{
    if (c->is_healing || rand_below(&c->sight_rand, 1000) >= c->sight_strength)
        return;
    at(c, 1 + rand_below(&c->sight_rand, LATER_MOST_MS),
       (struct moment){.what = HAPPEN_SIGHT, .subject = need});
}

void sights_happen(struct cluster *c, const struct moment *moment)
{
    const struct need *need = &c->needs[moment->subject];
    const uint32_t node = (uint32_t)rand_below(&c->sight_rand, c->plan.nodes);
    if (c->nodes[node].engine == NULL || node_is_paused(c, node))
        return;
    const caller_id caller = clients_call(c, moment->subject, node);
    c->callers[caller - 1].is_sight = true;
    c->callers[caller - 1].id = need->id;
    tell(c, "need %u looks again for %llu at n%u", moment->subject, (unsigned long long)need->id,
         node);
    struct event event = {.kind = EVENT_LOOK, .random = rand_u64(&c->sight_rand)};
    event.look = (struct look){.caller = caller,
                               .id = need->id,
                               .hold_ms = (uint32_t)rand_below(&c->sight_rand, 2) * 3000};
    node_step(c, node, &event);
}

/* The store could not be asked, or takes longer than the caller waits, or has no row: then the gateway that gave the id
 * is asked, and may not reply in time. */
static bool is_unanswered(const struct cluster *c, const struct caller *caller)
{
    for (size_t i = c->find_count; i > 0; i--) {
        const struct seeking *seeking = &c->finds[i - 1];
        if (seeking->find.id == caller->id && seeking->node == caller->node)
            return !seeking->is_back || seeking->found.result == FOUND_UNAVAILABLE ||
                   seeking->found.result == FOUND_UNKNOWN;
    }
    return false;
}

/* Another node than the one that told the end may not have heard of it for a moment. One that does not reach the store,
 * or does not know yet that it was adopted, goes by what it has in memory, however old that is. */
static bool may_differ(const struct cluster *c, const struct need *need,
                       const struct caller *caller, const struct answer *answer)
{
    const struct node *node = &c->nodes[caller->node];
    const bool is_waiting = answer->state == REQUEST_QUEUED || answer->state == REQUEST_SOLVING;
    const bool is_alone =
        node->is_cut_off || node_is_cut(c, caller->node) || c->store.runs[node->run].is_gone;
    const bool is_late =
        is_waiting && c->now_ms > need->end_ms + HEARD_WITHIN_MS && !is_unanswered(c, caller);
    return caller->node != need->end_node && ((is_waiting && !is_late) || is_alone);
}

/* Nodes die and forget what has no row; but nobody is told anything else than before. */
void sights_on_answer(struct cluster *c, struct caller *caller, const struct answer *answer)
{
    const struct need *need = &c->needs[caller->need];
    if (!caller->is_open)
        return;
    caller->is_open = false;
    c->sights += answer->refusal == REFUSAL_NONE;
    c->unseen += answer->refusal == REFUSAL_UNKNOWN_ID;
    tell(c, "need %u is told %s", caller->need, answer->refusal == REFUSAL_NONE ? "again" : "no");
    if (answer->refusal != REFUSAL_NONE || caller->id != need->id)
        return;
    CHECK(c, answer->state == REQUEST_SOLVED || need->is_unsafe || need->is_slept_through ||
                 need->give_ups > 0 || may_differ(c, need, caller, answer));
    if (answer->state == REQUEST_SOLVED && !need->is_unsafe)
        CHECK(c, token_of(c, answer->text) == need->token || need->token == NONE);
}
