#include "engine/account.h"

#include "engine/breaker.h"
#include "engine/request.h"
#include "engine/retry.h"
#include "engine/slots.h"
#include "engine/unknown.h"

/* Clients ask for the balance before every solve; a recent answer spares the vendor most of these calls. */
#define FRESH_MS 5000
#define PLAN_EVERY_MS 300000

void account_init(struct engine *engine)
{
    for (int probe = 0; probe < PROBE_COUNT; probe++)
        list_init(&engine->probes[probe].waits);
    wheel_timer_init(&engine->plan_timer, TIMER_PLAN);
    account_watch_plan(engine);
}

void account_watch_plan(struct engine *engine)
{
    wheel_cancel(&engine->wheel, &engine->plan_timer);
    if (engine->options.slots_are_auto)
        wheel_arm(&engine->wheel, &engine->plan_timer, engine->now_ms);
}

void account_probe(struct engine *engine, enum probe probe)
{
    if (engine->probes[probe].is_asked)
        return;
    engine->probes[probe].is_asked = true;
    COUNT(engine, probes);
    engine_push(engine, ACTION_PROBE)->probe = probe;
}

bool account_is_asking(const struct engine *engine)
{
    return engine->probes[PROBE_BALANCE].is_asked || engine->probes[PROBE_THREADS].is_asked;
}

bool account_has_means(const struct probed *probed)
{
    if (probed->probe == PROBE_THREADS)
        return probed->has_threads && probed->threads > probed->working_threads;
    for (const char *c = probed->balance; *c != '\0' && *c != '-'; c++) {
        if (*c >= '1' && *c <= '9')
            return true;
    }
    return false;
}

static void tell(struct engine *engine, caller_id caller, const struct probed *probed)
{
    struct action *action = engine_push(engine, ACTION_ACCOUNT);
    action->account.caller = caller;
    action->account.probed = *probed;
}

static bool is_fresh(const struct engine *engine, const struct account_probe *probe)
{
    return probe->last.is_ok && engine->now_ms - probe->heard_ms < FRESH_MS;
}

void account_on_ask(struct engine *engine, const struct account *ask)
{
    struct account_probe *probe = &engine->probes[ask->probe];
    if (is_fresh(engine, probe)) {
        tell(engine, ask->caller, &probe->last);
        return;
    }
    slab_id id;
    const bool has_room =
        share_admits(&engine->shares.account_waits, engine->client_count, ask->client, 1);
    struct account_wait *wait = has_room ? slab_alloc(&engine->account_waits, &id) : NULL;
    if (wait == NULL) {
        request_refuse(engine, ask->caller, REFUSAL_FULL_REQUESTS, SLICE_NONE, FRESH_MS);
        return;
    }
    wait->id = id;
    wait->caller = ask->caller;
    wait->client = ask->client;
    share_take(&engine->shares.account_waits, ask->client, 1);
    list_init(&wait->link);
    list_append(&probe->waits, &wait->link);
    account_probe(engine, ask->probe);
}

static void wait_free(struct engine *engine, struct account_wait *wait)
{
    list_unlink(&wait->link);
    share_give(&engine->shares.account_waits, wait->client, 1);
    slab_free(&engine->account_waits, wait->id);
}

void account_on_gone(struct engine *engine, caller_id caller)
{
    for (int i = 0; i < PROBE_COUNT; i++) {
        LIST_FOR_EACH_SAFE(link, &engine->probes[i].waits) {
            struct account_wait *wait = CONTAINER_OF(link, struct account_wait, link);
            if (wait->caller == caller)
                wait_free(engine, wait);
        }
    }
}

/* threadsinfo lags behind the vendor's own limit: a plan whose threads we all held counts as full
 * even if a thread is reported free by now. */
static bool plan_was_full(const struct engine *engine, const struct probed *probed)
{
    return probed->working_threads >= probed->threads ||
           (engine->verdict_slots > 1 && engine->verdict_slots >= probed->threads);
}

/* If all threads are working, the shortage is temporary and flights wait. If threads are free, or
 * the balance is zero, the account itself is the cause. When neither is known, waiting is the
 * cheaper mistake. */
static void judge(struct engine *engine, const struct probed *probed)
{
    /* Threads are the better evidence, since a plan that is sold by threads may have no balance. */
    if (probed->probe == PROBE_BALANCE && engine->probes[PROBE_THREADS].is_asked)
        return;
    if (probed->probe == PROBE_THREADS && !(probed->is_ok && probed->has_threads)) {
        account_probe(engine, PROBE_BALANCE);
        return;
    }
    if (probed->probe == PROBE_THREADS)
        retry_judge(engine, probed->threads == 0 || !plan_was_full(engine, probed));
    else
        retry_judge(engine, probed->is_ok && !account_has_means(probed));
}

static bool is_verdict_awaited(const struct engine *engine)
{
    return engine->is_verdict_due || engine->verdict_waits > 0;
}

void account_on_probed(struct engine *engine, const struct probed *probed)
{
    struct account_probe *probe = &engine->probes[probed->probe];
    probe->is_asked = false;
    probe->last = *probed;
    probe->heard_ms = engine->now_ms;
    if (!probed->is_ok && probed->class == CLASS_UNKNOWN)
        unknown_count(engine, slice_from(probed->code));
    while (!list_is_empty(&probe->waits)) {
        struct account_wait *wait =
            CONTAINER_OF(list_first(&probe->waits), struct account_wait, link);
        tell(engine, wait->caller, probed);
        wait_free(engine, wait);
    }
    if (probed->is_ok && probed->has_threads)
        slots_on_plan(engine, probed->threads);
    breaker_on_probed(engine, probed);
    if (is_verdict_awaited(engine))
        judge(engine, probed);
}

void account_on_plan_timer(struct engine *engine)
{
    account_probe(engine, PROBE_THREADS);
    wheel_arm(&engine->wheel, &engine->plan_timer, engine->now_ms + PLAN_EVERY_MS);
}
