/* What the gate of one node does: actions in, effects out; one batch at a time to the store. */
#include "cluster.h"

#include <solvegate/words.h>

#include <stdlib.h>

uint64_t node_deadline_ms(const struct cluster *c, uint32_t place)
{
    const struct engine *engine = c->nodes[place].engine;
    const uint64_t deadline_ms = engine == NULL ? UINT64_MAX : engine_next_deadline(engine);
    return deadline_ms == UINT64_MAX ? UINT64_MAX : node_world_ms(c, place, deadline_ms);
}

/* ---- the queue to the store --------------------------------------------------------------------- */

static void entry_close(struct entry *entry)
{
    if (entry->kind == ACTION_JOURNAL)
        record_close(&entry->record);
    if (entry->kind == ACTION_TELL) {
        blob_unref(entry->fact.result.text);
        blob_unref(entry->fact.result.extra);
    }
}

static void append(struct cluster *c, struct node *node, const struct action *take_action)
{
    node->queue = room_for(node->queue, node->queue_count, &node->queue_room, sizeof *node->queue);
    struct entry *entry = &node->queue[node->queue_count++];
    *entry = (struct entry){.kind = take_action->kind, .at_ms = c->now_ms, .asked = node->asked};
    if (take_action->kind == ACTION_JOURNAL) {
        entry->seq = take_action->after;
        entry->record = take_action->record;
    } else if (take_action->kind == ACTION_CLAIM) {
        entry->claim = take_action->claim;
    } else if (take_action->kind == ACTION_TELL) {
        entry->seq = take_action->after;
        entry->fact = take_action->tell;
    } else if (take_action->kind == ACTION_FORGET) {
        entry->forget = take_action->forget;
    } else if (take_action->kind == ACTION_DRAW) {
        entry->draw = take_action->draw;
    } else {
        entry->release = take_action->release;
    }
}

static uint64_t travel_ms(struct cluster *c)
{
    return 1 + below(c, chance(c, FAULT_STORE_SLOW) ? 2500 : 10);
}

static struct moment moment_of(const struct cluster *c, enum happening what, uint32_t node)
{
    return (struct moment){.what = what,
                           .node = node,
                           .incarnation = c->nodes[node].incarnation,
                           .number = c->nodes[node].batch};
}

/* Sends the batch under way, again if need be, or a new one. A lost one is noticed by its silence. */
static void send_batch(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    if (node->sent == 0) {
        node->sent = node->queue_count;
        node->batch++;
    }
    const bool is_lost = chance(c, FAULT_BATCH_LOST);
    if (!is_lost)
        at(c, travel_ms(c), moment_of(c, HAPPEN_AT_STORE, place));
    else
        at(c, 500 + below(c, 1000), moment_of(c, HAPPEN_SEND, place));
}

static void start_batch(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    if (node->sent == 0 && node->queue_count > 0)
        send_batch(c, place);
}

static void drop_verdicts(struct node *node)
{
    for (size_t i = 0; i < node->verdict_count; i++) {
        blob_unref(node->verdicts[i].row.text);
        blob_unref(node->verdicts[i].row.extra);
    }
    node->verdict_count = 0;
}

/* ---- actions ------------------------------------------------------------------------------------ */

/* What only this node knows is no receipt, as in src/gate/persist.c. */
static void answer(struct cluster *c, uint32_t place, const struct action *action)
{
    const bool is_unsafe = action->after > c->nodes[place].durable;
    struct answer told = action->answer;
    if (is_unsafe && told.is_receipt)
        told.refusal = REFUSAL_STORE_AWAY;
    clients_on_answer(c, &told, is_unsafe);
}

static void perform(struct cluster *c, uint32_t place, const struct action *action)
{
    switch (action->kind) {
    case ACTION_ANSWER:
        answer(c, place, action);
        return;
    case ACTION_SUBMIT:
        vendor_submit(c, place, action);
        return;
    case ACTION_POLL:
        vendor_poll(c, place, &action->call);
        return;
    case ACTION_ACK:
        c->callers[action->ack - 1].is_open = false;
        return;
    case ACTION_PROBE:
        vendor_probe(c, place, action->probe);
        return;
    case ACTION_PAID:
        c->paid++;
        return;
    case ACTION_ADOPT:
        tell(c, "n%u adopts run %llu", place, (unsigned long long)action->adopt.id);
        at(c, travel_ms(c),
           (struct moment){.what = HAPPEN_ADOPT,
                           .node = place,
                           .incarnation = c->nodes[place].incarnation,
                           .subject = (uint32_t)action->adopt.id,
                           .number = action->adopt.beat});
        return;
    case ACTION_FIND:
        find_send(c, place, &action->find);
        return;
    case ACTION_LETTERS:
        orders_on_answer(c, &action->letters);
        return;
    case ACTION_REPORT:
        vendor_hear_report(c, &action->call);
        return;
    case ACTION_SHOWN:
    case ACTION_ACCOUNT:
    case ACTION_WITHDRAW:
    case ACTION_NOTIFY:
    case ACTION_ALERT:
        return;
    case ACTION_JOURNAL:
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_TELL:
    case ACTION_FORGET:
    case ACTION_DRAW:
        break;
    }
    UNREACHABLE();
}

static void wait_for_record(struct node *node, const struct action *take_action)
{
    node->waiting =
        room_for(node->waiting, node->waiting_count, &node->waiting_room, sizeof *node->waiting);
    node->waiting[node->waiting_count++] = *take_action;
}

/* While the store is away answers go out all the same, as with a full disk, but for those that only one
 * request may get. The vendor is told of nothing that another node may tell again. */
static bool must_wait(const struct node *node, const struct action *action)
{
    const bool is_strict = action->kind == ACTION_SUBMIT || action->kind == ACTION_REPORT ||
                           (action->kind == ACTION_ANSWER && action->answer.is_single);
    return action->after > node->durable && (!node->is_cut_off || is_strict);
}

static void take_actions(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    struct action action;
    while (engine_next_action(node->engine, &action)) {
        const bool is_for_store = action.kind == ACTION_JOURNAL || action.kind == ACTION_CLAIM ||
                                  action.kind == ACTION_RELEASE || action.kind == ACTION_TELL ||
                                  action.kind == ACTION_FORGET || action.kind == ACTION_DRAW;
        if (action.kind == ACTION_ANSWER)
            clients_note_answer(c, &action.answer);
        if (action.kind == ACTION_SUBMIT)
            vendor_issue(c, place, &action.call);
        if (action.kind == ACTION_CLAIM)
            tell(c, "n%u claims %u, flight %llu", place, number_of_key(&action.claim.key),
                 (unsigned long long)action.claim.flight);
        if (action.kind == ACTION_RELEASE)
            tell(c, "n%u releases flight %llu", place, (unsigned long long)action.release.flight);
        /* What an adopted node decides reaches nobody. */
        if (action.kind == ACTION_JOURNAL && !c->store.runs[node->run].is_gone)
            vendor_note_row(c, &action.record);
        if (is_for_store) {
            append(c, node, &action);
        } else if (must_wait(node, &action)) {
            wait_for_record(node, &action);
        } else {
            perform(c, place, &action);
            action_close(&action);
        }
    }
    start_batch(c, place);
}

static void release_waiting(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    size_t kept = 0;
    for (size_t i = 0; i < node->waiting_count; i++) {
        struct action action = node->waiting[i];
        if (must_wait(node, &action)) {
            node->waiting[kept++] = action;
            continue;
        }
        perform(c, place, &action);
        action_close(&action);
    }
    node->waiting_count = kept;
}

static void trace(void *context, uint64_t now_ms, const char *text)
{
    (void)now_ms;
    tell(context, "    %s", text);
}

void node_step(struct cluster *c, uint32_t place, struct event *event)
{
    struct node *node = &c->nodes[place];
    event->now_ms = node_clock_ms(c, place, c->now_ms);
    event->wall_ms = node_wall_ms(c, place);
    if (event->random == 0)
        event->random = rand_u64(&c->rand);
    engine_step(node->engine, event);
    take_actions(c, place);
    check_after_step(c, place, event);
    pulse_hurry(c, place);
}

/* ---- replies -------------------------------------------------------------------------------------- */

static void set_cut_off(struct cluster *c, uint32_t place, bool is_cut_off)
{
    struct node *node = &c->nodes[place];
    if (node->is_cut_off == is_cut_off)
        return;
    node->is_cut_off = is_cut_off;
    struct event event = {.kind = EVENT_STORE_STATE};
    event.store_is_writable = !is_cut_off;
    event.store_is_away = is_cut_off;
    node_step(c, place, &event);
    release_waiting(c, place);
}

/* The batch is at the store: what happens there happens even if the sender is gone by then. */
static void arrive(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    if (node_is_cut(c, place)) {
        set_cut_off(c, place, true);
        at(c, 200 + below(c, 1000), moment_of(c, HAPPEN_SEND, place));
        return;
    }
    drop_verdicts(node);
    if (!store_apply(c, place))
        at(c, travel_ms(c), moment_of(c, HAPPEN_FENCED, place));
    else if (chance(c, FAULT_COMMIT_LOST))
        at(c, 500 + below(c, 1000), moment_of(c, HAPPEN_SEND, place));
    else
        at(c, travel_ms(c), moment_of(c, HAPPEN_BACK, place));
}

static const char *const result_words[] = {
    [CLAIM_WON] = "won",         [CLAIM_FOLLOW] = "follow",     [CLAIM_SOLVED] = "solved",
    [CLAIM_TAKEN] = "taken",     [CLAIM_MISMATCH] = "mismatch", [CLAIM_REFUSED] = "refused",
    [CLAIM_UNAVAILABLE] = "away"};

static void deliver(struct cluster *c, uint32_t place, struct verdict *verdict)
{
    struct event event = {.kind = verdict->is_draw ? EVENT_DRAWN : EVENT_CLAIMED};
    if (verdict->is_draw) {
        event.drawn = verdict->drawn;
        node_step(c, place, &event);
        return;
    }
    event.claimed = verdict->claimed;
    if (verdict->row.text != NULL)
        event.claimed.solution = &verdict->row;
    c->follows += verdict->claimed.result == CLAIM_FOLLOW;
    c->taken += verdict->claimed.result == CLAIM_TAKEN && verdict->claimed.owner != 0;
    c->given += verdict->claimed.result == CLAIM_TAKEN && verdict->claimed.owner == 0;
    tell(c, "n%u is told: %s, flight %llu", place, result_words[verdict->claimed.result],
         (unsigned long long)verdict->claimed.flight);
    node_step(c, place, &event);
}

/* The batch is durable: everything that waited for it may go, and the claims are decided. */
static void come_back(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    for (size_t i = 0; i < node->sent; i++) {
        if (node->queue[i].seq > node->durable)
            node->durable = node->queue[i].seq;
        entry_close(&node->queue[i]);
    }
    node->queue_count -= node->sent;
    memmove(node->queue, node->queue + node->sent, node->queue_count * sizeof *node->queue);
    node->sent = 0;
    struct event event = {.kind = EVENT_DURABLE};
    event.durable = node->durable;
    node_step(c, place, &event);
    release_waiting(c, place);
    set_cut_off(c, place, false);
    /* The next batch may have been sent, but the verdicts belong to this one until it arrives. */
    const size_t count = node->verdict_count;
    struct verdict *verdicts = node->verdicts;
    node->verdicts = NULL;
    node->verdict_count = node->verdict_room = 0;
    for (size_t i = 0; i < count; i++) {
        deliver(c, place, &verdicts[i]);
        blob_unref(verdicts[i].row.text);
        blob_unref(verdicts[i].row.extra);
    }
    free(verdicts);
    forget_tell(c, place);
    start_batch(c, place);
}

/* A claim that waited for long and was never sent: the engine is told that the store is away. */
static void despair(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    for (size_t i = node->sent; i < node->queue_count; i++) {
        const struct entry entry = node->queue[i];
        if ((entry.kind != ACTION_CLAIM && entry.kind != ACTION_DRAW) || entry.claim.is_held ||
            entry.at_ms + 2000 > c->now_ms)
            continue;
        node->queue_count--;
        memmove(&node->queue[i], &node->queue[i + 1],
                (node->queue_count - i) * sizeof *node->queue);
        struct verdict verdict = {
            .is_draw = entry.kind == ACTION_DRAW,
            .drawn = {.client = entry.draw.client, .number = entry.draw.number},
            .claimed = {.result = CLAIM_UNAVAILABLE,
                        .flight = entry.claim.flight,
                        .ticket = entry.claim.ticket,
                        .proposal = entry.claim.proposal}};
        deliver(c, place, &verdict);
        return;
    }
}

void node_happens(struct cluster *c, const struct moment *moment)
{
    struct node *node = &c->nodes[moment->node];
    const bool is_old = moment->number != node->batch || node->sent == 0;
    switch (moment->what) {
    case HAPPEN_AT_STORE:
        if (!is_old)
            arrive(c, moment->node);
        return;
    case HAPPEN_BACK:
        if (!is_old)
            come_back(c, moment->node);
        return;
    case HAPPEN_SEND:
        if (is_old)
            return;
        despair(c, moment->node);
        send_batch(c, moment->node);
        return;
    case HAPPEN_WOKEN: {
        struct event event = {.kind = EVENT_WOKEN};
        event.woken = moment->name;
        node_step(c, moment->node, &event);
        return;
    }
    case HAPPEN_UP:
        /* Without the store it does not start. */
        if (node_is_cut(c, moment->node))
            at(c, 500, *moment);
        else
            node_start(c, moment->node);
        return;
    case HAPPEN_ARRIVE:
    case HAPPEN_NEED:
    case HAPPEN_LEAVE:
    case HAPPEN_SUBMITTED:
    case HAPPEN_POLLED:
    case HAPPEN_CALLBACK:
    case HAPPEN_BEAT:
    case HAPPEN_BEAT_AT_STORE:
    case HAPPEN_BEAT_BACK:
    case HAPPEN_ADOPT:
    case HAPPEN_ADOPTED:
    case HAPPEN_LEFT:
    case HAPPEN_FIND:
    case HAPPEN_FOUND:
    case HAPPEN_REPORT:
    case HAPPEN_ORDER:
    case HAPPEN_SIGHT:
    case HAPPEN_ROLL:
        break;
    case HAPPEN_INBOX:
        if (!node_is_cut(c, moment->node))
            inbox_read(c, moment->node);
        return;
    case HAPPEN_LOST:
        forget_tell(c, moment->node);
        return;
    case HAPPEN_FENCED:
        if (c->store.runs[node->run].is_gone)
            node_fence(c, moment->node);
        return;
    case HAPPEN_RESUME: {
        struct event event = {.kind = EVENT_STANDSTILL};
        node_step(c, moment->node, &event);
        return;
    }
    }
    UNREACHABLE();
}

/* ---- birth and death ------------------------------------------------------------------------------ */

static void start_run(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    struct engine_options options = c->plan.options;
    const node_id before = node->run;
    node->run = ++c->store.last_run;
    CHECK(c, node->run < RUNS_MAX);
    c->store.runs[node->run] = (struct run){
        .member = {.id = node->run, .node = (uint16_t)(node->run % ENGINE_NODES)}, .place = place};
    /* Under its own name it adopts its predecessor at once, with the slots that that one held. */
    if (before != 0 && !c->store.runs[before].is_gone) {
        c->store.runs[node->run].member.demand = c->store.runs[before].member.demand;
        c->store.runs[node->run].member.demand.pools = 0;
        store_adopt(c, before, node->run);
    }
    books_keep(c, place);
    options.clients = &c->plan.client;
    options.pools = &c->plan.pool;
    options.pool_count = c->plan.pool.size > 0;
    options.node = (uint16_t)(node->run % ENGINE_NODES);
    options.secret[0] = rand_u64(&c->rand);
    node->durable = 0;
    node->asked = node->accepted = node->asked_written = node->adopted_requests = 0;
    node->closed = (struct stats){0};
    node->is_cut_off = node->has_stopped = node->has_untold = false;
    node->adopting_ms = node->told_ms = node->heard_ms = 0;
    node->started_ms = c->now_ms;
    node->engine = engine_new(&options, node_clock_ms(c, place, c->now_ms), node_wall_ms(c, place));
    if (c->is_traced)
        engine_set_trace(node->engine, trace, c);
    tell(c, "n%u starts", place);
    store_load(c, place);
    take_actions(c, place);
    check_after_step(c, place, NULL);
    /* It was told to end before it found itself adopted. */
    struct event event = {.kind = EVENT_DRAIN};
    if (node->is_draining)
        node_step(c, place, &event);
}

void node_unsettle(struct cluster *c)
{
    c->settled_ms = c->now_ms + UINT64_C(2) * c->plan.options.lease_ms;
}

void node_start(struct cluster *c, uint32_t place)
{
    if (c->now_ms > 0)
        node_unsettle(c);
    c->nodes[place].incarnation++;
    clocks_begin(c, place);
    start_run(c, place);
    pulse_start(c, place);
}

/* Facts are kept for the next run; whatever waited for decisions is refused. */
static void drop_decisions(struct cluster *c, struct node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->queue_count; i++) {
        if (node->queue[i].kind != ACTION_TELL) {
            entry_close(&node->queue[i]);
            continue;
        }
        /* No record of the next run has its number. */
        node->queue[i].seq = 0;
        node->queue[kept++] = node->queue[i];
    }
    node->queue_count = kept;
    node->sent = 0;
    for (size_t i = 0; i < node->waiting_count; i++) {
        struct action *action = &node->waiting[i];
        if (action->kind == ACTION_ANSWER)
            clients_refuse(c, action->answer.caller);
        if (action->kind == ACTION_ACK)
            c->callers[action->ack - 1].is_open = false;
        action_close(action);
    }
    node->waiting_count = 0;
}

void node_fence(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    struct event event = {.kind = EVENT_FENCED};
    tell(c, "n%u finds itself adopted", place);
    c->fences++;
    node_unsettle(c);
    node_step(c, place, &event);
    while (!engine_is_over(node->engine)) {
        struct event tick = {.kind = EVENT_TICK};
        node_step(c, place, &tick);
    }
    drop_decisions(c, node);
    drop_verdicts(node);
    parcel_close(&node->parcel);
    engine_free(node->engine);
    books_note_end(c, place);
    start_run(c, place);
}

/* A batch under way may or may not reach the store before the node starts again. */
void node_crash(struct cluster *c, uint32_t place)
{
    struct node *node = &c->nodes[place];
    tell(c, "n%u crashes", place);
    c->crashes++;
    if (node->sent > 0 && below(c, 2) == 0 && !node_is_cut(c, place)) {
        drop_verdicts(node);
        (void)store_apply(c, place);
    }
    node_end(c, place);
}

void node_end(struct cluster *c, uint32_t place)
{
    clients_on_crash(c, place);
    books_note_end(c, place);
    node_unsettle(c);
    node_close(&c->nodes[place]);
    c->nodes[place].engine = NULL;
    c->nodes[place].is_draining = false;
}

void node_close(struct node *node)
{
    engine_free(node->engine);
    for (size_t i = 0; i < node->queue_count; i++)
        entry_close(&node->queue[i]);
    for (size_t i = 0; i < node->waiting_count; i++)
        action_close(&node->waiting[i]);
    drop_verdicts(node);
    parcel_close(&node->parcel);
    free(node->queue);
    free(node->waiting);
    free(node->verdicts);
    node->queue = NULL;
    node->waiting = NULL;
    node->verdicts = NULL;
    node->queue_count = node->queue_room = node->sent = 0;
    node->waiting_count = node->waiting_room = node->verdict_room = 0;
}
