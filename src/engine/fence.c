#include "engine/fence.h"

#include "engine/hold.h"
#include "engine/request.h"
#include "engine/task.h"
#include "engine/tell.h"

/* By then the process is a new node. */
#define RETRY_AFTER_MS 1000

/* ---- facts --------------------------------------------------------------------------------- */

/* The vendor named its task, and perhaps no row says so. */
static void tell_name(struct engine *engine, const struct attempt *attempt)
{
    struct vendor_result result = {.attempt = attempt->by_name.number, .outcome = OUTCOME_PENDING};
    if (attempt->task_id == NULL || attempt->named_seq <= engine->durable)
        return;
    task_id_copy(result.task_id, attempt->task_id);
    tell_fact(engine, &result);
}

/* No row has it. */
static void tell_solution(struct engine *engine, const struct solution *solution)
{
    struct vendor_result result = {.attempt = solution->attempt,
                                   .outcome = OUTCOME_SOLVED,
                                   .text = solution->text,
                                   .extra = solution->extra};
    if (solution->is_restored || solution->born_seq <= engine->durable || solution->attempt == 0)
        return;
    task_id_copy(result.task_id, solution->task_id);
    tell_fact(engine, &result);
}

/* Returns how many more items may be looked at. */
static uint32_t tell_facts(struct engine *engine, uint32_t left)
{
    for (; left > 0 && !engine->are_names_told; left--) {
        engine->told_attempt = slab_next(&engine->attempts, engine->told_attempt);
        engine->are_names_told = engine->told_attempt == 0;
        if (!engine->are_names_told)
            tell_name(engine, slab_get(&engine->attempts, engine->told_attempt));
    }
    for (; left > 0 && !engine->are_facts_told; left--) {
        engine->told_solution = slab_next(&engine->solutions, engine->told_solution);
        engine->are_facts_told = engine->told_solution == 0;
        if (!engine->are_facts_told)
            tell_solution(engine, slab_get(&engine->solutions, engine->told_solution));
    }
    return left;
}

/* ---- callers ------------------------------------------------------------------------------- */

static void refuse(struct engine *engine, caller_id caller)
{
    if (caller != 0)
        request_refuse(engine, caller, REFUSAL_STORE_AWAY, SLICE_NONE, RETRY_AFTER_MS);
}

static void refuse_account(struct engine *engine, caller_id caller, enum probe probe)
{
    struct account_answer *answer = &engine_push(engine, ACTION_ACCOUNT)->account;
    answer->caller = caller;
    answer->probed = (struct probed){.probe = probe, .class = CLASS_TRANSIENT};
    code_copy(answer->probed.code, CODE_STORE_AWAY);
}

static void refuse_order(struct engine *engine, const struct letter_order *order)
{
    struct letters_answer *answer = &engine_push(engine, ACTION_LETTERS)->letters;
    answer->caller = order->caller;
    answer->verb = order->verb;
    answer->refusal = REFUSAL_STORE_AWAY;
}

static void refuse_held(struct engine *engine, uint32_t left)
{
    slab_id id = 0;
    while (left-- > 0 && (id = slab_next(&engine->holds, 0)) != 0) {
        struct hold *hold = slab_get(&engine->holds, id);
        refuse(engine, hold->by_caller.number);
        hold_free(engine, hold);
    }
}

static void refuse_others(struct engine *engine)
{
    for (int probe = 0; probe < PROBE_COUNT; probe++)
        LIST_FOR_EACH_SAFE(link, &engine->probes[probe].waits) {
            struct account_wait *wait = CONTAINER_OF(link, struct account_wait, link);
            refuse_account(engine, wait->caller, (enum probe)probe);
            share_give(&engine->shares.account_waits, wait->client, 1);
            list_unlink(&wait->link);
            slab_free(&engine->account_waits, wait->id);
        }
    for (uint32_t i = 0; i < engine->letter_job_count; i++) {
        struct letter_job *job = &engine->letter_jobs[(engine->letter_job_first + i) % LETTER_JOBS];
        if (!job->is_unheard && job->errand.from == 0)
            refuse_order(engine, &job->order);
        job->is_unheard = true;
    }
}

static void forget_caller(struct engine *engine, caller_id caller)
{
    struct numbers_node *node = numbers_find(&engine->holds_by_caller, caller);
    if (node != NULL)
        hold_free(engine, CONTAINER_OF(node, struct hold, by_caller));
}

/* ---- events -------------------------------------------------------------------------------- */

bool fence_has_work(const struct engine *engine)
{
    return !engine->are_facts_told || engine->holds.used > 0;
}

bool engine_is_over(const struct engine *engine)
{
    return engine->is_fenced && !fence_has_work(engine) && engine->action_count == 0;
}

static void work(struct engine *engine)
{
    refuse_held(engine, tell_facts(engine, engine->options.step_batch));
}

static void hear(struct engine *engine, const struct event *event)
{
    tell_late(engine, &event->result);
    if (event->kind != EVENT_CALLBACK)
        return;
    struct action *action = engine_push(engine, ACTION_ACK);
    action->after = engine->seq;
    action->ack = event->result.caller;
}

void fence_dispatch(struct engine *engine, const struct event *event)
{
    switch (event->kind) {
    case EVENT_FENCED:
        refuse_others(engine);
        work(engine);
        return;
    case EVENT_TICK:
        work(engine);
        return;
    case EVENT_ASK:
        refuse(engine, event->ask.caller);
        return;
    case EVENT_LOOK:
        refuse(engine, event->look.caller);
        return;
    case EVENT_DETACH:
        refuse(engine, event->detach.caller);
        return;
    case EVENT_REPORT:
        refuse(engine, event->report.caller);
        return;
    case EVENT_ACCOUNT:
        refuse_account(engine, event->account.caller, event->account.probe);
        return;
    case EVENT_SHOW:
        refuse(engine, event->show.caller);
        return;
    case EVENT_LETTERS:
        refuse_order(engine, &event->letters);
        return;
    case EVENT_GONE:
        forget_caller(engine, event->gone);
        return;
    case EVENT_SUBMITTED:
    case EVENT_POLLED:
    case EVENT_CALLBACK:
        hear(engine, event);
        return;
    case EVENT_UNTOLD:
    case EVENT_PROBED:
    case EVENT_FORGED:
    case EVENT_NOTIFIED:
    case EVENT_DURABLE:
    case EVENT_STORE_STATE:
    case EVENT_STORE_LOST:
    case EVENT_STANDSTILL:
    case EVENT_DRAIN:
    case EVENT_CLAIMED:
    case EVENT_WOKEN:
    case EVENT_BEAT:
    case EVENT_ADOPTED:
    case EVENT_TOLD:
    case EVENT_FOUND:
    case EVENT_DRAWN:
        return;
    }
    UNREACHABLE();
}
