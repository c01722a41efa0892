/* Clients that ask any node, leave, come back elsewhere and repeat their idempotency keys. */
#include "cluster.h"

#include <stdlib.h>

#define HOLD_MOST_MS 90000
#define TRIES_MAX 12

caller_id clients_call(struct cluster *c, uint32_t need, uint32_t node)
{
    c->callers = room_for(c->callers, c->caller_count, &c->caller_room, sizeof *c->callers);
    c->callers[c->caller_count++] =
        (struct caller){.need = need, .node = node, .since_ms = c->now_ms, .is_open = true};
    return c->caller_count;
}

/* ---- who comes ----------------------------------------------------------------------------------- */

static enum reuse draw_reuse(struct cluster *c)
{
    if (chance(c, FAULT_SINGLE))
        return REUSE_SINGLE;
    return chance(c, FAULT_NO_REUSE) ? REUSE_NONE : REUSE_SHARED;
}

/* Some repeat the idempotency key of somebody before them, and some of those for something else. */
static void draw_idempotency(struct cluster *c, struct need *need)
{
    if (!chance(c, FAULT_IDEMPOTENCY))
        return;
    const struct need *before = c->need_count == 0 ? NULL : &c->needs[below(c, c->need_count)];
    need->idempotency = c->need_count + 1;
    if (before == NULL || before->idempotency == 0 || below(c, 2) == 0)
        return;
    need->idempotency = before->idempotency;
    /* A retry repeats the demands of the first request. */
    need->reuse = before->reuse;
    need->is_picky = before->is_picky;
    need->is_mutated = chance(c, FAULT_MUTATE);
    if (!need->is_mutated)
        need->key = before->key;
}

static void arrive(struct cluster *c)
{
    struct need need = {.key = (uint32_t)below(c, c->plan.keys), .token = NONE};
    need.reuse = draw_reuse(c);
    need.is_told = below(c, 2) == 0;
    need.is_picky = chance(c, FAULT_PICKY);
    draw_idempotency(c, &need);
    c->needs = room_for(c->needs, c->need_count, &c->need_room, sizeof *c->needs);
    c->needs[c->need_count++] = need;
    at(c, 0, (struct moment){.what = HAPPEN_NEED, .subject = (uint32_t)(c->need_count - 1)});
    if (c->need_count < c->plan.needs)
        at(c, below(c, 2 * (uint64_t)c->plan.gap_ms), (struct moment){.what = HAPPEN_ARRIVE});
}

/* ---- what they do ---------------------------------------------------------------------------------- */

static void again(struct cluster *c, uint32_t place, uint64_t in_ms)
{
    at(c, in_ms, (struct moment){.what = HAPPEN_NEED, .subject = place});
}

static uint32_t some_node(struct cluster *c)
{
    const uint32_t first = (uint32_t)below(c, c->plan.nodes);
    for (uint32_t i = 0; i < c->plan.nodes; i++) {
        const uint32_t node = (first + i) % c->plan.nodes;
        if (c->nodes[node].engine != NULL && !node_is_paused(c, node))
            return node;
    }
    return NONE;
}

static void ask(struct cluster *c, uint32_t place)
{
    struct need *need = &c->needs[place];
    const uint32_t node = some_node(c);
    if (node == NONE || need->tries++ >= TRIES_MAX) {
        need->state = node == NONE ? NEED_AWAY : NEED_DONE;
        if (node == NONE)
            again(c, place, 1000);
        return;
    }
    need->state = NEED_ASKING;
    need->is_slept_through = false;
    need->node = node;
    need->asked_ms = c->now_ms;
    const caller_id caller = clients_call(c, place, node);
    const uint32_t hold_ms = chance(c, FAULT_IMPATIENT) ? (uint32_t)below(c, 3000) : HOLD_MOST_MS;
    c->callers[caller - 1].hold_ms = hold_ms;
    struct event event = {.kind = EVENT_ASK};
    event.ask = (struct ask){.caller = caller,
                             .reuse = need->reuse,
                             .has_idempotency = need->idempotency != 0,
                             .is_id_told = need->is_told,
                             .hold_ms = need->is_told ? 0 : hold_ms,
                             .max_age_ms = need->is_picky ? 0 : UINT32_MAX,
                             .pool = need->key == 0 && c->plan.pool.size > 0,
                             .key = key_numbered(need->key),
                             .idempotency = digest_numbered(need->idempotency),
                             .params = c->params[need->key]};
    if (!need->is_told && chance(c, FAULT_LEAVE))
        at(c, below(c, 10000),
           (struct moment){.what = HAPPEN_LEAVE,
                           .node = node,
                           .incarnation = c->nodes[node].incarnation,
                           .subject = (uint32_t)(caller - 1)});
    c->nodes[node].asked++;
    c->asked++;
    tell(c, "need %u asks n%u for %u (key %llu)%s", place, node, need->key,
         (unsigned long long)need->idempotency, need->reuse == REUSE_SHARED ? "" : " alone");
    node_step(c, node, &event);
}

/* The node that has the request's row, wherever it was asked. Any other one finds it, too. */
static uint32_t place_of_request(struct cluster *c, const struct need *need)
{
    const struct key name = key_from_u64(need->id);
    const struct row *row = store_find(&c->store, RECORD_REQUEST, &name);
    for (uint32_t i = 0; row != NULL && i < c->plan.nodes; i++)
        if (c->nodes[i].run == row->owner)
            return i;
    return need->node;
}

static void look(struct cluster *c, uint32_t place)
{
    struct need *need = &c->needs[place];
    if (errands_give_up(c, place))
        return;
    need->node = find_chance(c, FAULT_ELSEWHERE)
                     ? (uint32_t)rand_below(&c->find_rand, c->plan.nodes)
                     : place_of_request(c, need);
    if (c->nodes[need->node].engine == NULL || node_is_paused(c, need->node)) {
        again(c, place, 500);
        return;
    }
    need->state = NEED_LOOKING;
    struct event event = {.kind = EVENT_LOOK};
    event.look = (struct look){.caller = clients_call(c, place, need->node),
                               .id = need->id,
                               .hold_ms = (uint32_t)below(c, 3000)};
    node_step(c, need->node, &event);
}

static void leave(struct cluster *c, const struct moment *moment)
{
    struct caller *caller = &c->callers[moment->subject];
    if (!caller->is_open)
        return;
    caller->is_open = false;
    struct event event = {.kind = EVENT_GONE};
    event.gone = (caller_id)moment->subject + 1;
    c->needs[caller->need].state = NEED_AWAY;
    again(c, caller->need, 1 + below(c, 5000));
    node_step(c, moment->node, &event);
}

void clients_happen(struct cluster *c, const struct moment *moment)
{
    if (moment->what == HAPPEN_ARRIVE) {
        arrive(c);
    } else if (moment->what == HAPPEN_LEAVE) {
        leave(c, moment);
    } else {
        struct need *need = &c->needs[moment->subject];
        if (need->state == NEED_AWAY)
            ask(c, moment->subject);
        else if (need->state == NEED_KNOWN)
            look(c, moment->subject);
    }
}

/* ---- what they are told ------------------------------------------------------------------------------ */

static bool is_end(const struct answer *answer)
{
    return answer->refusal == REFUSAL_NONE &&
           (answer->state == REQUEST_SOLVED || answer->state == REQUEST_FAILED);
}

void clients_note_answer(struct cluster *c, const struct answer *answer)
{
    const struct caller *caller = &c->callers[answer->caller - 1];
    const uint32_t place = caller->need;
    if (!is_end(answer) || caller->is_report || caller->is_detach || caller->is_operator ||
        caller->is_sight)
        return;
    c->needs[place].is_end_told = true;
    c->needs[place].end_node = caller->node;
    c->needs[place].end_ms = c->now_ms;
}

/* No node says that it does not know an id whose row is there, except one that was told while the store was away. */
static bool must_look_again(struct cluster *c, struct need *need, const struct answer *answer)
{
    const struct key name = key_from_u64(need->id);
    const bool is_there = store_find(&c->store, RECORD_REQUEST, &name) != NULL;
    if (answer->refusal == REFUSAL_UNKNOWN_ID) {
        CHECK(c, !is_there || need->is_unsafe || need->is_slept_through);
        return is_there;
    }
    /* Until the store is back, its request may be over and forgotten. */
    need->is_unsafe = true;
    return true;
}

void clients_on_answer(struct cluster *c, const struct answer *answer, bool is_unsafe)
{
    struct caller *caller = &c->callers[answer->caller - 1];
    const uint32_t place = caller->need;
    /* The order did not end in time, or not at all: what came of it is not known. */
    if (caller->is_operator) {
        caller->is_open = false;
        return;
    }
    if (caller->is_sight) {
        sights_on_answer(c, caller, answer);
        return;
    }
    struct need *need = &c->needs[place];
    const bool is_final = is_end(answer);
    if (caller->is_report || caller->is_detach) {
        errands_on_answer(c, caller, answer);
        return;
    }
    const uint32_t token = need->token;
    if (answer->refusal == REFUSAL_NONE && answer->state == REQUEST_SOLVED)
        check_handed(c, place, answer, is_unsafe);
    if (!caller->is_open) {
        /* Who hung up does not hear it, and has what it got elsewhere. */
        if (token != NONE)
            need->token = token;
        return;
    }
    caller->is_open = false;
    c->answered++;
    tell(c, "need %u is told %s", place,
         answer->refusal != REFUSAL_NONE ? "no"
         : is_final                      ? "its end"
                                         : "to wait");
    if (answer->refusal != REFUSAL_NONE) {
        if (need->state == NEED_LOOKING && must_look_again(c, need, answer)) {
            need->state = NEED_KNOWN;
            again(c, place, 500);
            return;
        }
        /* Whoever was told an id finds it again. */
        c->lost_ids += need->state != NEED_ASKING && !need->is_end_told && need->give_ups == 0;
        CHECK(c, need->state == NEED_ASKING || need->is_unsafe || need->is_slept_through ||
                     need->is_end_told || need->give_ups > 0);
        const bool is_over = answer->refusal == REFUSAL_MISMATCH;
        CHECK(c, !is_over || need->idempotency != 0);
        need->state = is_over ? NEED_DONE : NEED_AWAY;
        if (!is_over)
            again(c, place, 500 + below(c, 3000));
        return;
    }
    need->id = answer->id;
    /* An adopted node does not know what became of it since. */
    need->is_unsafe = is_unsafe || c->store.runs[c->nodes[caller->node].run].is_gone;
    need->is_end_told &= is_final;
    need->state = is_final ? NEED_DONE : NEED_KNOWN;
    if (answer->state == REQUEST_SOLVED) {
        errands_on_solved(c, place);
        sights_on_solved(c, place);
    }
    if (answer->state == REQUEST_FAILED)
        orders_on_failed(c);
    if (!is_final || (need->is_told && need->token == NONE && answer->state == REQUEST_SOLVED))
        again(c, place, 200 + below(c, 2000));
}

/* What nobody could come for in time may be forgotten. */
void clients_on_pause(struct cluster *c, uint32_t node)
{
    for (size_t i = 0; i < c->need_count; i++)
        if (c->needs[i].node == node || place_of_request(c, &c->needs[i]) == node)
            c->needs[i].is_slept_through = true;
}

void clients_refuse(struct cluster *c, caller_id caller)
{
    const struct answer answer = {.caller = caller, .refusal = REFUSAL_STORE_AWAY};
    if (c->callers[caller - 1].need != NONE || c->callers[caller - 1].is_operator)
        clients_on_answer(c, &answer, false);
}

/* Connections break; whoever knows an id comes back for it, everybody else asks again, anywhere. */
void clients_on_crash(struct cluster *c, uint32_t node)
{
    for (size_t i = 0; i < c->caller_count; i++) {
        struct caller *caller = &c->callers[i];
        if (!caller->is_open || caller->node != node)
            continue;
        caller->is_open = false;
        if (caller->need == NONE || caller->is_report || caller->is_sight)
            continue;
        struct need *need = &c->needs[caller->need];
        need->state = need->state == NEED_LOOKING ? NEED_KNOWN : NEED_AWAY;
        again(c, caller->need, 500 + below(c, 3000));
    }
}
