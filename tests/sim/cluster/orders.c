/* Orders: operators replay letters and drop them at any node, as the doors do with what the store says. */
#include "cluster.h"

#include <solvegate/view.h>

#define STRENGTH_MOST 700
#define LATER_MOST_MS 8000

/* In most worlds nobody does. An early one is loud only where the store forgets, which silences it. */
void orders_begin(struct cluster *c)
{
    const bool is_early = c->plan.is_early;
    stream_init(&c->letter_rand, &c->plan, is_early ? STREAM_FORGET_PLAN : STREAM_LETTERS);
    const bool is_quiet = rand_below(&c->letter_rand, is_early ? 8 : 3) != 0;
    c->letter_strength = is_quiet ? 0 : rand_below(&c->letter_rand, STRENGTH_MOST);
}

void orders_on_failed(struct cluster *c)
{
    if (c->is_healing || c->letter_strength == 0 ||
        rand_below(&c->letter_rand, 1000) >= c->letter_strength)
        return;
    at(c, 1 + rand_below(&c->letter_rand, LATER_MOST_MS), (struct moment){.what = HAPPEN_ORDER});
}

const struct row *orders_find(const struct store *store, uint64_t number)
{
    for (size_t i = 0; i < store->row_count; i++)
        if (store->rows[i].record.kind == RECORD_LETTER &&
            store->rows[i].record.letter.number == number)
            return &store->rows[i];
    return NULL;
}

/* NULL: there are none. */
static const struct row *some_letter(struct cluster *c)
{
    const struct store *store = &c->store;
    uint64_t count = 0;
    for (size_t i = 0; i < store->row_count; i++)
        count += store->rows[i].record.kind == RECORD_LETTER;
    uint64_t place = count == 0 ? 0 : rand_below(&c->letter_rand, count);
    for (size_t i = 0; i < store->row_count && count > 0; i++)
        if (store->rows[i].record.kind == RECORD_LETTER && place-- == 0)
            return &store->rows[i];
    return NULL;
}

static void order(struct cluster *c, uint32_t node, struct letter_order order)
{
    struct event event = {.kind = EVENT_LETTERS, .random = rand_u64(&c->letter_rand)};
    order.caller = clients_call(c, NONE, node);
    struct caller *caller = &c->callers[order.caller - 1];
    caller->is_operator = true;
    caller->letter = order.node == 0 ? 0 : order.filter.number;
    event.letters = order;
    node_step(c, node, &event);
}

void orders_happen(struct cluster *c)
{
    static const enum letter_verb verbs[] = {LETTER_REPLAY, LETTER_REPLAY, LETTER_DROP,
                                             LETTER_CANCEL};
    struct letter_order wanted = {.verb = verbs[rand_below(&c->letter_rand, 4)],
                                  .filter = {.class = CLASS_COUNT, .type = TYPE_COUNT}};
    const uint32_t node = (uint32_t)rand_below(&c->letter_rand, c->plan.nodes);
    const struct row *letter = some_letter(c);
    struct letter_view view;
    if (c->nodes[node].engine == NULL || node_is_paused(c, node) || c->is_healing)
        return;
    wanted.is_for_all = letter == NULL || rand_below(&c->letter_rand, 4) == 0;
    if (!wanted.is_for_all) {
        const uint64_t number = letter->record.letter.number;
        const bool is_here = engine_find_letter(c->nodes[node].engine, number, &view);
        wanted.filter.number = number;
        wanted.node = is_here ? 0 : (uint16_t)(letter->owner % ENGINE_NODES);
        /* The door says that it is on its way. */
        if (!is_here && letter->owner == c->nodes[node].run)
            return;
    }
    tell(c, "n%u is ordered to %s letter %llu", node,
         wanted.verb == LETTER_DROP ? "drop" : "replay or stop",
         (unsigned long long)wanted.filter.number);
    order(c, node, wanted);
}

/* Another node's reply comes after whatever the order has changed; what this one has adopted meanwhile it drops at
 * once, and the row later. */
void orders_on_answer(struct cluster *c, const struct letters_answer *answer)
{
    struct caller *caller = &c->callers[answer->caller - 1];
    if (!caller->is_open)
        return;
    caller->is_open = false;
    c->orders += answer->refusal == REFUSAL_NONE;
    const struct row *row = caller->letter == 0 ? NULL : orders_find(&c->store, caller->letter);
    const bool is_there = row != NULL && row->owner != c->nodes[caller->node].run;
    CHECK(c, answer->refusal != REFUSAL_UNKNOWN_ID || !is_there);
    CHECK(c, answer->refusal != REFUSAL_NONE || answer->verb != LETTER_DROP || !is_there);
    CHECK(c, caller->letter == 0 || answer->count <= 1);
}
