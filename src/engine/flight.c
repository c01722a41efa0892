#include "engine/flight.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/budget.h"
#include "engine/cache.h"
#include "engine/claim.h"
#include "engine/flight_name.h"
#include "engine/flight_table.h"
#include "engine/hear.h"
#include "engine/history.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/letters.h"
#include "engine/offer.h"
#include "engine/placed.h"
#include "engine/pool.h"
#include "engine/request.h"
#include "engine/rest.h"
#include "engine/retry.h"
#include "engine/shadow.h"
#include "engine/slots.h"
#include "engine/stats.h"
#include "engine/stray.h"
#include "engine/vigil.h"
#include "engine/withdraw.h"

#define BIT(state) (1u << (state))
#define GRACE_MS 30000

/* Allowed transitions; any other is a bug. */
static const unsigned next_states[FLIGHT_STATE_COUNT] = {
    [FLIGHT_NEW] = BIT(FLIGHT_CLAIMING) | BIT(FLIGHT_QUEUED) | BIT(FLIGHT_SUBMITTING) |
                   BIT(FLIGHT_SOLVING) | BIT(FLIGHT_AMBIGUOUS) | BIT(FLIGHT_BACKING_OFF) |
                   BIT(FLIGHT_SOLVED) | BIT(FLIGHT_FAILED),
    [FLIGHT_CLAIMING] = BIT(FLIGHT_FOLLOWING) | BIT(FLIGHT_QUEUED) | BIT(FLIGHT_SUBMITTING) |
                        BIT(FLIGHT_SOLVING) | BIT(FLIGHT_AMBIGUOUS) | BIT(FLIGHT_SOLVED) |
                        BIT(FLIGHT_FAILED),
    [FLIGHT_FOLLOWING] = BIT(FLIGHT_QUEUED) | BIT(FLIGHT_SUBMITTING) | BIT(FLIGHT_SOLVING) |
                         BIT(FLIGHT_AMBIGUOUS) | BIT(FLIGHT_BACKING_OFF) | BIT(FLIGHT_SOLVED) |
                         BIT(FLIGHT_FAILED),
    [FLIGHT_QUEUED] = BIT(FLIGHT_SUBMITTING) | BIT(FLIGHT_SOLVING) | BIT(FLIGHT_AMBIGUOUS) |
                      BIT(FLIGHT_FOLLOWING) | BIT(FLIGHT_SOLVED) | BIT(FLIGHT_FAILED),
    [FLIGHT_SUBMITTING] = BIT(FLIGHT_SOLVING) | BIT(FLIGHT_AMBIGUOUS) | BIT(FLIGHT_BACKING_OFF) |
                          BIT(FLIGHT_QUEUED) | BIT(FLIGHT_SOLVED) | BIT(FLIGHT_FAILED),
    [FLIGHT_AMBIGUOUS] = BIT(FLIGHT_SOLVING) | BIT(FLIGHT_QUEUED) | BIT(FLIGHT_BACKING_OFF) |
                         BIT(FLIGHT_SOLVED) | BIT(FLIGHT_FAILED),
    [FLIGHT_SOLVING] =
        BIT(FLIGHT_SOLVED) | BIT(FLIGHT_QUEUED) | BIT(FLIGHT_BACKING_OFF) | BIT(FLIGHT_FAILED),
    [FLIGHT_BACKING_OFF] = BIT(FLIGHT_QUEUED) | BIT(FLIGHT_SOLVED) | BIT(FLIGHT_FAILED),
    [FLIGHT_SOLVED] = 0,
    [FLIGHT_FAILED] = 0,
};

const char *flight_state_name(enum flight_state state)
{
    static const char *const names[FLIGHT_STATE_COUNT] = {
        [FLIGHT_NEW] = "new",
        [FLIGHT_CLAIMING] = "claiming",
        [FLIGHT_FOLLOWING] = "following",
        [FLIGHT_QUEUED] = "queued",
        [FLIGHT_SUBMITTING] = "submitting",
        [FLIGHT_AMBIGUOUS] = "ambiguous",
        [FLIGHT_SOLVING] = "solving",
        [FLIGHT_BACKING_OFF] = "backing_off",
        [FLIGHT_SOLVED] = "solved",
        [FLIGHT_FAILED] = "failed",
    };
    ASSERT(state < FLIGHT_STATE_COUNT);
    return names[state];
}

/* ---- birth and death --------------------------------------------------------------------- */

bool flight_has_room(const struct engine *engine, const struct ask *ask)
{
    const uint32_t bytes = ask->params == NULL ? 0 : ask->params->len;
    const uint16_t clients = engine->client_count;
    return share_admits(&engine->shares.flights, clients, ask->client, 1) &&
           share_admits(&engine->shares.flight_bytes, clients, ask->client, bytes);
}

static struct flight *flight_alloc(struct engine *engine, const struct key *key, client_id client,
                                   struct blob *params)
{
    slab_id id;
    struct flight *flight = slab_alloc(&engine->flights, &id);
    if (flight == NULL)
        return NULL;
    flight->number = ++engine->flight_serial;
    flight->node.key = *key;
    flight->params = blob_ref(params);
    flight->client = client;
    share_take(&engine->shares.flights, client, 1);
    share_take(&engine->shares.flight_bytes, client, flight->params->len);
    flight->is_in_table = true;
    list_init(&flight->link);
    list_init(&flight->requests);
    list_init(&flight->idempotency);
    wheel_timer_init(&flight->phase, TIMER_FLIGHT_PHASE);
    wheel_timer_init(&flight->deadline, TIMER_FLIGHT_DEADLINE);
    table_insert(&engine->flights_by_key, &flight->node);
    return flight;
}

/* A stray that keeps its key's claim, or needs none, is ridden without asking the store. */
static bool has_claimed_stray(const struct engine *engine, const struct ask *ask)
{
    const struct attempt *stray = stray_find(engine, &ask->key, ask->client, ask->reuse);
    return stray != NULL && !ask->has_idempotency &&
           (ask->reuse != REUSE_SHARED || stray->vigil->claim != 0);
}

struct flight *flight_new(struct engine *engine, const struct ask *ask)
{
    struct flight *flight = flight_alloc(engine, &ask->key, ask->client, ask->params);
    if (flight == NULL)
        return NULL;
    flight->uid = journal_uid(engine);
    flight_set_host(flight, ask->host);
    flight->created_ms = engine->now_ms;
    flight->type = ask->type;
    flight->dialect = ask->dialect;
    flight->reuse = ask->reuse;
    flight->priority = ask->priority < PRIORITIES ? ask->priority : PRIORITIES - 1;
    flight->is_one_time = ask->is_one_time;
    flight->wants_rest = ask->wants_rest;
    flight->has_max_retries = ask->has_max_retries;
    flight->max_retries = ask->max_retries;
    flight->retry_delay_ms = ask->retry_delay_ms;
    wheel_arm(&engine->wheel, &flight->deadline, engine->now_ms + engine->options.solve_timeout_ms);
    if (claim_is_due(engine, ask) &&
        (!has_claimed_stray(engine, ask) || offer_find(engine, ask) != NULL))
        claim_begin(engine, flight, ask);
    else
        flight_set_out(engine, flight);
    return flight;
}

void flight_set_out(struct engine *engine, struct flight *flight)
{
    struct attempt *stray = stray_find(engine, &flight->node.key, flight->client, flight->reuse);
    if (!flight->is_counted)
        COUNT(engine, flights);
    flight->is_counted = true;
    if (stray != NULL) {
        stray_ride(engine, flight, stray);
        return;
    }
    slots_reserve(engine, flight);
    budget_queue(engine, flight);
}

struct flight *flight_restore(struct engine *engine, const struct flight_row *row,
                              uint64_t created_ms)
{
    if (row->params == NULL)
        return NULL;
    struct flight *flight = flight_alloc(engine, &row->key, row->client, row->params);
    if (flight == NULL)
        return NULL;
    flight->uid = row->id;
    flight->is_journaled = true;
    flight->is_counted = true;
    flight->created_ms = created_ms;
    flight->type = row->type;
    flight->reuse = row->reuse;
    flight->priority = row->priority < PRIORITIES ? row->priority : PRIORITIES - 1;
    flight->is_one_time = row->is_one_time;
    flight->wants_rest = row->wants_rest;
    flight->has_max_retries = row->has_max_retries;
    flight->max_retries = row->max_retries;
    flight->retry_delay_ms = row->retry_delay_ms;
    flight->attempts = row->attempts;
    flight->adoptions = row->adoptions;
    flight->error_class = row->class;
    flight->error = row->code[0] == '\0' ? NULL : blob_new(slice_from(row->code));
    /* After any downtime, a paid task gets time to be fetched. */
    uint64_t due_ms = created_ms + engine->options.solve_timeout_ms;
    if (due_ms < engine->now_ms + GRACE_MS)
        due_ms = engine->now_ms + GRACE_MS;
    wheel_arm(&engine->wheel, &flight->deadline, due_ms);
    return flight;
}

static void flight_free(struct engine *engine, struct flight *flight)
{
    journal_flight_over(engine, flight);
    ASSERT(flight->request_count == 0);
    ASSERT(flight->attempt == NULL);
    ASSERT(!flight->is_in_table);
    ASSERT(list_is_empty(&flight->idempotency));
    list_unlink(&flight->link);
    aside_free(engine, flight);
    solution_unref(engine, flight->solution);
    share_give(&engine->shares.flights, flight->client, 1);
    share_give(&engine->shares.flight_bytes, flight->client, flight->params->len);
    blob_unref(flight->params);
    blob_unref(flight->error);
    history_free(flight->history);
    slab_free_item(&engine->flights, flight);
}

bool flight_is_wanted(const struct flight *flight)
{
    return flight->request_count > 0 || flight_has_letters(flight) || flight->pool != NULL;
}

struct flight *flight_find(const struct engine *engine, const struct key *key, client_id client)
{
    for (struct table_node *node = table_find(&engine->flights_by_key, key); node != NULL;
         node = table_find_next(node)) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        if (flight->reuse == REUSE_SHARED && clients_may_share(engine, flight->client, client))
            return flight;
    }
    return NULL;
}

struct flight *flight_find_deserted(const struct engine *engine, const struct key *key,
                                    client_id client)
{
    for (struct table_node *node = table_find(&engine->flights_by_key, key); node != NULL;
         node = table_find_next(node)) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        if (flight->reuse == REUSE_SINGLE && flight->attempt != NULL && !flight_is_wanted(flight) &&
            list_is_empty(&flight->idempotency) && !flight->is_restoring &&
            clients_may_share(engine, flight->client, client))
            return flight;
    }
    return NULL;
}

/* ---- the one door ------------------------------------------------------------------------ */

static bool state_holds_slot(enum flight_state state)
{
    return state == FLIGHT_SUBMITTING || state == FLIGHT_AMBIGUOUS || state == FLIGHT_SOLVING;
}

static void link_by_state(struct engine *engine, struct flight *flight)
{
    switch (flight->state) {
    case FLIGHT_CLAIMING:
        list_append(&engine->claiming, &flight->link);
        return;
    case FLIGHT_FOLLOWING:
        list_append(&engine->following, &flight->link);
        return;
    case FLIGHT_QUEUED:
        slots_enqueue(engine, flight);
        return;
    case FLIGHT_SUBMITTING:
    case FLIGHT_AMBIGUOUS:
    case FLIGHT_SOLVING:
        list_append(&engine->active, &flight->link);
        return;
    case FLIGHT_BACKING_OFF:
        list_append(&engine->backing_off, &flight->link);
        return;
    case FLIGHT_SOLVED:
    case FLIGHT_FAILED:
        list_append(&engine->waking, &flight->link);
        return;
    case FLIGHT_NEW:
    case FLIGHT_STATE_COUNT:
        break;
    }
    UNREACHABLE();
}

/* Keeps the count of flights that wait for a verdict; only flights that back off do. */
static void note_verdict(struct engine *engine, const struct flight *flight, enum flight_state next)
{
    if (flight->verdict != engine->verdict_number)
        return;
    if (flight->state == FLIGHT_BACKING_OFF)
        engine->verdict_waits--;
    if (next == FLIGHT_BACKING_OFF)
        engine->verdict_waits++;
}

void flight_enter(struct engine *engine, struct flight *flight, enum flight_state state,
                  uint64_t timer_ms)
{
    ASSERT((next_states[flight->state] & BIT(state)) != 0);
    TRACE(engine, "flight %u %s -> %s", flight->number, flight_state_name(flight->state),
          flight_state_name(state));
    if (flight->state == FLIGHT_QUEUED)
        slots_dequeue(engine, flight);
    else
        list_unlink(&flight->link);
    note_verdict(engine, flight, state);
    wheel_cancel(&engine->wheel, &flight->phase);
    engine->work++;
    flight->state = state;
    if (state_holds_slot(state) && !flight->holds_slot)
        slots_take(engine, flight);
    if (!state_holds_slot(state) && flight->holds_slot)
        slots_give_back(engine, flight);
    link_by_state(engine, flight);
    /* In shadow mode callers wait for the vendor's word on their submit. */
    if (flight_is_shadow(flight) && (state == FLIGHT_SOLVING || state == FLIGHT_AMBIGUOUS))
        flight_tell(engine, flight);
    if (timer_ms != WHEEL_NEVER)
        wheel_arm(&engine->wheel, &flight->phase, timer_ms);
}

static bool state_is_before_submit(enum flight_state state)
{
    return state == FLIGHT_QUEUED || state == FLIGHT_BACKING_OFF || state == FLIGHT_CLAIMING ||
           state == FLIGHT_FOLLOWING;
}

/* ---- ends -------------------------------------------------------------------------------- */

/* Makes the flight impossible to find or join, and gives back its attempt, reservation and pool place. */
static void flight_detach(struct engine *engine, struct flight *flight)
{
    wheel_cancel(&engine->wheel, &flight->deadline);
    if (flight->aside != NULL)
        list_unlink(&flight->aside->unleased);
    if (flight->attempt != NULL)
        attempt_let_go(engine, flight->attempt);
    slots_unreserve(engine, flight);
    if (flight->pool != NULL)
        flight->pool->solving--;
    flight_table_leave(engine, flight);
}

/* A client that is gone cannot poll for its requests: only held callers and notices still reach it. */
static bool can_hear(const struct engine *engine, const struct request *request)
{
    return !client_is_gone(engine, request->client) || !list_is_empty(&request->holds) ||
           request->pingback != NULL;
}

/* Drops the requests and idempotency keys of a gone client before the solution becomes a letter: if
 * the client is configured again later, it must not find a solution that belongs to somebody else
 * by then. */
static void drop_those_of_gone_clients(struct engine *engine, struct flight *flight)
{
    if (flight->pool != NULL || !client_is_gone(engine, flight->client))
        return;
    idempotency_drop_gone(engine, flight);
    LIST_FOR_EACH_SAFE(link, &flight->requests) {
        struct request *request = CONTAINER_OF(link, struct request, link);
        if (!can_hear(engine, request))
            request_drop(engine, request);
    }
}

/* No request waits for the solution, and no idempotency key keeps it for a retry. */
static bool is_orphan(const struct engine *engine, const struct flight *flight,
                      const struct solution *solution)
{
    return client_is_gone(engine, flight->client) && flight->request_count == 0 &&
           list_is_empty(&flight->idempotency) && !solution->is_set_aside;
}

static struct ask ask_of(const struct flight *flight)
{
    return (struct ask){
        .reuse = flight->reuse,
        .priority = flight->priority,
        .is_one_time = flight->is_one_time,
        .params = flight->params,
    };
}

/* The answer to a one-time input is used once. Otherwise a shared solution stays for everybody, and
 * a solution that nobody waits for is banked for one request. Who would share may have one for itself. */
static void keep_solution(struct engine *engine, const struct flight *flight,
                          struct solution *solution)
{
    const bool is_shared = flight->reuse == REUSE_SHARED && solution->is_shared;
    const struct ask ask = ask_of(flight);
    if (flight->pool != NULL)
        pool_on_solved(engine, flight->pool, solution);
    else if (is_orphan(engine, flight, solution))
        letter_of_orphan(engine, solution, &ask);
    else if (flight->request_count == 0)
        cache_bank(engine, solution, is_shared, flight->is_one_time);
    else if (is_shared && !flight->is_one_time && !cache_has_copy(engine, solution))
        cache_put(engine, solution, true);
    if (list_is_empty(&flight->idempotency))
        offer_make(engine, solution);
}

void flight_solve(struct engine *engine, struct flight *flight, struct solution *solution)
{
    solution->attempts = flight->attempts;
    solution->flight_uid = flight->uid;
    /* The solution's row is journaled first, before the rows that it replaces are dropped. */
    if (!solution->is_taken)
        journal_solution(engine, solution);
    flight_detach(engine, flight);
    claim_end(engine, flight, solution, CLASS_NONE, SLICE_NONE);
    if (solution->host == NULL)
        solution->host = flight_host(flight);
    if (flight_is_shadow(flight))
        shadow_on_solved(engine, flight, solution);
    flight->solution = solution_ref(solution);
    drop_those_of_gone_clients(engine, flight);
    keep_solution(engine, flight, solution);
    idempotency_settle(engine, flight, solution);
    letters_on_solved(engine, flight);
    flight->pool = NULL;
    flight_enter(engine, flight, FLIGHT_SOLVED, WHEEL_NEVER);
}

void flight_fail(struct engine *engine, struct flight *flight, enum error_class class,
                 struct slice code)
{
    /* The failure of another node's flight is in that node's books and letters. */
    const bool is_ours = flight->state != FLIGHT_CLAIMING && flight->state != FLIGHT_FOLLOWING;
    flight_detach(engine, flight);
    claim_end(engine, flight, NULL, class, code);
    blob_unref(flight->error);
    flight->error = blob_new(code);
    flight->error_class = class;
    flight->is_answered |= !is_ours;
    if (is_ours)
        stats_count_failure(engine, class);
    if (flight_is_shadow(flight))
        shadow_on_failed(engine, flight, class);
    idempotency_settle(engine, flight, NULL);
    letters_on_failed(engine, flight);
    if (flight->pool != NULL)
        pool_on_failed(engine, flight->pool);
    flight->pool = NULL;
    TRACE(engine, "flight %u fails: %s", flight->number, flight->error->data);
    flight_enter(engine, flight, FLIGHT_FAILED, WHEEL_NEVER);
    /* The failure is journaled before anybody is told, so that callers who know their ids learn of
     * it after a crash, too. Besides, the row may stay for a while behind many others, when another
     * flight of the same key has already begun. */
    if (flight->is_journaled)
        journal_flight(engine, flight);
}

static void wake_one(struct engine *engine, struct flight *flight)
{
    struct request *request = CONTAINER_OF(list_first(&flight->requests), struct request, link);
    if (flight->state == FLIGHT_FAILED && flight->refusal != REFUSAL_NONE && request->is_fresh) {
        request_turn_away(engine, request, flight);
        return;
    }
    if (flight->state == FLIGHT_FAILED) {
        request->letter = flight_letter(flight);
        request_failed(engine, request, flight->error_class, flight->error, flight->retry_after_ms);
        return;
    }
    flight->solution->handed++;
    /* The hand-out is journaled so that a crash cannot hand a single-use solution out again. */
    if (offer_wants_record(flight))
        journal_handout(engine, request, flight->solution);
    request_solved(engine, request, flight->solution);
}

/* Each answer carries the whole solution, so a large one counts as many small ones. */
static uint32_t wake_cost(const struct flight *flight)
{
    if (flight->state == FLIGHT_FAILED)
        return 1;
    const struct solution *solution = flight->solution;
    const size_t extra = solution->extra == NULL ? 0 : solution->extra->len;
    return 1 + (uint32_t)((solution->text->len + extra) / ANSWER_UNIT_BYTES);
}

/* Is its solution about to be handed out to one request only? */
static bool is_for_one(const struct flight *flight)
{
    return flight->state == FLIGHT_SOLVED && flight->reuse != REUSE_SHARED &&
           flight->request_count > 0;
}

void flight_wake(struct engine *engine, uint32_t batch)
{
    uint32_t spent = 0;
    uint32_t freed = 0;
    while (!list_is_empty(&engine->waking) && freed < engine->options.step_batch) {
        struct flight *flight = CONTAINER_OF(list_first(&engine->waking), struct flight, link);
        if (flight->is_restoring) {
            list_unlink(&flight->link);
            list_append(&engine->parked, &flight->link);
            continue;
        }
        if (is_for_one(flight) && !lease_is_valid(engine)) {
            lease_await_hand_out(engine, flight);
            continue;
        }
        while (flight->request_count > 0 && spent < batch) {
            spent += wake_cost(flight);
            wake_one(engine, flight);
        }
        if (flight->request_count > 0)
            break;
        flight_free(engine, flight);
        freed++;
    }
}

void flight_abandon(struct engine *engine, struct flight *flight)
{
    /* The last request left before it was woken: the solution nobody got is banked after all. */
    if (flight->state == FLIGHT_SOLVED && flight->solution->handed == 0 &&
        (flight->reuse != REUSE_SHARED || flight->solution->is_taken))
        keep_solution(engine, flight, flight->solution);
    /* A failing flight has no attempt any more, but gets here if the letter that it replays is dropped
     * to make room. */
    if (flight->state == FLIGHT_SUBMITTING && flight->attempt != NULL && !flight_is_wanted(flight))
        withdraw_submit(engine, flight->attempt);
    if (flight_is_shadow(flight))
        shadow_on_deserted(engine, flight);
    /* flight_wake frees ended flights; paid flights run on so that their solution can be banked. */
    if (!state_is_before_submit(flight->state))
        return;
    if (flight_is_wanted(flight))
        return;
    TRACE(engine, "flight %u cancelled, nobody waits", flight->number);
    flight_dismiss(engine, flight);
}

void flight_dismiss(struct engine *engine, struct flight *flight)
{
    if (flight_is_shadow(flight))
        shadow_on_failed(engine, flight, CLASS_NONE);
    flight_detach(engine, flight);
    claim_end(engine, flight, NULL, CLASS_NONE, SLICE_NONE);
    flight->pool = NULL;
    idempotency_settle(engine, flight, NULL);
    if (flight->state == FLIGHT_QUEUED)
        slots_dequeue(engine, flight);
    note_verdict(engine, flight, FLIGHT_FAILED);
    wheel_cancel(&engine->wheel, &flight->phase);
    flight_free(engine, flight);
}

/* ---- timers ------------------------------------------------------------------------------ */

void flight_on_phase_timer(struct engine *engine, struct flight *flight)
{
    switch (flight->state) {
    case FLIGHT_SOLVING:
        attempt_poll(engine, flight->attempt);
        return;
    case FLIGHT_AMBIGUOUS:
        retry_after_window(engine, flight);
        return;
    case FLIGHT_BACKING_OFF:
        budget_queue(engine, flight);
        return;
    case FLIGHT_CLAIMING:
    case FLIGHT_FOLLOWING:
        claim_send_again(engine, flight);
        return;
    case FLIGHT_NEW:
    case FLIGHT_QUEUED:
    case FLIGHT_SUBMITTING:
    case FLIGHT_SOLVED:
    case FLIGHT_FAILED:
    case FLIGHT_STATE_COUNT:
        break;
    }
    UNREACHABLE();
}

void flights_on_standstill(struct engine *engine)
{
    /* Looks only at the few flights that hold a slot, not at the whole queue. */
    LIST_FOR_EACH(link, &engine->active) {
        struct flight *flight = CONTAINER_OF(link, struct flight, link);
        const bool is_cut_off =
            flight->state == FLIGHT_SOLVING && flight->deadline.due_ms <= engine->now_ms;
        /* Once only, lest a process that keeps standing still keeps it for ever. */
        if (!is_cut_off || flight->is_spared)
            continue;
        flight->is_spared = true;
        wheel_arm(&engine->wheel, &flight->deadline, engine->now_ms + GRACE_MS);
        if (!flight->attempt->is_polling)
            wheel_arm(&engine->wheel, &flight->phase, engine->now_ms);
    }
}

void flight_on_deadline(struct engine *engine, struct flight *flight)
{
    if (flight->state == FLIGHT_CLAIMING) {
        claim_on_deadline(engine, flight);
        return;
    }
    if (flight->attempt != NULL && rest_is_due(flight->attempt)) {
        attempt_settle(engine, flight->attempt);
        return;
    }
    if (flight->attempt != NULL)
        history_add(engine, flight, CLASS_TIMEOUT, CODE_SOLVE_TIMEOUT);
    flight_fail(engine, flight, CLASS_TIMEOUT, CODE_SOLVE_TIMEOUT);
}
