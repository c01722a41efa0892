#include "engine/letter_errands.h"

#include "engine/errand.h"
#include "engine/hold.h"
#include "engine/journal.h"
#include "engine/letter_orders.h"
#include "engine/placed.h"

void letter_order_end(struct engine *engine, caller_id caller, enum letter_verb verb,
                      enum refusal refusal, uint32_t count)
{
    struct action *action = engine_push(engine, ACTION_LETTERS);
    action->letters =
        (struct letters_answer){.caller = caller, .verb = verb, .refusal = refusal, .count = count};
}

/* ---- sending ----------------------------------------------------------------------------- */

bool letter_order_is_for_others(const struct engine *engine, const struct letter_order *order)
{
    const bool is_elsewhere = order->node != 0 && order->node != engine->options.node;
    return engine->options.store_adopts && (is_elsewhere || order->is_for_all);
}

static client_id client_of(const struct letter_order *order)
{
    if (order->has_into)
        return order->into;
    return order->filter.has_client ? order->filter.client : order->client;
}

static struct errand errand_of(const struct engine *engine, const struct letter_order *order,
                               uint64_t ticket, uint16_t to)
{
    return (struct errand){.verb = ERRAND_LETTERS,
                           .from = engine->options.node,
                           .to = to,
                           .client = client_of(order),
                           .id = order->filter.number,
                           .caller = order->caller,
                           .ticket = ticket};
}

static void send(struct engine *engine, const struct letter_order *order, uint64_t ticket,
                 uint16_t to)
{
    struct action *action = engine_push(engine, ACTION_TELL);
    action->after = ++engine->seq;
    action->tell.kind = FACT_ERRAND;
    action->tell.number = journal_number(engine);
    action->tell.errand = errand_of(engine, order, ticket, to);
    action->tell.letters = *order;
}

/* One that has left has no letters any more as soon as somebody adopts them: they are passed over. */
static uint16_t send_all(struct engine *engine, const struct letter_order *order, uint64_t ticket)
{
    uint16_t count = 0;
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct member *member = &engine->members[i];
        if (member->is_self || member->is_leaving)
            continue;
        send(engine, order, ticket, member->node);
        count++;
    }
    return count;
}

/* Our own part is an errand like the others'. */
void letter_errand_send(struct engine *engine, const struct letter_order *order)
{
    const caller_id caller = order->caller;
    /* Nobody would hear of it. */
    if (!engine->store_is_writable) {
        letter_order_end(engine, caller, order->verb, REFUSAL_STORE_AWAY, 0);
        return;
    }
    if (!request_may_wait(engine, order->client)) {
        letter_order_end(engine, caller, order->verb, REFUSAL_FULL_REQUESTS, 0);
        return;
    }
    struct letter_order sent = *order;
    const uint64_t ticket = journal_number(engine);
    struct hold *hold = hold_for_errand(engine, ticket, order->client, caller, ERRAND_PATIENCE_MS);
    hold->letters = (struct letter_wait){.awaited = 1, .verb = (uint8_t)order->verb};
    if (!order->is_for_all) {
        send(engine, &sent, ticket, order->node);
        return;
    }
    /* It may be carried out late: what was not there when it was given is not meant. */
    sent.filter.until_wall_ms = engine->wall_ms;
    hold->letters.awaited = (uint16_t)(1 + send_all(engine, &sent, ticket));
    const struct errand own = errand_of(engine, &sent, ticket, engine->options.node);
    letter_errand_take(engine, &own, &sent);
}

/* ---- carrying out ------------------------------------------------------------------------ */

/* Clients are told by name: one that this node does not have has no letters here, and gets none. */
static bool is_in_vain(const struct engine *engine, const struct letter_order *order)
{
    return order->has_into &&
           (order->into >= engine->client_count || client_is_gone(engine, order->into));
}

void letter_errand_take(struct engine *engine, const struct errand *errand,
                        const struct letter_order *order)
{
    struct letter_order own = *order;
    own.caller = 0;
    own.filter.number = errand->id;
    own.filter.client = own.into = errand->client;
    if (errand->id != 0 && letter_find(engine, errand->id) == NULL) {
        errand_reply(engine, errand, REFUSAL_UNKNOWN_ID, 0);
    } else if (errand->id == 0 && errand->to != engine->options.node) {
        /* Whoever adopted the node that it was for has carried out its own part: again would be once too often. */
        errand_reply(engine, errand, REFUSAL_STORE_AWAY, 0);
    } else if (is_in_vain(engine, &own)) {
        errand_reply(engine, errand, REFUSAL_NONE, 0);
    } else if (!letter_job_take(engine, &own, errand)) {
        errand_reply(engine, errand, REFUSAL_FULL_REQUESTS, 0);
    }
}

void letter_errand_on_reply(struct engine *engine, struct hold *hold, const struct errand *reply)
{
    struct letter_wait *wait = &hold->letters;
    if (reply->refusal != REFUSAL_NONE)
        wait->refusal = (uint8_t)reply->refusal;
    wait->count += reply->count;
    if (--wait->awaited > 0)
        return;
    const struct letter_wait ended = *wait;
    hold_free(engine, hold);
    letter_order_end(engine, reply->caller, (enum letter_verb)ended.verb,
                     (enum refusal)ended.refusal, ended.count);
}
