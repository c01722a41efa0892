/* Views into the engine that change (nearly) nothing: explain, flights, gauges, statistics. */
#include <solvegate/view.h>

#include "engine/ask.h"
#include "engine/attempt.h"
#include "engine/find.h"
#include "engine/health.h"
#include "engine/orphan.h"
#include "engine/request.h"
#include "engine/slots.h"
#include "engine/task.h"

static void explain_orphan(const struct engine *engine, const struct letter *letter,
                           struct outlook *outlook)
{
    *outlook = (struct outlook){
        .would_hit = true,
        .source = SOURCE_DEDUP_CACHE,
        .age_ms = engine->now_ms - orphan_born_ms(engine, letter),
        .expires_in_ms = orphan_expires_ms(engine, letter) - engine->now_ms,
    };
}

void engine_explain(const struct engine *engine, const struct ask *ask, struct outlook *outlook)
{
    struct placement placement;
    *outlook = (struct outlook){.refusal = ask_place(engine, ask, &placement)};
    outlook->source = placement.source;
    const bool may_have_orphan =
        ask_would_pay(&placement, outlook->refusal) && !client_is_shadow(engine, ask->client);
    const struct letter *orphan = may_have_orphan ? orphan_find(engine, ask) : NULL;
    if (orphan != NULL) {
        explain_orphan(engine, orphan, outlook);
        return;
    }
    if (outlook->refusal != REFUSAL_NONE)
        return;
    if (placement.kind == PLACE_LETTER)
        outlook->letter = placement.letter->number;
    outlook->would_join = placement.kind == PLACE_JOIN || placement.is_ride;
    if (placement.kind != PLACE_SOLUTION)
        return;
    outlook->would_hit = true;
    outlook->age_ms = engine->now_ms - placement.solution->born_ms;
    if (placement.solution->expires_ms > engine->now_ms)
        outlook->expires_in_ms = placement.solution->expires_ms - engine->now_ms;
}

bool engine_knows_attempt(const struct engine *engine, attempt_id attempt)
{
    return attempt_find(engine, attempt) != NULL;
}

bool engine_peek(struct engine *engine, client_id client, request_id id, struct answer *answer)
{
    struct request *request = request_find(engine, client, id);
    *answer = (struct answer){.refusal = REFUSAL_NONE};
    if (request == NULL)
        return find_peek(engine, client, id, answer);
    /* If the store cannot write there is nothing to wait for: a paid solution is delivered all the same. */
    if (request_fill(engine, request, answer) <= engine->durable || !engine->store_is_writable) {
        request_mark_read(engine, request);
        return true;
    }
    /* The answer is not durable yet, so it is not shown yet. */
    answer_close(answer);
    *answer = (struct answer){.id = id, .state = REQUEST_SOLVING};
    return true;
}

static void view_flight(const struct flight *flight, uint64_t now_ms, struct flight_view *view)
{
    *view = (struct flight_view){
        .key = flight->node.key,
        .state = flight->holds_slot ? REQUEST_SOLVING : REQUEST_QUEUED,
        .phase = flight_state_name(flight->state),
        .client = flight->client,
        .type = flight->type,
        .dialect = flight->dialect,
        .reuse = flight->reuse,
        .requests = flight->request_count,
        .attempts = flight->attempts,
        .age_ms = now_ms - flight->created_ms,
    };
    if (flight->deadline.is_armed && flight->deadline.due_ms > now_ms)
        view->deadline_in_ms = flight->deadline.due_ms - now_ms;
    if (flight->attempt != NULL)
        task_id_copy(view->task_id, flight->attempt->task_id);
    code_copy(view->last_error, blob_slice(flight->error));
}

/* Places looked at for one page, which is short if they do not fill it: hundreds of thousands may
 * be free or ended. */
#define FLIGHT_LOOKS 4096

/* A flight that ended and only waits to wake its requests is no longer under way. */
static const struct flight *under_way_at(const struct engine *engine, slab_id id)
{
    const struct flight *flight = slab_get(&engine->flights, id);
    const bool is_under_way =
        flight != NULL && flight->state != FLIGHT_SOLVED && flight->state != FLIGHT_FAILED;
    return is_under_way ? flight : NULL;
}

size_t engine_list_flights(const struct engine *engine, uint64_t now_ms, uint64_t *cursor,
                           struct flight_view *views, size_t room)
{
    size_t count = 0;
    uint32_t looks = FLIGHT_LOOKS;
    const uint64_t at_ms = now_ms > engine->now_ms ? now_ms : engine->now_ms;
    while (looks > 0) {
        const slab_id id = slab_next_within(&engine->flights, *cursor, &looks);
        const struct flight *flight = id == 0 ? NULL : under_way_at(engine, id);
        /* One flight beyond the page's room shows that there is another page. */
        if (flight != NULL && count == room)
            return count;
        *cursor = id;
        if (id == 0)
            return count;
        if (flight != NULL)
            view_flight(flight, at_ms, &views[count++]);
    }
    return count;
}

void engine_gauges(const struct engine *engine, struct gauges *gauges)
{
    *gauges = (struct gauges){
        .requests = engine->requests.used,
        .flights = engine->flights.used,
        .queued = engine->queued,
        .callers = engine->holds.used,
        .solutions = (uint32_t)engine->shares.cached.total,
        .solution_bytes = engine->shares.cached_bytes.total,
        .finished_bytes = engine->shares.finished_bytes.total,
        .idempotency = engine->idempotency.used,
        .letters = engine->letters.used,
        .replays = engine->replay_count,
        .strays = (uint32_t)engine->strays_by_key.count,
        .slots_used = engine->slots_used,
        .slots_limit = slots_limit(engine),
        .slots_plan = engine->slots_plan,
        .slots_are_cut = engine->is_limit_cut,
        .callbacks_are_healthy = health_is_good(engine),
        .breaker = engine->breaker.state,
    };
    for (uint16_t i = 0; i < engine->client_count; i++)
        gauges->waiting += engine->clients[i].requests;
    if (engine->breaker.state != BREAKER_CLOSED)
        memcpy(gauges->breaker_cause, engine->breaker.cause, ERROR_CODE_MAX);
}

const struct stats *engine_stats(const struct engine *engine)
{
    return &engine->stats;
}

const struct stats *engine_stats_of_day(const struct engine *engine, unsigned days_ago,
                                        int64_t *day)
{
    if (days_ago > STATS_DAYS || (days_ago > 0 && engine->days[days_ago].number == 0))
        return NULL;
    *day = engine->days[days_ago].number;
    return &engine->days[days_ago].stats;
}

const struct tally *engine_tally(const struct engine *engine, unsigned days_ago, client_id client,
                                 enum type type)
{
    ASSERT(days_ago <= ENGINE_SINCE_START && client < engine->client_count);
    return tally_at(engine, days_ago, client, type);
}

const struct unknown_errors *engine_unknown_errors(const struct engine *engine)
{
    return &engine->unknown_errors;
}

const struct histogram *engine_timing(const struct engine *engine, enum timing timing)
{
    return &engine->timings[timing];
}

void engine_count_tasks(const struct engine *engine, uint32_t *counts, size_t room)
{
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;) {
        const struct attempt *attempt = slab_get(&engine->attempts, id);
        const bool is_open =
            !attempt_is_over(attempt) && (attempt->flight != NULL || attempt->task_id != NULL);
        if (is_open && attempt->client < room)
            counts[attempt->client]++;
    }
}
