#include "engine/tell.h"

#include "engine/attempt.h"
#include "engine/bad.h"
#include "engine/errand.h"
#include "engine/hear.h"
#include "engine/journal.h"
#include "engine/oddity.h"
#include "engine/offer.h"
#include "engine/recover.h"

void tell_fact(struct engine *engine, const struct vendor_result *result)
{
    struct action *action = engine_push(engine, ACTION_TELL);
    action->after = ++engine->seq;
    action->tell.number = journal_number(engine);
    action->tell.result = *result;
    action->tell.result.caller = 0;
    (void)blob_ref(result->text);
    (void)blob_ref(result->extra);
    /* A callback that names the task says no more. */
    if (result->outcome == OUTCOME_ACCEPTED)
        action->tell.result.outcome = OUTCOME_PENDING;
}

static bool is_solution(const struct vendor_result *result)
{
    return result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_UNDELIVERABLE;
}

void tell_unknown(struct engine *engine, const struct vendor_result *result)
{
    if (engine->options.store_adopts) {
        tell_fact(engine, result);
        return;
    }
    COUNT(engine, callbacks_unknown);
    if (is_solution(result))
        oddity_of_unknown(engine, result);
}

void tell_late(struct engine *engine, const struct vendor_result *result)
{
    COUNT(engine, late_completions);
    if (engine->options.store_adopts &&
        (result->outcome == OUTCOME_ACCEPTED || is_solution(result)))
        tell_fact(engine, result);
}

/* An entry is repeated until the store knows that it was heard. */
static bool is_repeated(struct engine *engine, uint64_t number)
{
    for (size_t i = 0; i < HEARD_FACTS; i++)
        if (engine->heard_facts[i] == number)
            return true;
    engine->heard_facts[engine->heard_next] = number;
    engine->heard_next = (engine->heard_next + 1) % HEARD_FACTS;
    return false;
}

static void forget(struct engine *engine, const struct fact *fact)
{
    engine_push(engine, ACTION_FORGET)->forget = fact->number;
}

/* Hears what is no news of the vendor. While rows of an adopted node are on their way, what it is about may be among
 * them: it comes again with the next beat. */
static void hear_node(struct engine *engine, const struct fact *fact)
{
    if (fact->kind == FACT_BAD)
        bad_on_told(engine, &fact->bad);
    if (fact->kind == FACT_TAKEN)
        offer_on_told(engine, &fact->taken);
    if (engine->adopting != 0)
        return;
    if (fact->kind == FACT_ERRAND && !is_repeated(engine, fact->number))
        errand_on_told(engine, fact);
    else if (fact->kind == FACT_REPLY && !is_repeated(engine, fact->number))
        errand_on_reply(engine, fact);
    forget(engine, fact);
}

static void hear_vendor(struct engine *engine, const struct fact *fact)
{
    const struct attempt *attempt = attempt_find(engine, fact->result.attempt);
    /* Its attempt may be among the rows that are still to come. */
    if (recovery_awaits(engine, attempt))
        return;
    if (!is_repeated(engine, fact->number)) {
        if (attempt != NULL)
            attempt_hear(engine, &fact->result);
        else if (is_solution(&fact->result))
            oddity_of_unknown(engine, &fact->result);
        if (attempt == NULL)
            COUNT(engine, callbacks_unknown);
    }
    forget(engine, fact);
}

void tell_on_told(struct engine *engine, const struct fact *fact)
{
    if (fact->kind == FACT_NEWS)
        hear_vendor(engine, fact);
    else
        hear_node(engine, fact);
}
