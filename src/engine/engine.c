#include <solvegate/engine.h>

#include "engine/account.h"
#include "engine/adopt.h"
#include "engine/advice.h"
#include "engine/aside.h"
#include "engine/ask.h"
#include "engine/attempt.h"
#include "engine/backlog.h"
#include "engine/bad.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/divide.h"
#include "engine/fence.h"
#include "engine/find.h"
#include "engine/finished.h"
#include "engine/follow.h"
#include "engine/gather.h"
#include "engine/hear.h"
#include "engine/history.h"
#include "engine/hold.h"
#include "engine/idempotency.h"
#include "engine/journal_books.h"
#include "engine/kept.h"
#include "engine/lease.h"
#include "engine/letter_orders.h"
#include "engine/letter_replay.h"
#include "engine/letters.h"
#include "engine/letters_retry.h"
#include "engine/notice.h"
#include "engine/placed.h"
#include "engine/pool.h"
#include "engine/request.h"
#include "engine/request_events.h"
#include "engine/rewrite.h"
#include "engine/shadow.h"
#include "engine/show_errand.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/task.h"
#include "engine/tell.h"
#include "engine/vigil.h"

#include <stdlib.h>

#define TRACE_LINE_MAX 512

/* ---- stepping ---------------------------------------------------------------------------- */

static void on_timer(struct engine *engine, struct wheel_timer *timer)
{
    switch ((enum timer_kind)timer->kind) {
    case TIMER_FLIGHT_PHASE:
        flight_on_phase_timer(engine, CONTAINER_OF(timer, struct flight, phase));
        return;
    case TIMER_FLIGHT_DEADLINE:
        flight_on_deadline(engine, CONTAINER_OF(timer, struct flight, deadline));
        return;
    case TIMER_REQUEST:
        request_on_expiry(engine, CONTAINER_OF(timer, struct request, expiry));
        return;
    case TIMER_HOLD:
        hold_on_timer(engine, CONTAINER_OF(timer, struct hold, timer));
        return;
    case TIMER_SOLUTION:
        cache_on_expiry(engine, CONTAINER_OF(timer, struct solution, expiry));
        return;
    case TIMER_IDEMPOTENCY:
        idempotency_on_expiry(engine, CONTAINER_OF(timer, struct idempotency, expiry));
        return;
    case TIMER_ATTEMPT:
        attempt_on_expiry(engine, CONTAINER_OF(timer, struct vigil, expiry)->attempt);
        return;
    case TIMER_BREAKER:
        breaker_on_timer(engine);
        return;
    case TIMER_LETTER:
        letter_drop(engine, CONTAINER_OF(timer, struct letter, expiry));
        return;
    case TIMER_REPLAY:
        letters_on_replay_timer(engine);
        return;
    case TIMER_SWEEP:
        letters_on_sweep_timer(engine);
        return;
    case TIMER_PLAN:
        account_on_plan_timer(engine);
        return;
    case TIMER_POOL:
        pool_on_timer(engine, CONTAINER_OF(timer, struct pool, timer));
        return;
    case TIMER_NOTICE:
        notice_on_timer(engine, CONTAINER_OF(timer, struct notice, timer));
        return;
    case TIMER_BOOKS:
        journal_on_books_timer(engine);
        return;
    case TIMER_SEARCH:
        find_on_timer(engine, timer);
        return;
    case TIMER_PAUSE:
        return; /* every step ends by pumping the queue */
    }
    UNREACHABLE();
}

/* Only a tick fires timers. After a long standstill all input pending in the sockets is processed
 * first, so that no reply that already arrived is declared lost (docs/reliability.md 3.2). */
static void fire_timers(struct engine *engine)
{
    /* Timers left over by the previous tick fire first. */
    if (!wheel_has_due(&engine->wheel))
        wheel_advance(&engine->wheel, engine->now_ms, engine->options.step_batch * 16);
    for (uint32_t left = engine->options.step_batch; left > 0; left--) {
        struct wheel_timer *timer = wheel_pop(&engine->wheel);
        if (timer == NULL)
            return;
        engine->work++;
        on_timer(engine, timer);
    }
}

/* What only gateways that share a store have. */
static void work_for_others(struct engine *engine)
{
    lease_work(engine);
    adopt_work(engine);
    find_work(engine);
    budgets_work(engine);
}

static bool has_work_for_others(const struct engine *engine)
{
    return lease_has_work(engine) || adopt_has_work(engine) || find_has_work(engine) ||
           budgets_have_work(engine);
}

static void on_tick(struct engine *engine)
{
    fire_timers(engine);
    breaker_clear(engine);
    if (letters_have_work(engine))
        letters_work(engine);
    journal_work(engine);
    if (!list_is_empty(&engine->telling))
        flights_tell(engine, engine->options.wake_batch);
    if (engine->options.store_is_shared)
        work_for_others(engine);
}

static void on_gone(struct engine *engine, caller_id caller)
{
    request_on_gone(engine, caller);
    account_on_gone(engine, caller);
    letters_on_gone(engine, caller);
}

static void on_drain(struct engine *engine)
{
    engine->is_draining = true;
    letters_on_drain(engine);
    attempts_on_drain(engine);
    budgets_on_drain(engine);
}

static void on_decided(struct engine *engine, const struct event *event)
{
    if (event->kind == EVENT_CLAIMED)
        claim_on_claimed(engine, &event->claimed);
    else
        budgets_on_drawn(engine, &event->drawn);
    flights_tell(engine, engine->options.wake_batch);
}

static void on_beat(struct engine *engine, const struct beat *beat)
{
    adopt_watch(engine, beat);
    divide_on_beat(engine, beat);
    lease_on_beat(engine, beat);
    adopt_one(engine);
    budgets_on_beat(engine);
}

static void on_woken(struct engine *engine, const struct key *name)
{
    follow_on_woken(engine, name);
    find_on_woken(engine, name);
}

/* News of the shared store and of the other nodes. */
static void on_others(struct engine *engine, const struct event *event)
{
    if (event->kind == EVENT_CLAIMED || event->kind == EVENT_DRAWN)
        on_decided(engine, event);
    else if (event->kind == EVENT_WOKEN)
        on_woken(engine, &event->woken);
    else if (event->kind == EVENT_FOUND)
        find_on_found(engine, &event->found);
    else if (event->kind == EVENT_BEAT)
        on_beat(engine, &event->beat);
    else if (event->kind == EVENT_ADOPTED)
        adopt_on_adopted(engine, &event->adopted);
    else if (event->kind == EVENT_SHOW)
        show_errand_send(engine, &event->show);
    else
        tell_on_told(engine, &event->told);
}

static void dispatch(struct engine *engine, const struct event *event)
{
    switch (event->kind) {
    case EVENT_TICK:
        on_tick(engine);
        return;
    case EVENT_ASK:
        ask_on_ask(engine, &event->ask);
        return;
    case EVENT_LOOK:
        request_on_look(engine, &event->look);
        return;
    case EVENT_GONE:
        on_gone(engine, event->gone);
        return;
    case EVENT_DETACH:
    case EVENT_UNTOLD:
        request_on_given_up(engine, event);
        return;
    case EVENT_REPORT:
        request_on_report(engine, &event->report);
        return;
    case EVENT_ACCOUNT:
        account_on_ask(engine, &event->account);
        return;
    case EVENT_SUBMITTED:
        attempt_on_submitted(engine, &event->result);
        return;
    case EVENT_POLLED:
        attempt_on_polled(engine, &event->result);
        return;
    case EVENT_PROBED:
        account_on_probed(engine, &event->probed);
        return;
    case EVENT_CALLBACK:
        attempt_on_callback(engine, &event->result);
        return;
    case EVENT_FORGED:
        COUNT(engine, callbacks_forged);
        return;
    case EVENT_NOTIFIED:
        notice_on_told(engine, &event->notified);
        return;
    case EVENT_LETTERS:
        letters_on_order(engine, &event->letters);
        return;
    case EVENT_DURABLE:
        journal_on_durable(engine, event->durable);
        return;
    case EVENT_STORE_STATE:
    case EVENT_STORE_LOST:
        rewrite_on_store(engine, event);
        return;
    case EVENT_STANDSTILL:
        flights_on_standstill(engine);
        return;
    case EVENT_DRAIN:
        on_drain(engine);
        return;
    case EVENT_CLAIMED:
    case EVENT_WOKEN:
    case EVENT_BEAT:
    case EVENT_ADOPTED:
    case EVENT_TOLD:
    case EVENT_FOUND:
    case EVENT_DRAWN:
    case EVENT_SHOW:
        on_others(engine, event);
        return;
    case EVENT_FENCED:
        UNREACHABLE();
    }
}

/* Is there work left that did not fit into previous steps? */
static bool has_backlog(const struct engine *engine)
{
    return !list_is_empty(&engine->waking) || !list_is_empty(&engine->telling) ||
           engine->breaker.is_clearing || engine->is_starting || letters_have_work(engine) ||
           journal_has_work(engine) || kept_is_over(engine) ||
           (engine->options.store_is_shared && has_work_for_others(engine));
}

/* A turn of the loop may bring hundreds of events. If each of them did a batch of the leftover work, the turn would
 * take too long, so only ticks (one a turn) do, and events that find no work left over. */
void engine_step(struct engine *engine, const struct event *event)
{
    const bool is_tick = event->kind == EVENT_TICK;
    const bool may_wake = is_tick || list_is_empty(&engine->waking);
    const bool may_trim = is_tick || !kept_is_over(engine);
    engine->work = 0;
    engine->starts_left = is_tick || !engine->is_starting ? engine->options.step_batch : 0;
    stats_set_clock(engine, event->now_ms, event->wall_ms);
    rand_mix(&engine->rand, event->random);
    engine->is_fenced |= event->kind == EVENT_FENCED;
    if (engine->is_fenced) {
        fence_dispatch(engine, event);
        return;
    }
    dispatch(engine, event);
    if (may_wake)
        flight_wake(engine, engine->options.wake_batch);
    finished_trim(engine);
    if (may_trim && kept_is_over(engine))
        kept_trim(engine);
    slots_pump(engine);
    if (engine->members != NULL)
        divide_watch(engine);
    journal_on_step(engine);
}

uint64_t engine_next_deadline(const struct engine *engine)
{
    if (engine->is_fenced)
        return fence_has_work(engine) ? engine->now_ms : UINT64_MAX;
    return has_backlog(engine) ? engine->now_ms : wheel_next_ms(&engine->wheel);
}

uint32_t engine_work(const struct engine *engine)
{
    return engine->work;
}

/* ---- actions ----------------------------------------------------------------------------- */

struct action *engine_push(struct engine *engine, enum action_kind kind)
{
    if (engine->action_head + engine->action_count == engine->action_room) {
        engine->action_room = engine->action_room == 0 ? 64 : engine->action_room * 2;
        struct action *larger =
            realloc(engine->actions, engine->action_room * sizeof *engine->actions);
        ASSERT(larger != NULL);
        engine->actions = larger;
    }
    struct action *action = &engine->actions[engine->action_head + engine->action_count++];
    memset(action, 0, sizeof *action);
    action->kind = kind;
    engine->work++;
    return action;
}

bool engine_next_action(struct engine *engine, struct action *action)
{
    if (engine->action_count == 0)
        return false;
    *action = engine->actions[engine->action_head++];
    /* The record's contents are complete only now. */
    if (action->kind == ACTION_JOURNAL)
        journal_on_taken(engine, action->after, &action->record);
    if (--engine->action_count == 0)
        engine->action_head = 0;
    return true;
}

void code_copy(char out[ERROR_CODE_MAX], struct slice code)
{
    const size_t len = code.len < ERROR_CODE_MAX - 1 ? code.len : ERROR_CODE_MAX - 1;
    if (len > 0)
        memcpy(out, code.data, len);
    out[len] = '\0';
}

void engine_set_trace(struct engine *engine, trace_fn trace, void *context)
{
    engine->trace = trace;
    engine->trace_context = context;
}

void engine_trace_emit(struct engine *engine)
{
    buf_add_char(&engine->trace_buf, '\0');
    engine->trace(engine->trace_context, engine->now_ms, engine->trace_buf.data);
}

/* ---- birth and death --------------------------------------------------------------------- */

static void init_memory(struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    const uint64_t *secret = options->secret;
    /* Besides cached and pooled solutions, each request, flight and idempotency record may hold one
     * of its own. With a shared store there is room for what another node had. */
    const uint32_t nodes = options->store_is_shared ? 2 : 1;
    const uint32_t requests = options->max_requests * nodes;
    const uint32_t flights = options->max_flights * nodes;
    const uint32_t idempotency = options->max_idempotency * nodes;
    const uint32_t solutions = (options->max_solutions + pools_room(engine)) * nodes + requests +
                               flights + idempotency + 1;
    slab_init(&engine->requests, sizeof(struct request), requests);
    slab_init(&engine->holds, sizeof(struct hold), options->max_callers);
    slab_init(&engine->flights, sizeof(struct flight), flights);
    slab_init(&engine->asides, sizeof(struct aside), flights);
    slab_init(&engine->attempts, sizeof(struct attempt), flights * 2);
    slab_init(&engine->vigils, sizeof(struct vigil), flights * 2);
    slab_init(&engine->solutions, sizeof(struct solution), solutions);
    slab_init(&engine->idempotency, sizeof(struct idempotency), idempotency);
    slab_init(&engine->letters, sizeof(struct letter), options->max_letters);
    slab_init(&engine->notices, sizeof(struct notice), notices_room(requests));
    slab_init(&engine->account_waits, sizeof(struct account_wait), options->max_callers);
    slab_init(&engine->task_slab, sizeof(struct task), flights * 2);
    numbers_init(&engine->holds_by_caller, options->max_callers, secret);
    table_init(&engine->flights_by_key, flights, secret);
    table_init(&engine->flights_apart, flights / 16 + 1, secret);
    numbers_init(&engine->requests_by_id, requests / 2, secret); /* chains of two are cheaper */
    numbers_init(&engine->attempts_by_name, flights, secret);
    numbers_init(&engine->attempts_by_task, flights, secret);
    numbers_init(&engine->tasks_by_name, flights, secret);
    table_init(&engine->strays_by_key, (size_t)flights * 2, secret);
    table_init(&engine->unheard_by_key, (size_t)flights * 2, secret);
    table_init(&engine->solutions_by_key, options->max_solutions, secret);
    table_init(&engine->idempotency_by_key, idempotency, secret);
    numbers_init(&engine->letters_by_number, options->max_letters, secret);
    table_init(&engine->orphans_by_key, options->max_letters, secret);
    table_init(&engine->answers_by_key, options->max_letters, secret);
    numbers_init(&engine->notices_by_request, notices_room(requests), secret);
}

/* Each share has the capacity of the table or byte limit that it divides. */
static void init_shares(struct engine *engine)
{
    const struct engine_options *options = &engine->options;
    const struct {
        struct share *share;
        uint64_t room;
    } rooms[] = {
        {&engine->shares.requests, options->max_requests},
        {&engine->shares.read, options->max_finished},
        {&engine->shares.holds, options->max_callers},
        {&engine->shares.flights, options->max_flights},
        {&engine->shares.flight_bytes, options->max_flight_bytes},
        {&engine->shares.idempotency, options->max_idempotency},
        {&engine->shares.cached, options->max_solutions},
        {&engine->shares.cached_bytes, options->max_solution_bytes},
        {&engine->shares.finished_bytes, options->max_finished_bytes},
        {&engine->shares.pingback_bytes, options->max_pingback_bytes},
        {&engine->shares.letters, options->max_letters},
        {&engine->shares.letter_bytes, options->max_letter_bytes},
        {&engine->shares.account_waits, options->max_callers},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        share_init(rooms[i].share, engine->client_room, rooms[i].room);
    for (uint16_t i = 0; i < engine->client_room; i++) {
        list_init(&engine->clients[i].unread);
        list_init(&engine->clients[i].read);
        list_init(&engine->clients[i].settled);
        list_init(&engine->clients[i].cached);
        list_init(&engine->clients[i].kept_unread);
        list_init(&engine->clients[i].kept_read);
        list_init(&engine->clients[i].letters);
    }
}

struct engine *engine_new(const struct engine_options *options, uint64_t now_ms, int64_t wall_ms)
{
    ASSERT(options->client_count > 0 && options->max_finished > 0);
    ASSERT(options->wake_batch > 0 && options->step_batch > 0);
    ASSERT(!options->store_is_shared || (options->has_journal && options->node < ENGINE_NODES));
    ASSERT(options->lease_ms == 0 || options->store_is_shared);
    struct engine *engine = calloc(1, sizeof *engine);
    ASSERT(engine != NULL);
    engine->options = *options;
    engine->options.clients = NULL;
    engine->options.pools = NULL;
    engine->store_is_writable = true;
    engine->verdict_number = 1;
    engine->client_count = options->client_count;
    engine->client_room =
        options->max_clients > options->client_count ? options->max_clients : options->client_count;
    engine->clients = calloc(engine->client_room, sizeof *engine->clients);
    ASSERT(engine->clients != NULL);
    list_init(&engine->active);
    list_init(&engine->backing_off);
    list_init(&engine->claiming);
    list_init(&engine->following);
    list_init(&engine->telling);
    list_init(&engine->unleased);
    list_init(&engine->unhanded);
    list_init(&engine->parked);
    list_init(&engine->waking);
    list_init(&engine->listening);
    tasks_init(engine);
    rand_init(&engine->rand, options->secret[0]);
    wheel_init(&engine->wheel, now_ms);
    buf_init(&engine->trace_buf, TRACE_LINE_MAX);
    pools_init(engine, options->pools, options->pool_count);
    init_memory(engine);
    init_shares(engine);
    divide_init(engine);
    find_init(engine);
    bad_init(engine);
    budgets_init(engine);
    slots_init(engine, options->clients);
    breaker_init(engine);
    letters_init(engine);
    letters_watch(engine);
    journal_init(engine);
    stats_init(engine);
    stats_set_clock(engine, now_ms, wall_ms);
    account_init(engine);
    pools_start(engine);
    return engine;
}

static void free_request_blobs(struct request *request)
{
    blob_unref(request->error);
    blob_unref(request->pingback);
}

static void free_blobs(struct engine *engine)
{
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;)
        free_request_blobs(slab_get(&engine->requests, id));
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;)
        attempt_close(slab_get(&engine->attempts, id));
    for (slab_id id = 0; (id = slab_next(&engine->notices, id)) != 0;)
        notice_close(slab_get(&engine->notices, id));
    for (slab_id id = 0; (id = slab_next(&engine->flights, id)) != 0;) {
        struct flight *flight = slab_get(&engine->flights, id);
        blob_unref(flight->params);
        blob_unref(flight->error);
        history_free(flight->history);
    }
    for (slab_id id = 0; (id = slab_next(&engine->letters, id)) != 0;) {
        struct letter *letter = slab_get(&engine->letters, id);
        blob_unref(letter->params);
        blob_unref(letter->error);
        blob_unref(letter->pingback);
        blob_unref(letter->text);
        blob_unref(letter->extra);
        history_free(letter->history);
    }
    for (slab_id id = 0; (id = slab_next(&engine->solutions, id)) != 0;)
        solution_close(slab_get(&engine->solutions, id));
    tasks_close(engine);
}

void engine_free(struct engine *engine)
{
    if (engine == NULL)
        return;
    struct action action;
    while (engine_next_action(engine, &action))
        action_close(&action);
    recovery_free(engine);
    while (engine_next_action(engine, &action))
        action_close(&action);
    free_blobs(engine);
    letter_jobs_free(engine);
    show_errands_free(engine);
    struct slab *slabs[] = {&engine->requests,  &engine->holds,     &engine->flights,
                            &engine->attempts,  &engine->solutions, &engine->idempotency,
                            &engine->letters,   &engine->notices,   &engine->account_waits,
                            &engine->task_slab, &engine->asides,    &engine->vigils};
    for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++)
        slab_close(slabs[i]);
    struct table *tables[] = {&engine->flights_by_key,     &engine->unheard_by_key,
                              &engine->strays_by_key,      &engine->solutions_by_key,
                              &engine->idempotency_by_key, &engine->orphans_by_key,
                              &engine->answers_by_key,     &engine->flights_apart};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        table_close(tables[i]);
    struct numbers *numbers[] = {&engine->requests_by_id,     &engine->holds_by_caller,
                                 &engine->attempts_by_name,   &engine->letters_by_number,
                                 &engine->notices_by_request, &engine->tasks_by_name,
                                 &engine->attempts_by_task};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        numbers_close(numbers[i]);
    struct share *shares[] = {&engine->shares.requests,       &engine->shares.read,
                              &engine->shares.holds,          &engine->shares.flights,
                              &engine->shares.flight_bytes,   &engine->shares.idempotency,
                              &engine->shares.cached,         &engine->shares.cached_bytes,
                              &engine->shares.letters,        &engine->shares.letter_bytes,
                              &engine->shares.pingback_bytes, &engine->shares.account_waits,
                              &engine->shares.finished_bytes};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        share_close(shares[i]);
    buf_close(&engine->trace_buf);
    stats_close(engine);
    shadow_close(engine);
    advice_close(engine);
    find_close(engine);
    bad_close(engine);
    budgets_close(engine);
    free(engine->actions);
    divide_close(engine);
    pools_close(engine);
    free(engine->clients);
    free(engine);
}
