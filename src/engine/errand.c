#include "engine/errand.h"

#include "engine/find.h"
#include "engine/hold.h"
#include "engine/journal.h"
#include "engine/letter_errands.h"
#include "engine/look_errand.h"
#include "engine/placed.h"
#include "engine/request.h"
#include "engine/request_events.h"
#include "engine/show_errand.h"

#define RETRY_AFTER_MS 1000

struct fact *errand_push(struct engine *engine, enum fact_kind kind)
{
    struct action *action = engine_push(engine, ACTION_TELL);
    action->after = ++engine->seq;
    action->tell.kind = kind;
    action->tell.number = journal_number(engine);
    return &action->tell;
}

static void refuse(struct engine *engine, caller_id caller, enum refusal refusal,
                   uint32_t retry_after_ms)
{
    if (caller != 0)
        request_refuse(engine, caller, refusal, SLICE_NONE, retry_after_ms);
}

void errand_send(struct engine *engine, const struct errand *errand)
{
    const bool may_exist = engine->options.store_adopts && request_id_may_exist(errand->id);
    if (!may_exist) {
        refuse(engine, errand->caller, REFUSAL_UNKNOWN_ID, 0);
        return;
    }
    /* Nobody would hear of it, and what waits for the store must not grow without end. */
    if (!engine->store_is_writable) {
        refuse(engine, errand->caller, REFUSAL_STORE_AWAY, RETRY_AFTER_MS);
        return;
    }
    if (!request_may_wait(engine, errand->client)) {
        refuse(engine, errand->caller, REFUSAL_FULL_REQUESTS, RETRY_AFTER_MS);
        return;
    }
    struct errand *sent = &errand_push(engine, FACT_ERRAND)->errand;
    *sent = *errand;
    sent->from = engine->options.node;
    sent->to = request_node(errand->id);
    sent->ticket = engine->last_number;
    (void)hold_for_errand(engine, sent->ticket, errand->client, errand->caller, ERRAND_PATIENCE_MS);
}

static enum refusal carry_out(struct engine *engine, const struct errand *errand)
{
    if (errand->verb == ERRAND_DETACH)
        return request_withdraw(engine, errand->client, errand->id);
    return request_report(engine, errand->client, errand->id, errand->verb == ERRAND_REPORT_GOOD);
}

void errand_on_told(struct engine *engine, const struct fact *fact)
{
    if (fact->errand.verb == ERRAND_LETTERS)
        letter_errand_take(engine, &fact->errand, &fact->letters);
    else if (fact->errand.verb == ERRAND_LOOK)
        look_errand_take(engine, &fact->errand);
    else if (fact->errand.verb == ERRAND_SHOW)
        show_errand_take(engine, fact);
    else
        errand_reply(engine, &fact->errand, carry_out(engine, &fact->errand), 0);
}

void errand_reply(struct engine *engine, const struct errand *errand, enum refusal refusal,
                  uint32_t count)
{
    struct fact reply = {.kind = FACT_REPLY, .errand = *errand};
    reply.errand.refusal = refusal;
    reply.errand.count = count;
    reply.errand.to = errand->from;
    /* It is nobody's, or our own part of an order for all. */
    if (reply.errand.to == engine->options.node)
        errand_on_reply(engine, &reply);
    else
        errand_push(engine, FACT_REPLY)->errand = reply.errand;
}

static void on_reply(struct engine *engine, const struct errand *reply)
{
    struct numbers_node *node = numbers_find(&engine->holds_by_caller, reply->caller);
    struct hold *hold = node == NULL ? NULL : CONTAINER_OF(node, struct hold, by_caller);
    if (hold == NULL || hold->ticket != reply->ticket)
        return;
    if (reply->verb == ERRAND_LETTERS) {
        letter_errand_on_reply(engine, hold, reply);
        return;
    }
    const client_id client = hold->client;
    hold_free(engine, hold);
    find_outdate(engine, client, reply->id);
    struct action *action = engine_push(engine, ACTION_ANSWER);
    action->answer.caller = reply->caller;
    action->answer.id = reply->id;
    action->answer.refusal = reply->refusal;
}

void errand_on_reply(struct engine *engine, const struct fact *reply)
{
    if (reply->errand.verb == ERRAND_LOOK)
        look_errand_on_reply(engine, reply);
    else if (reply->errand.verb == ERRAND_SHOW)
        show_errand_on_reply(engine, reply);
    else
        on_reply(engine, &reply->errand);
}

void errand_on_hold_timer(struct engine *engine, struct hold *hold)
{
    const caller_id caller = hold->by_caller.number;
    const uint64_t ticket = hold->ticket;
    hold_free(engine, hold);
    if (!show_errand_give_up(engine, ticket))
        refuse(engine, caller, REFUSAL_STORE_AWAY, RETRY_AFTER_MS);
}
