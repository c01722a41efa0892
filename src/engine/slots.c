#include "engine/slots.h"

#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/breaker.h"
#include "engine/budget.h"
#include "engine/divide.h"
#include "engine/journal.h"
#include "engine/lease.h"
#include "engine/pool.h"
#include "engine/stray.h"
#include "engine/vigil.h"

/* A burst of busy replies is one message: the limit is cut at most once in this time. */
#define LIMIT_CUT_PAUSE_MS 1000

static void set_options(struct engine *engine, client_id id, const struct client_options *options)
{
    struct client *client = &engine->clients[id];
    const uint64_t budget_before = client->options.budget_per_day;
    client->options = *options;
    if (client->options.weight == 0)
        client->options.weight = 1;
    /* Without a gateway nobody would count a budget; what is spent counts when it is served again. */
    if (options->is_shadow)
        client->options.budget_per_day = UINT64_MAX;
    if (client->budget_top < client->options.budget_per_day)
        client->budget_top = client->options.budget_per_day;
    budget_configure(engine, id, budget_before);
}

void slots_set_plan(struct engine *engine)
{
    const bool is_auto = engine->options.slots_are_auto;
    engine->slots_plan = is_auto ? SLOTS_AUTO_MOST : engine->options.slots;
    engine->limit_milli = (uint64_t)(is_auto ? SLOTS_AUTO_START : engine->slots_plan) * 1000;
    engine->is_plan_known = !is_auto;
    engine->is_limit_cut = false;
    divide_slots(engine);
}

void slots_init(struct engine *engine, const struct client_options *clients)
{
    list_init(&engine->ring);
    wheel_timer_init(&engine->pause_timer, TIMER_PAUSE);
    for (uint16_t i = 0; i < engine->client_room; i++) {
        struct client *client = &engine->clients[i];
        list_init(&client->turn);
        for (int priority = 0; priority < PRIORITIES; priority++) {
            list_init(&client->again[priority]);
            list_init(&client->queues[priority]);
        }
        if (i < engine->client_count)
            set_options(engine, i, &clients[i]);
    }
    slots_set_plan(engine);
}

/* ---- queue ------------------------------------------------------------------------------- */

static bool may_take_turn(const struct client *client)
{
    return client->queued > 0 && !client->is_overdrawn &&
           (client->options.slots == 0 || client->slots_used < client->options.slots);
}

/* A client is in the ring exactly while it could start something. */
void slots_update_turn(struct engine *engine, struct client *client)
{
    const bool is_in = !list_is_empty(&client->turn);
    if (may_take_turn(client) == is_in)
        return;
    if (is_in) {
        list_unlink(&client->turn);
    } else {
        client->credit = client->options.weight;
        list_append(&engine->ring, &client->turn);
    }
}

void slots_configure(struct engine *engine, const struct client_options *clients, uint16_t count)
{
    ASSERT(count >= engine->client_count && count <= engine->client_room);
    engine->client_count = count;
    for (uint16_t i = 0; i < count; i++) {
        set_options(engine, i, &clients[i]);
        slots_update_turn(engine, &engine->clients[i]);
    }
}

void slots_enqueue(struct engine *engine, struct flight *flight)
{
    struct client *client = &engine->clients[flight->client];
    /* Retries go before newcomers, because they had their turn before. */
    struct list *queues = flight->attempts > 0 ? client->again : client->queues;
    flight->queued_ms = engine->now_ms;
    list_append(&queues[flight->priority], &flight->link);
    client->queued++;
    engine->queued++;
    slots_update_turn(engine, client);
}

void slots_dequeue(struct engine *engine, struct flight *flight)
{
    struct client *client = &engine->clients[flight->client];
    list_unlink(&flight->link);
    ASSERT(client->queued > 0 && engine->queued > 0);
    client->queued--;
    engine->queued--;
    slots_update_turn(engine, client);
}

static void take(struct engine *engine, struct client *client)
{
    client->slots_used++;
    engine->slots_used++;
    slots_update_turn(engine, client);
}

static void give_back(struct engine *engine, client_id id, enum type type, uint64_t since_ms)
{
    struct client *client = &engine->clients[id];
    ASSERT(client->slots_used > 0 && engine->slots_used > 0);
    const uint64_t used_ms = engine->now_ms - since_ms;
    COUNT_BY(engine, slot_ms_used, used_ms);
    TALLY_BY(engine, id, type, slot_ms_used, used_ms);
    client->slots_used--;
    engine->slots_used--;
    slots_update_turn(engine, client);
}

void slots_take(struct engine *engine, struct flight *flight)
{
    flight->holds_slot = true;
    flight->slot_since_ms = engine->now_ms;
    take(engine, &engine->clients[flight->client]);
}

void slots_give_back(struct engine *engine, struct flight *flight)
{
    flight->holds_slot = false;
    give_back(engine, flight->client, flight->type, flight->slot_since_ms);
}

void slots_take_for_stray(struct engine *engine, struct attempt *attempt)
{
    attempt->vigil->slot_since_ms = engine->now_ms;
    take(engine, &engine->clients[attempt->client]);
}

void slots_give_back_of_stray(struct engine *engine, const struct attempt *attempt)
{
    give_back(engine, attempt->client, attempt->type, attempt->vigil->slot_since_ms);
}

static struct flight *first_of(struct client *client)
{
    for (int priority = PRIORITIES - 1; priority >= 0; priority--) {
        struct list *first = list_first(&client->again[priority]);
        if (first == NULL)
            first = list_first(&client->queues[priority]);
        if (first != NULL)
            return CONTAINER_OF(first, struct flight, link);
    }
    UNREACHABLE();
}

/* Weighted round robin: a client starts `weight` flights, then goes to the end of the ring. */
static struct flight *next_in_turn(struct engine *engine)
{
    struct list *turn = list_first(&engine->ring);
    if (turn == NULL)
        return NULL;
    struct client *client = CONTAINER_OF(turn, struct client, turn);
    if (client->credit == 0) {
        client->credit = client->options.weight;
        list_unlink(turn);
        list_append(&engine->ring, turn);
        client = CONTAINER_OF(list_first(&engine->ring), struct client, turn);
        if (client->credit == 0)
            client->credit = client->options.weight;
    }
    client->credit--;
    return first_of(client);
}

/* Rides on a stray rather than paying again, even if the task strayed while this flight waited. */
static void start(struct engine *engine, struct flight *flight)
{
    if (flight->attempt != NULL)
        return;
    struct attempt *stray = stray_find(engine, &flight->node.key, flight->client, flight->reuse);
    if (stray != NULL)
        stray_ride(engine, flight, stray);
    else
        attempt_start(engine, flight);
}

/* True if its client is no longer configured and nobody else waits. A request looked at costs as much
 * of the step as a start, since a flight may have very many. */
static bool is_for_nobody(struct engine *engine, const struct flight *flight)
{
    if (!engine->clients[flight->client].options.is_gone)
        return false;
    LIST_FOR_EACH(link, &flight->requests) {
        const struct request *request = CONTAINER_OF(link, struct request, link);
        if (!engine->clients[request->client].options.is_gone)
            return false;
        engine->starts_left -= engine->starts_left > 0;
    }
    /* Where clients share, the operator may replay the letters of one that is gone. */
    return !flight_has_letters(flight) || client_is_gone(engine, flight->client);
}

/* Nothing is paid for a client that was removed while its flight waited for a slot. */
static void start_or_end(struct engine *engine, struct flight *flight)
{
    engine->starts_left--;
    if (is_for_nobody(engine, flight))
        flight_fail(engine, flight, CLASS_CALLER, CODE_CLIENT_GONE);
    else
        start(engine, flight);
}

void slots_pump(struct engine *engine)
{
    const bool has_nothing = engine->queued == 0 && engine->pool_count == 0;
    engine->is_starting = false;
    if (has_nothing || breaker_is_open(engine) || !engine->store_is_writable ||
        engine->pause_timer.is_armed || engine->is_stopped || !lease_is_valid(engine))
        return;
    while (engine->slots_used < slots_limit(engine)) {
        if (engine->starts_left == 0) {
            engine->is_starting = true;
            return;
        }
        struct flight *flight = next_in_turn(engine);
        /* Pools come last, because nobody waits for their solutions yet. */
        if (flight == NULL)
            flight = pools_refill(engine);
        if (flight == NULL)
            return;
        start_or_end(engine, flight);
    }
}

/* ---- budget ------------------------------------------------------------------------------ */

bool slots_can_reserve(const struct engine *engine, const struct flight *flight)
{
    return flight->is_reserved || budget_has_unit(engine, flight->client) ||
           budget_may_come(engine, flight->client);
}

void slots_reserve(struct engine *engine, struct flight *flight)
{
    if (flight->is_reserved)
        return;
    if (engine->budgets != NULL && !budget_has_unit(engine, flight->client)) {
        budget_await(engine, flight);
        return;
    }
    flight->is_reserved = true;
    engine->clients[flight->client].reserved++;
    if (engine->budgets != NULL)
        budget_on_reserved(engine, flight->client);
}

void slots_unreserve(struct engine *engine, struct flight *flight)
{
    if (flight->aside != NULL)
        list_unlink(&flight->aside->unit);
    if (!flight->is_reserved)
        return;
    if (budget_is_stale(engine, flight))
        budget_on_stale(engine, flight->client);
    flight->is_reserved = false;
    engine->clients[flight->client].reserved--;
    if (engine->budgets != NULL)
        budget_on_freed(engine, flight->client);
}

void slots_spend(struct engine *engine, struct flight *flight)
{
    flight->is_paid = true;
    if (!flight->is_reserved)
        return;
    flight->is_reserved = false;
    engine->clients[flight->client].reserved--;
    engine->clients[flight->client].spent++;
    journal_spent(engine, flight->client);
    if (engine->budgets != NULL)
        budget_on_freed(engine, flight->client);
}

void slots_refund(struct engine *engine, const struct attempt *attempt)
{
    struct client *client = &engine->clients[attempt->client];
    /* The submit was counted on an earlier day, whose budget is closed. */
    if (attempt->spent_day != engine->days[0].number)
        return;
    ASSERT(client->spent > 0);
    client->spent--;
    journal_spent(engine, attempt->client);
    if (engine->budgets != NULL)
        budget_on_freed(engine, attempt->client);
}

/* ---- limit ------------------------------------------------------------------------------- */

static uint32_t adaptive_limit(const struct engine *engine)
{
    return (uint32_t)(engine->limit_milli / 1000);
}

uint32_t slots_limit(const struct engine *engine)
{
    const uint32_t limit = adaptive_limit(engine);
    return limit < engine->slots_share ? limit : engine->slots_share;
}

/* With nothing of ours in flight, no end of a flight would trigger the next try, so a timer does. */
static void pause_if_alone(struct engine *engine)
{
    const uint32_t base_ms = engine->options.retry_base_ms;
    const uint32_t wait_ms = base_ms < LIMIT_CUT_PAUSE_MS ? base_ms : LIMIT_CUT_PAUSE_MS;
    if (engine->slots_used <= 1)
        wheel_arm(&engine->wheel, &engine->pause_timer, engine->now_ms + wait_ms);
}

void slots_on_busy(struct engine *engine)
{
    const uint64_t used_milli = (uint64_t)engine->slots_used * 1000;
    if (engine->limit_cut_ms == 0 || engine->now_ms - engine->limit_cut_ms >= LIMIT_CUT_PAUSE_MS) {
        engine->limit_cut_ms = engine->now_ms;
        engine->limit_aim_milli = engine->limit_milli * 7 / 10;
        /* The number in flight is what the vendor found too much; the limit may be far above it. */
        if (used_milli > 0 && used_milli < engine->limit_milli)
            engine->limit_milli = used_milli;
        engine->limit_milli = engine->limit_milli * 7 / 10;
    }
    /* A refused submit frees its slot. Without a lower limit the next in the queue would take it
     * and be refused as well, and so on through a long queue. */
    if (used_milli > 0 && engine->limit_milli > used_milli - 1000)
        engine->limit_milli = used_milli - 1000;
    if (engine->limit_milli < 1000)
        engine->limit_milli = 1000;
    engine->is_limit_cut = engine->limit_milli < (uint64_t)engine->slots_plan * 1000;
    pause_if_alone(engine);
    TRACE(engine, "limit cut to %u", slots_limit(engine));
}

void slots_on_accepted(struct engine *engine)
{
    const uint64_t most_milli = (uint64_t)engine->slots_plan * 1000;
    /* Only a limit that is reached may grow: an unused one says nothing about the vendor. */
    if (engine->slots_used < adaptive_limit(engine) || engine->limit_milli >= most_milli)
        return;
    const bool is_below_aim = engine->limit_milli < engine->limit_aim_milli;
    engine->limit_milli += is_below_aim ? 1000 : 1000000 / engine->limit_milli;
    if (engine->limit_milli > most_milli)
        engine->limit_milli = most_milli;
    if (engine->limit_milli == most_milli)
        engine->is_limit_cut = false;
}

void slots_on_plan(struct engine *engine, uint32_t threads)
{
    const uint32_t plan = threads < SLOTS_AUTO_MOST ? threads : SLOTS_AUTO_MOST;
    /* Hearing the same plan again must not undo what busy replies taught. The first reply counts
     * even if it equals the assumed plan. */
    const bool is_news = !engine->is_plan_known && !engine->is_limit_cut;
    if (!engine->options.slots_are_auto || plan == 0 || (plan == engine->slots_plan && !is_news))
        return;
    engine->is_plan_known = true;
    engine->is_limit_cut = false;
    engine->slots_plan = plan;
    engine->limit_milli = (uint64_t)engine->slots_plan * 1000;
    divide_slots(engine);
}
