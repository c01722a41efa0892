#include "engine/request.h"

#include "engine/cache.h"
#include "engine/finished.h"
#include "engine/hold.h"
#include "engine/journal.h"
#include "engine/notice.h"
#include "engine/placed.h"
#include "engine/task.h"

/* How long an unread failure stays readable: longer than any client's poll interval. */
#define FAILURE_KEEP_MS 120000

static bool is_final(const struct request *request)
{
    return request->flight == NULL;
}

/* ---- birth and death --------------------------------------------------------------------- */

/* With a shared store the highest bits of an id name the node, so that no two nodes give the same one. A short id has
 * room for the first nodes only: all others share what is left. */
#define LONG_NODE_SHIFT 44
#define SHORT_NODE_SHIFT 27
#define SHORT_NODES 16
/* So many ids in a row are in use only if a node has given out nearly all of its own. */
#define DRAWS_MOST 64

static request_id mark_id(request_id id, uint64_t node, unsigned shift)
{
    return (id & ((UINT64_C(1) << shift) - 1)) | node << shift;
}

/* Short and long ids are disjoint, so each dialect knows its own. */
static request_id draw_id(struct engine *engine, uint8_t id_layout, bool is_marked)
{
    const uint64_t node = engine->options.node;
    const uint64_t random = rand_u64(&engine->rand);
    if (id_layout != 0) {
        const request_id id = ((random << SHORT_ID_LAYOUT_BITS) & (SHORT_ID_LIMIT - 1)) | id_layout;
        return is_marked ? mark_id(id, node < SHORT_NODES ? node : 0, SHORT_NODE_SHIFT) : id;
    }
    request_id id = random & (REQUEST_ID_LIMIT - 1);
    if (is_marked)
        id = mark_id(id, node, LONG_NODE_SHIFT);
    return id < SHORT_ID_LIMIT ? 0 : id;
}

uint16_t request_node(request_id id)
{
    return (uint16_t)(id < SHORT_ID_LIMIT ? id >> SHORT_NODE_SHIFT : id >> LONG_NODE_SHIFT);
}

/* Gives the request a unique id. Inserting first and then looking for a duplicate needs one table
 * look-up instead of two. */
static void enter_table(struct engine *engine, struct request *request, uint8_t id_layout)
{
    const bool is_shared = engine->options.store_is_shared;
    ASSERT(id_layout >> SHORT_ID_LAYOUT_BITS == 0);
    for (unsigned draws = 0;; draws++) {
        request->by_id.number = draw_id(engine, id_layout, is_shared && draws < DRAWS_MOST);
        numbers_insert(&engine->requests_by_id, &request->by_id);
        if (request->by_id.number != 0 && numbers_find_next(&request->by_id) == NULL)
            return;
        numbers_remove(&engine->requests_by_id, &request->by_id);
    }
}

static void take_pingback(struct engine *engine, struct request *request, struct blob *pingback)
{
    request->pingback = blob_ref(pingback);
    if (pingback != NULL)
        share_take(&engine->shares.pingback_bytes, request->client, pingback->len);
}

void request_drop_pingback(struct engine *engine, struct request *request)
{
    if (request->pingback != NULL)
        share_give(&engine->shares.pingback_bytes, request->client, request->pingback->len);
    blob_unref(request->pingback);
    request->pingback = NULL;
}

struct request *request_new(struct engine *engine, const struct ask *ask)
{
    slab_id id;
    finished_make_room(engine, ask->client);
    struct request *request = slab_alloc(&engine->requests, &id);
    ASSERT(request != NULL);
    share_take(&engine->shares.requests, ask->client, 1);
    request->client = ask->client;
    request->type = ask->type;
    request->is_id_told = ask->is_id_told || ask->pingback != NULL;
    take_pingback(engine, request, ask->pingback);
    list_init(&request->link);
    list_init(&request->holds);
    list_init(&request->reader);
    wheel_timer_init(&request->expiry, TIMER_REQUEST);
    enter_table(engine, request, ask->id_layout);
    return request;
}

struct request *request_restore(struct engine *engine, const struct request_row *row)
{
    slab_id id;
    if (!request_id_may_exist(row->id) || numbers_find(&engine->requests_by_id, row->id) != NULL)
        return NULL;
    struct request *request = slab_alloc(&engine->requests, &id);
    if (request == NULL)
        return NULL;
    share_take(&engine->shares.requests, row->client, 1);
    request->client = row->client;
    request->source = row->source;
    request->attempts = row->attempts;
    take_pingback(engine, request, row->pingback);
    request->is_id_told = true;
    request->is_promised = true;
    request->is_journaled = true;
    list_init(&request->link);
    list_init(&request->holds);
    list_init(&request->reader);
    wheel_timer_init(&request->expiry, TIMER_REQUEST);
    request->by_id.number = row->id;
    numbers_insert(&engine->requests_by_id, &request->by_id);
    return request;
}

void request_journal(struct engine *engine, struct request *request)
{
    if (request->flight != NULL && !request->flight->is_journaled)
        journal_flight(engine, request->flight);
    journal_request(engine, request);
}

/* Unlinks the request from its list; returns the flight that has no requests any more, if any. */
static struct flight *leave(struct engine *engine, struct request *request)
{
    struct flight *flight = request->flight;
    list_unlink(&request->link);
    if (flight == NULL)
        return NULL;
    request->flight = NULL;
    ASSERT(flight->request_count > 0);
    flight->request_count--;
    ASSERT(engine->clients[request->client].requests > 0);
    engine->clients[request->client].requests--;
    return flight->request_count == 0 ? flight : NULL;
}

struct flight *request_forget(struct engine *engine, struct request *request)
{
    if (request->notice != NULL)
        notice_cancel(engine, request->notice);
    LIST_FOR_EACH_SAFE(link, &request->holds)
        hold_free(engine, CONTAINER_OF(link, struct hold, link));
    finished_leave(engine, request);
    struct flight *deserted = leave(engine, request);
    share_give(&engine->shares.requests, request->client, 1);
    wheel_cancel(&engine->wheel, &request->expiry);
    numbers_remove(&engine->requests_by_id, &request->by_id);
    journal_request_over(engine, request);
    solution_unref(engine, request->solution);
    blob_unref(request->error);
    request_drop_pingback(engine, request);
    slab_free_item(&engine->requests, request);
    return deserted;
}

void request_free(struct engine *engine, struct request *request)
{
    struct flight *deserted = request_forget(engine, request);
    if (deserted != NULL)
        flight_abandon(engine, deserted);
}

static void count_detached(struct engine *engine, const struct request *request)
{
    if (is_final(request))
        return;
    COUNT(engine, detached);
    TALLY(engine, request, detached);
}

void request_detach(struct engine *engine, struct request *request)
{
    count_detached(engine, request);
    request_free(engine, request);
}

void request_drop(struct engine *engine, struct request *request)
{
    count_detached(engine, request);
    (void)request_forget(engine, request);
}

struct request *request_find(const struct engine *engine, client_id client, request_id id)
{
    struct numbers_node *node = numbers_find(&engine->requests_by_id, id);
    if (node == NULL)
        return NULL;
    struct request *request = CONTAINER_OF(node, struct request, by_id);
    if (request->client != client || request_is_unsure(request))
        return NULL;
    if (request->solution == NULL)
        return request;
    /* An expired request is gone even if its timer has not fired yet. */
    return request->expiry.due_ms > engine->now_ms ? request : NULL;
}

void request_join(struct request *request, struct engine *engine, struct flight *flight,
                  enum source source)
{
    request->flight = flight;
    request->source = source;
    list_append(&flight->requests, &request->link);
    flight->request_count++;
    engine->clients[request->client].requests++;
}

/* ---- answering --------------------------------------------------------------------------- */

static enum request_state state_now(const struct request *request)
{
    if (is_final(request))
        return request->state;
    switch (request->flight->state) {
    case FLIGHT_NEW:
    case FLIGHT_CLAIMING:
    case FLIGHT_QUEUED:
    case FLIGHT_BACKING_OFF:
        return REQUEST_QUEUED;
    case FLIGHT_FOLLOWING:
        return request->flight->is_followed_solving ? REQUEST_SOLVING : REQUEST_QUEUED;
    case FLIGHT_SUBMITTING:
    case FLIGHT_AMBIGUOUS:
    case FLIGHT_SOLVING:
    case FLIGHT_SOLVED:
    case FLIGHT_FAILED:
        return REQUEST_SOLVING;
    case FLIGHT_STATE_COUNT:
        break;
    }
    UNREACHABLE();
}

static void fill_solution(const struct engine *engine, const struct request *request,
                          struct answer *answer)
{
    const struct solution *solution = request->solution;
    answer->text = blob_ref(solution->text);
    answer->extra = blob_ref(solution->extra);
    answer->type = solution->type;
    answer->age_ms = engine->now_ms - solution->born_ms;
    answer->solve_ms = solution->solve_ms;
    answer->expires_in_ms =
        solution->expires_ms > engine->now_ms ? solution->expires_ms - engine->now_ms : 0;
    task_id_copy(answer->task_id, solution->task_id);
}

/* A read request stays readable until its solution expires; a failure stays as long as an unread one. */
static uint64_t read_until_ms(const struct engine *engine, const struct request *request)
{
    if (request->solution == NULL)
        return engine->now_ms + FAILURE_KEEP_MS;
    const uint64_t expires_ms = request->solution->expires_ms;
    return expires_ms > engine->now_ms ? expires_ms : engine->now_ms;
}

void request_mark_read(struct engine *engine, struct request *request)
{
    /* While a notice is under way the request is not in a finished list. */
    if (request->is_read || !request->is_finished)
        return;
    wheel_arm(&engine->wheel, &request->expiry, read_until_ms(engine, request));
    finished_mark_read(engine, request);
}

journal_seq request_fill(const struct engine *engine, const struct request *request,
                         struct answer *answer)
{
    journal_seq after = request->seq;
    answer->id = request->by_id.number;
    answer->state = state_now(request);
    answer->source = request->source;
    answer->is_replayed = request->is_replayed;
    answer->is_renewed = request->is_renewed;
    answer->attempts = is_final(request) ? request->attempts : request->flight->attempts;
    if (answer->state == REQUEST_SOLVED) {
        fill_solution(engine, request, answer);
        answer->is_single = !request->solution->is_shared;
        if (request->solution->seq > after)
            after = request->solution->seq;
    }
    if (answer->state == REQUEST_FAILED) {
        answer->class = request->error_class;
        answer->is_turned_down = client_is_shadow(engine, request->client);
        answer->letter = request->letter;
        answer->retry_after_ms = request->retry_after_ms;
        code_copy(answer->code, blob_slice(request->error));
    }
    return after;
}

/* Whoever learns no end with the id comes back with it. Among several nodes that may be to another one, and this one
 * may be adopted before the store has the id. */
static struct action *tell(struct engine *engine, struct request *request, caller_id caller,
                           bool is_id_only)
{
    struct action *action = engine_push(engine, ACTION_ANSWER);
    action->answer.caller = caller;
    action->after = request_fill(engine, request, &action->answer);
    action->answer.client = request->client;
    const bool is_open = !is_final(request) || (is_id_only && engine->options.store_is_shared);
    action->answer.is_promise = is_open && !request->is_promised;
    request->is_promised = true;
    return action;
}

void request_tell(struct engine *engine, struct request *request, caller_id caller)
{
    (void)tell(engine, request, caller, true);
}

void request_answer(struct engine *engine, struct request *request, caller_id caller)
{
    request->is_id_told = true;
    if (!is_final(request) && !request->is_journaled)
        request_journal(engine, request);
    (void)tell(engine, request, caller, false);
    request_mark_read(engine, request);
}

void request_confirm(struct engine *engine, struct request *request, caller_id caller)
{
    struct action *action = tell(engine, request, caller, false);
    if (engine->options.store_is_shared) {
        action->answer.is_receipt = true;
        action->answer.is_single = false; /* it tells of no solution */
        action->after = engine->seq;      /* also if this was said before and is not written yet */
    }
    request_mark_read(engine, request);
}

void request_refuse(struct engine *engine, caller_id caller, enum refusal refusal,
                    struct slice code, uint32_t retry_after_ms)
{
    struct action *action = engine_push(engine, ACTION_ANSWER);
    action->answer.caller = caller;
    action->answer.refusal = refusal;
    action->answer.retry_after_ms = retry_after_ms;
    code_copy(action->answer.code, code);
}

void request_hold(struct engine *engine, struct request *request, caller_id caller,
                  uint32_t hold_ms)
{
    const bool is_held =
        !is_final(request) && hold_ms > 0 &&
        share_admits(&engine->shares.holds, engine->client_count, request->client, 1);
    if (!is_held || hold_new(engine, request, caller, hold_ms) == NULL)
        request_answer(engine, request, caller);
}

/* Does a caller learn the request's end now? One who only learns its id comes back for that. */
static bool is_awaited(const struct request *request)
{
    LIST_FOR_EACH(link, &request->holds)
        if (!CONTAINER_OF(link, struct hold, link)->is_id_only)
            return true;
    return false;
}

/* Finishes a request that left its flight: answers all held callers and keeps it readable. */
static void settle(struct engine *engine, struct request *request, uint64_t readable_until_ms)
{
    const bool is_noticed = request->pingback != NULL;
    if (!is_awaited(request) || is_noticed)
        wheel_arm(&engine->wheel, &request->expiry, readable_until_ms);
    /* No address may be told of a request that a crash would forget. */
    if (is_noticed && !request->is_journaled)
        journal_request(engine, request);
    if (is_noticed)
        notice_start(engine, request);
    else
        finished_enter(engine, request);
    struct list told;
    list_init(&told);
    list_splice(&told, &request->holds);
    while (!list_is_empty(&told)) {
        struct hold *hold = CONTAINER_OF(list_first(&told), struct hold, link);
        const caller_id caller = hold->by_caller.number;
        const bool is_id_only = hold->is_id_only;
        hold_free(engine, hold);
        if (is_id_only)
            request_tell(engine, request, caller);
        else
            request_answer(engine, request, caller);
    }
}

static void count_source(struct engine *engine, const struct request *request)
{
    switch (request->source) {
    case SOURCE_API:
        COUNT(engine, answered_api);
        TALLY(engine, request, answered);
        return;
    case SOURCE_DEDUP_WAIT:
        COUNT(engine, answered_dedup_wait);
        break;
    case SOURCE_DEDUP_CACHE:
        COUNT(engine, answered_dedup_cache);
        break;
    case SOURCE_IDEMPOTENT:
        COUNT(engine, answered_idempotent);
        break;
    case SOURCE_POOL:
        COUNT(engine, answered_pool);
        break;
    case SOURCE_COUNT:
        UNREACHABLE();
    }
    const uint64_t saved_ms = request->solution->solve_ms;
    COUNT_BY(engine, slot_ms_saved, saved_ms);
    TALLY(engine, request, deduplicated);
    TALLY_BY(engine, request->client, request->type, slot_ms_saved, saved_ms);
    /* A pool's solution was paid for earlier, by its refill. */
    if (request->source != SOURCE_POOL)
        TALLY_BY(engine, request->client, request->type, saved_micro,
                 engine->options.price_micro[request->type]);
}

static void count_failed(struct engine *engine, const struct request *request)
{
    COUNT(engine, failed);
    TALLY(engine, request, failed);
}

void request_solved(struct engine *engine, struct request *request, struct solution *solution)
{
    (void)leave(engine, request);
    request->state = REQUEST_SOLVED;
    request->solution = solution_ref(solution);
    request->attempts = solution->attempts;
    if (!request->is_booked)
        count_source(engine, request);
    TRACE(engine, "request solved, source %s", source_name(request->source));
    const uint64_t at_least_ms = engine->now_ms + SOLUTION_KEEP_MS;
    settle(engine, request,
           solution->expires_ms > at_least_ms ? solution->expires_ms : at_least_ms);
}

void request_failed(struct engine *engine, struct request *request, enum error_class class,
                    struct blob *error, uint32_t retry_after_ms)
{
    if (request->flight != NULL)
        request->attempts = request->flight->attempts;
    (void)leave(engine, request);
    request->state = REQUEST_FAILED;
    request->error_class = class;
    request->error = blob_ref(error);
    request->retry_after_ms = retry_after_ms;
    if (!request->is_booked)
        count_failed(engine, request);
    TRACE(engine, "request failed, %s", error->data);
    if (request->is_journaled)
        journal_request(engine, request);
    settle(engine, request, engine->now_ms + FAILURE_KEEP_MS);
}
