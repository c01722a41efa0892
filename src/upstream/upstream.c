#include "upstream/upstream_private.h"

#include "base/assert.h"
#include "upstream/lane.h"
#include "upstream/sockets.h"
#include "upstream/upstream_tell.h"

/* Calls started in one turn of the loop; each costs some 15 µs, and other work waits. */
#define STARTS_PER_TURN 64
/* Of these, as many at once: each that needs a new TLS connection costs up to 500 µs, so we look at
 * the time in between. */
#define STARTS_AT_ONCE 8
/* Calls of one lane that may wait for a TLS connection. */
#define MOST_OPENING 12u
/* Two, lest a single lost packet delays all of them. */
#define FIRST_OPENING 2u
/* Unsent calls reported in one turn; each is a step of the engine, of some 5 µs. */
#define ENDS_PER_TURN 256

void upstream_hold_loop(struct upstream *upstream)
{
    const bool is_busy = upstream->active > 0 || upstream->queue.waiting > 0;
    if (is_busy != upstream->is_held)
        sockets_hold(upstream->sockets, is_busy);
    upstream->is_held = is_busy;
}

void upstream_wake(struct upstream *upstream)
{
    if (!upstream->is_closing)
        (void)uv_idle_start(&upstream->turn, upstream_on_turn);
}

static bool on_done(void *context, struct wire *wire, bool is_ok)
{
    struct upstream *upstream = context;
    if (upstream->is_closing)
        return false;
    upstream->lane_hint = 0;
    upstream_conclude(upstream, CONTAINER_OF(wire, struct transfer, wire), is_ok);
    return !upstream->is_closing && !sockets_is_late(upstream->sockets);
}

/* ---- deadlines ---------------------------------------------------------------------------- */

static void on_deadline(uv_timer_t *timer);

static struct transfer *first_of(struct list *deadlines)
{
    struct list *link = list_first(deadlines);
    return link == NULL ? NULL : CONTAINER_OF(link, struct transfer, link);
}

/* Armed when it fires and for a call that is due before all others, so that most calls need no
 * timer; it may fire early, but never late. */
static void arm_deadline(struct upstream *upstream)
{
    uint64_t earliest = UINT64_MAX;
    for (int i = 0; i < DEADLINES_COUNT; i++) {
        const struct transfer *first = first_of(&upstream->deadlines[i]);
        if (first != NULL && first->deadline_ms < earliest)
            earliest = first->deadline_ms;
    }
    upstream->armed_ms = earliest;
    if (earliest == UINT64_MAX)
        return;
    const uint64_t now = uv_now(upstream->loop);
    /* Without a wait, a deadline that is left for the next turn would fire again in this one. */
    (void)uv_timer_start(&upstream->deadline, on_deadline, earliest > now ? earliest - now : 1, 0);
}

static bool has_touched_lane(const struct upstream *upstream)
{
    for (uint32_t i = 0; i < upstream->lane_count; i++)
        if (lane_is_touched(upstream->lanes[i]))
            return true;
    return false;
}

/* Ends calls that are due while the turn has time for it. */
static void expire(struct upstream *upstream)
{
    for (int i = 0; i < DEADLINES_COUNT; i++) {
        struct transfer *first;
        while ((first = first_of(&upstream->deadlines[i])) != NULL &&
               first->deadline_ms <= uv_now(upstream->loop)) {
            transfer_give_up(first);
            lane_remove(first->wire.lane, &first->wire);
            if (!on_done(upstream, &first->wire, false))
                return;
        }
    }
}

static void on_deadline(uv_timer_t *timer)
{
    struct upstream *upstream = timer->data;
    /* docs/reliability.md 3.2: after a long pause, a reply that waits in its socket or in its lane
     * is processed before its timeout. */
    if (sockets_drain(upstream->sockets) && !has_touched_lane(upstream) && !upstream->is_closing)
        expire(upstream);
    if (!upstream->is_closing)
        arm_deadline(upstream);
}

/* ---- starting ----------------------------------------------------------------------------- */

static bool can_start(const struct upstream *upstream)
{
    return upstream->queue.waiting > 0 && upstream->active < upstream->connections &&
           !upstream->is_closing;
}

/* It may open while lanes start their calls or by a timer of libcurl's, with no event to follow: a vendor that replies
 * to nobody before it has more calls would wait for us as we for it. */
static void on_opened(void *context)
{
    struct upstream *upstream = context;
    if (!upstream->setup.has_tls || !can_start(upstream))
        return;
    upstream->lane_hint = 0;
    upstream_wake(upstream);
}

static uint32_t lane_room(const struct upstream *upstream, uint32_t index)
{
    const uint32_t before = index * LANE_ROOM;
    const uint32_t left = upstream->connections - before;
    return left < LANE_ROOM ? left : LANE_ROOM;
}

/* How many of a lane's calls may wait for a connection. If the vendor speaks HTTP/2, or may do so,
 * the first ones open it for all others. */
static uint32_t most_opening(const struct upstream *upstream, const struct lane *lane)
{
    if (!upstream->setup.has_tls)
        return LANE_ROOM;
    return upstream->setup.has_http2 && !lane_has_sent(lane) ? FIRST_OPENING : MOST_OPENING;
}

/* The first lane with room, so that few lanes are busy and the others need not be created; NULL if
 * all of them open connections. */
static struct lane *choose_lane(struct upstream *upstream)
{
    while (upstream->lane_hint < upstream->lane_count) {
        struct lane *lane = upstream->lanes[upstream->lane_hint];
        if (lane_has_room(lane, most_opening(upstream, lane)))
            return lane;
        upstream->lane_hint++;
    }
    if (upstream->lane_count == upstream->lane_limit)
        return NULL;
    const struct lane_handlers handlers = {
        .context = upstream, .on_done = on_done, .on_opened = on_opened};
    upstream->lanes[upstream->lane_count] = lane_new(
        upstream->loop, upstream->sockets, lane_room(upstream, upstream->lane_count), &handlers);
    return upstream->lanes[upstream->lane_count++];
}

static struct transfer *take_transfer(struct upstream *upstream)
{
    struct transfer *transfer = first_of(&upstream->idle);
    if (transfer == NULL)
        return transfer_new(&upstream->setup);
    list_unlink(&transfer->link);
    return transfer;
}

static enum vendor_query query_of(const struct due_call *call)
{
    switch (call->kind) {
    case CALL_SUBMIT:
        break;
    case CALL_POLL:
        return QUERY_POLL;
    case CALL_REPORT:
        return call->is_good ? QUERY_REPORT_GOOD : QUERY_REPORT_BAD;
    case CALL_THREADS:
        return QUERY_THREADS;
    case CALL_BALANCE:
        return QUERY_BALANCE;
    }
    UNREACHABLE();
}

static int write_call(const struct upstream *upstream, const struct due_call *call,
                      struct transfer *transfer)
{
    const struct slice key = slice_from(upstream->key);
    if (call->kind == CALL_SUBMIT)
        return upstream->protocol->write_submit(call->params, key, blob_slice(call->pingback),
                                                &transfer->body, &transfer->content_type);
    const struct slice id = call->task_id[0] != '\0' ? slice_from(call->task_id) : SLICE_NONE;
    upstream->protocol->write_query(key, query_of(call), id, &transfer->body);
    return 0;
}

static void start(struct upstream *upstream, struct lane *lane, const struct due_call *call)
{
    struct transfer *transfer = take_transfer(upstream);
    transfer_reset(transfer, call->kind, due_call_attempt(call));
    const int error = write_call(upstream, call, transfer);
    if (error != 0) {
        list_prepend(&upstream->idle, &transfer->link);
        upstream_conclude_unwritable(upstream, call, error);
        return;
    }
    transfer_arm(transfer, uv_now(upstream->loop));
    const int which = call->kind == CALL_SUBMIT ? DEADLINES_SUBMIT : DEADLINES_OTHER;
    transfer->deadline_ms = uv_now(upstream->loop) + upstream->timeout_ms[which];
    list_append(&upstream->deadlines[which], &transfer->link);
    if (transfer->deadline_ms < upstream->armed_ms)
        arm_deadline(upstream);
    upstream->active++;
    upstream->calls++;
    lane_add(lane, &transfer->wire);
}

/* Visits touched lanes, each in its turn, while there is time; at least `least` of them. */
static void for_touched_lanes(struct upstream *upstream, void (*visit)(struct lane *lane),
                              uint32_t least)
{
    for (uint32_t i = 0; i < upstream->lane_count && !upstream->is_closing; i++) {
        struct lane *lane = upstream->lanes[upstream->lane_turn++ % upstream->lane_count];
        if (!lane_is_touched(lane))
            continue;
        const bool is_late = sockets_is_late(upstream->sockets);
        if (is_late && least == 0)
            break;
        visit(lane);
        least -= least > 0;
    }
    if (has_touched_lane(upstream))
        upstream_wake(upstream);
}

/* One lane is heard even if reading took all the time, or a loop that is always late would hear
 * none. */
void upstream_settle_lanes(void *context)
{
    struct upstream *upstream = context;
    for_touched_lanes(upstream, lane_settle, 1);
}

/* False if there is nothing more to start, or no lane for it. */
static bool start_few(struct upstream *upstream)
{
    for (int i = 0; i < STARTS_AT_ONCE; i++) {
        struct lane *lane = can_start(upstream) ? choose_lane(upstream) : NULL;
        struct due_call *call = lane == NULL ? NULL : call_queue_take(&upstream->queue);
        if (call == NULL)
            return false;
        start(upstream, lane, call);
        due_call_free(call);
    }
    return true;
}

static void start_some(struct upstream *upstream)
{
    bool has_more = true;
    for (int i = 0; i < STARTS_PER_TURN && has_more && !upstream->is_closing; i += STARTS_AT_ONCE) {
        has_more = start_few(upstream) && !sockets_is_late(upstream->sockets);
        if (!upstream->is_closing)
            for_touched_lanes(upstream, lane_run, 0);
    }
}

/* Runs one turn: reports unsent calls and starts calls for which there is room. Handlers may add
 * calls meanwhile. */
void upstream_on_turn(uv_idle_t *turn)
{
    struct upstream *upstream = turn->data;
    struct due_call *call;
    (void)uv_idle_stop(turn);
    for (int i = 0; i < ENDS_PER_TURN && !upstream->is_closing &&
                    (call = call_queue_take_unsent(&upstream->queue)) != NULL;
         i++) {
        upstream_conclude_unsent(upstream, call);
        due_call_free(call);
    }
    start_some(upstream);
    if (upstream->is_closing)
        return;
    /* If all lanes open connections, on_opened goes on. */
    const bool has_more = can_start(upstream) && choose_lane(upstream) != NULL;
    if (has_more || !list_is_empty(&upstream->queue.unsent))
        upstream_wake(upstream);
    upstream_hold_loop(upstream);
}

/* ---- asking ------------------------------------------------------------------------------- */

static void enqueue(struct upstream *upstream, struct due_call *take_call)
{
    if (upstream->is_closing) {
        due_call_free(take_call);
        return;
    }
    call_queue_add(&upstream->queue, take_call);
    upstream_wake(upstream);
}

void upstream_submit(struct upstream *upstream, attempt_id attempt, const struct blob *params,
                     struct slice pingback)
{
    struct due_call *call = due_call_new(CALL_SUBMIT, attempt, SLICE_NONE);
    call->params =
        blob_ref((struct blob *)(uintptr_t)params); /* only the reference count changes */
    call->pingback = slice_is_given(pingback) ? blob_new(pingback) : NULL;
    enqueue(upstream, call);
}

void upstream_poll(struct upstream *upstream, attempt_id attempt, struct slice task_id)
{
    enqueue(upstream, due_call_new(CALL_POLL, attempt, task_id));
}

void upstream_withdraw(struct upstream *upstream, attempt_id attempt, bool is_poll)
{
    const enum call_kind kind = is_poll ? CALL_POLL : CALL_SUBMIT;
    if (!upstream->is_closing && call_queue_withdraw(&upstream->queue, kind, attempt))
        upstream_wake(upstream);
}

void upstream_report(struct upstream *upstream, struct slice task_id, bool is_good)
{
    struct due_call *call = due_call_new(CALL_REPORT, 0, task_id);
    call->is_good = is_good;
    enqueue(upstream, call);
}

void upstream_probe(struct upstream *upstream, enum probe probe)
{
    const enum call_kind kind = probe == PROBE_THREADS ? CALL_THREADS : CALL_BALANCE;
    enqueue(upstream, due_call_new(kind, 0, SLICE_NONE));
}

void upstream_withdraw_submits(struct upstream *upstream)
{
    const struct list *first;
    while (!upstream->is_closing && (first = list_first(&upstream->queue.submits)) != NULL)
        upstream_withdraw(
            upstream, due_call_attempt(CONTAINER_OF(first, const struct due_call, link)), false);
}

void upstream_each_waiting_submit(const struct upstream *upstream,
                                  void (*see)(void *context, attempt_id attempt), void *context)
{
    LIST_FOR_EACH(link, &upstream->queue.submits)
        see(context, due_call_attempt(CONTAINER_OF(link, const struct due_call, link)));
    LIST_FOR_EACH(link, &upstream->queue.unsent) {
        const struct due_call *call = CONTAINER_OF(link, const struct due_call, link);
        if (call->kind == CALL_SUBMIT)
            see(context, due_call_attempt(call));
    }
}

void upstream_counters(const struct upstream *upstream, struct upstream_counters *counters)
{
    *counters = (struct upstream_counters){
        .calls = upstream->calls,
        .errors = upstream->errors,
        .connections_opened = sockets_opened(upstream->sockets),
        .bytes_in = upstream->bytes_in,
        .bytes_out = upstream->bytes_out,
        .epoll_ctl = sockets_epoll_calls(upstream->sockets),
        .active = upstream->active,
        .waiting = upstream->queue.waiting,
        .lanes = upstream->lane_count,
    };
}
