#include "engine/breaker.h"

#include "engine/account.h"
#include "engine/stats.h"

#define STORM_SPAN_MS 10000

void breaker_init(struct engine *engine)
{
    wheel_timer_init(&engine->breaker.timer, TIMER_BREAKER);
    engine->breaker.wait_ms = engine->options.breaker_probe_ms;
}

bool breaker_is_open(const struct engine *engine)
{
    return engine->breaker.state != BREAKER_CLOSED;
}

uint32_t breaker_retry_after_ms(const struct engine *engine)
{
    const uint64_t due = engine->breaker.timer.due_ms;
    const uint64_t wait = due > engine->now_ms ? due - engine->now_ms : 0;
    return wait < 1000 ? 1000 : (uint32_t)wait;
}

static void push_alert(struct engine *engine, enum alert_kind kind)
{
    struct action *action = engine_push(engine, ACTION_ALERT);
    action->alert.kind = kind;
    action->alert.class = engine->breaker.cause_class;
    memcpy(action->alert.code, engine->breaker.cause, ERROR_CODE_MAX);
}

static void fail_all(struct engine *engine, struct list *flights, uint32_t *left)
{
    for (; *left > 0 && !list_is_empty(flights); --*left) {
        struct flight *flight = CONTAINER_OF(list_first(flights), struct flight, link);
        flight->retry_after_ms = breaker_retry_after_ms(engine);
        flight_fail(engine, flight, engine->breaker.cause_class, slice_from(engine->breaker.cause));
    }
}

void breaker_clear(struct engine *engine)
{
    uint32_t left = engine->options.step_batch;
    if (!engine->breaker.is_clearing)
        return;
    fail_all(engine, &engine->backing_off, &left);
    for (uint16_t i = 0; i < engine->client_count && left > 0; i++) {
        for (int priority = 0; engine->clients[i].queued > 0 && priority < PRIORITIES; priority++) {
            fail_all(engine, &engine->clients[i].again[priority], &left);
            fail_all(engine, &engine->clients[i].queues[priority], &left);
        }
    }
    engine->breaker.is_clearing = left == 0;
}

void breaker_open(struct engine *engine, enum error_class class, struct slice cause, bool is_short)
{
    struct breaker *breaker = &engine->breaker;
    const bool was_open = breaker_is_open(engine);
    /* An ambiguity storm must not replace an unavailable account as the cause. */
    if (was_open && class != CLASS_ACCOUNT)
        return;
    breaker->cause_class = class;
    breaker->is_short = is_short;
    code_copy(breaker->cause, cause);
    if (!was_open) {
        breaker->state = BREAKER_OPEN;
        breaker->wait_ms = engine->options.breaker_probe_ms;
        wheel_arm(&engine->wheel, &breaker->timer, engine->now_ms + breaker->wait_ms);
        TRACE(engine, "breaker opens: %s", breaker->cause);
        push_alert(engine, ALERT_BREAKER_OPEN);
    }
    if (class != CLASS_ACCOUNT)
        return;
    /* Many submits may return the same error in one turn: the first one starts clearing, and ticks
     * continue it. */
    const bool is_begun = breaker->is_clearing;
    breaker->is_clearing = true;
    if (!is_begun)
        breaker_clear(engine);
}

void breaker_on_ambiguous(struct engine *engine)
{
    struct breaker *breaker = &engine->breaker;
    const unsigned places = sizeof breaker->ambiguous_ms / sizeof breaker->ambiguous_ms[0];
    breaker->ambiguous_ms[breaker->ambiguous_next] = engine->now_ms + 1;
    breaker->ambiguous_next = (breaker->ambiguous_next + 1) % places;
    /* This entry is overwritten next, so it is the oldest. The ring stores now + 1 so that 0 can
     * mean "never". */
    const uint64_t oldest = breaker->ambiguous_ms[breaker->ambiguous_next];
    const bool is_large_share = stats_note_ambiguous(engine, STORM_SPAN_MS / 1000);
    if (is_large_share && oldest != 0 && engine->now_ms + 1 - oldest <= STORM_SPAN_MS)
        breaker_open(engine, CLASS_AMBIGUOUS, CODE_UPSTREAM_UNCERTAIN, false);
}

void breaker_on_timer(struct engine *engine)
{
    ASSERT(engine->breaker.state == BREAKER_OPEN);
    engine->breaker.state = BREAKER_PROBING;
    account_probe(engine, PROBE_BALANCE);
    account_probe(engine, PROBE_THREADS);
}

static void stay_open(struct engine *engine, const struct probed *probed)
{
    struct breaker *breaker = &engine->breaker;
    breaker->state = BREAKER_OPEN;
    const uint32_t most_ms = engine->options.breaker_probe_most_ms;
    breaker->wait_ms = breaker->wait_ms < most_ms / 2 ? breaker->wait_ms * 2 : most_ms;
    wheel_arm(&engine->wheel, &breaker->timer, engine->now_ms + breaker->wait_ms);
    if (probed->class == CLASS_ACCOUNT)
        breaker_open(engine, CLASS_ACCOUNT, slice_from(probed->code), probed->is_short);
}

/* The breaker opened for lack of money although threads were free, so free threads alone close it
 * only after the longest wait. Plans without a balance need that exception, or they would never try
 * again. */
static bool is_good_news(const struct engine *engine, const struct probed *probed)
{
    const struct breaker *breaker = &engine->breaker;
    if (!probed->is_ok)
        return false;
    if (!breaker->is_short)
        return true;
    return account_has_means(probed) && (probed->probe == PROBE_BALANCE ||
                                         breaker->wait_ms >= engine->options.breaker_probe_most_ms);
}

void breaker_on_probed(struct engine *engine, const struct probed *probed)
{
    struct breaker *breaker = &engine->breaker;
    if (breaker->state != BREAKER_PROBING)
        return;
    if (!is_good_news(engine, probed)) {
        /* The other probe is still on its way and may succeed. */
        if (!account_is_asking(engine))
            stay_open(engine, probed);
        return;
    }
    breaker->state = BREAKER_CLOSED;
    /* Flights that were not failed yet stay queued. */
    breaker->is_clearing = false;
    memset(breaker->ambiguous_ms, 0, sizeof breaker->ambiguous_ms);
    TRACE(engine, "breaker closes");
    push_alert(engine, ALERT_BREAKER_CLOSED);
}
