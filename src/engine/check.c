/* The engine's auditor: walks all state and aborts at the first inconsistency. */
#include "engine/aside.h"
#include "engine/attempt.h"
#include "engine/backlog.h"
#include "engine/cache.h"
#include "engine/check_shares.h"
#include "engine/find.h"
#include "engine/letters.h"
#include "engine/oddity.h"
#include "engine/pool.h"
#include "engine/rest.h"
#include "engine/shadow.h"
#include "engine/state.h"
#include "engine/stray.h"
#include "engine/task.h"
#include "engine/unknown.h"
#include "engine/vigil.h"

#include <stdlib.h>

/* With a shared store a key is submitted only under its claim. */
static void check_claim(const struct engine *engine, const struct flight *flight)
{
    const bool is_waiting = flight->state == FLIGHT_CLAIMING || flight->state == FLIGHT_FOLLOWING;
    const bool is_over = flight->state == FLIGHT_SOLVED || flight->state == FLIGHT_FAILED;
    const bool lacks_unit = flight_lacks_unit(flight);
    ASSERT(!lacks_unit || (engine->budgets != NULL && !flight->is_reserved && !flight->is_asking));
    ASSERT(!lacks_unit || flight->state == FLIGHT_CLAIMING || flight->state == FLIGHT_BACKING_OFF);
    ASSERT(!is_waiting ||
           (engine->options.store_is_shared && (flight_claim(flight) == 0 || lacks_unit)));
    ASSERT(!is_waiting || flight->is_asking || flight->phase.is_armed || lacks_unit ||
           flight->is_merging || flight_is_unleased(flight));
    ASSERT(!flight->is_merging || engine->adopting != 0);
    ASSERT(!flight_is_unleased(flight) || (is_waiting && !flight->is_asking));
    ASSERT(!is_waiting || !flight->is_reserved);
    ASSERT(is_waiting || !flight->is_asking);
    ASSERT(!is_over || flight_claim(flight) == 0);
    ASSERT(!engine->options.store_is_shared || flight->reuse != REUSE_SHARED || is_waiting ||
           is_over || flight_claim(flight) != 0);
    const bool is_before_word = flight_is_shadow(flight) && (flight->state == FLIGHT_SUBMITTING ||
                                                             flight->state == FLIGHT_QUEUED);
    ASSERT(!flight_has_briefs(flight) || flight->state == FLIGHT_CLAIMING || is_over ||
           is_before_word || flight_is_telling(flight));
}

static void check_flight(const struct engine *engine, const struct flight *flight)
{
    /* It becomes whole when all of its rows have come. */
    if (flight->is_restoring) {
        ASSERT(engine->adopting != 0 && engine->recovery != NULL);
        return;
    }
    const bool should_hold_slot = flight->state == FLIGHT_SUBMITTING ||
                                  flight->state == FLIGHT_AMBIGUOUS ||
                                  flight->state == FLIGHT_SOLVING;
    const bool is_over = flight->state == FLIGHT_SOLVED || flight->state == FLIGHT_FAILED;
    ASSERT(flight->state != FLIGHT_NEW);
    ASSERT(flight->holds_slot == should_hold_slot);
    ASSERT((flight->attempt != NULL) == should_hold_slot);
    /* Nobody joins a flight whose key is another's, or whose idempotency key may be. */
    const bool is_waiting = flight->state == FLIGHT_CLAIMING || flight->state == FLIGHT_FOLLOWING;
    ASSERT(flight->is_in_table == !is_over || is_waiting);
    ASSERT(is_over || flight->node.place != NULL);
    ASSERT(flight->deadline.is_armed == !is_over);
    ASSERT(flight->request_count == list_length(&flight->requests));
    ASSERT(!is_over || list_is_empty(&flight->idempotency));
    ASSERT(flight->attempt == NULL || flight->attempt->flight == flight);
    /* A flight that everybody left before its submit should have been cancelled. */
    ASSERT(flight_is_wanted(flight) || should_hold_slot || is_over);
    ASSERT(flight->client < engine->client_count);
    check_claim(engine, flight);
}

static void check_flights(const struct engine *engine)
{
    uint32_t queued = 0;
    uint32_t slots = 0;
    for (slab_id id = 0; (id = slab_next(&engine->flights, id)) != 0;) {
        const struct flight *flight = slab_get(&engine->flights, id);
        check_flight(engine, flight);
        queued += flight->state == FLIGHT_QUEUED;
        slots += flight->holds_slot;
        if (!flight->is_in_table || flight->reuse != REUSE_SHARED)
            continue;
        /* I1: at most one flight, and so one open attempt, per shared key within a scope. */
        for (struct table_node *node = table_find_next(&flight->node); node != NULL;
             node = table_find_next(node)) {
            const struct flight *other = CONTAINER_OF(node, struct flight, node);
            ASSERT(other->reuse != REUSE_SHARED ||
                   !clients_may_share(engine, flight->client, other->client));
        }
    }
    ASSERT(queued == engine->queued);
    /* Each stray holds a slot as well, since the vendor may be working on it. */
    ASSERT(slots + engine->strays_by_key.count == engine->slots_used);
}

/* A stray has no flight, may still be solved, and can be found by its key. */
static void check_strays(const struct engine *engine)
{
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;) {
        const struct attempt *attempt = slab_get(&engine->attempts, id);
        ASSERT(attempt->flight == NULL || attempt->flight->attempt == attempt);
        ASSERT((attempt->flight == NULL) == (attempt->vigil != NULL));
        const struct vigil *vigil = attempt->vigil;
        ASSERT(vigil == NULL || (vigil->attempt == attempt && !list_is_empty(&vigil->link)));
        ASSERT((vigil != NULL && vigil->by_key.place != NULL) ==
               (attempt->is_stray || attempt->is_unheard));
        ASSERT(!attempt->is_unheard || (stray_is_unheard(attempt) && !attempt->is_stray));
        if (!attempt->is_stray)
            continue;
        ASSERT(attempt->flight == NULL && !attempt_is_over(attempt));
        ASSERT(vigil->expiry.is_armed);
    }
}

/* The state determines which values the other members may have. */
static void check_state(const struct attempt *attempt)
{
    const bool is_named = attempt->task_id != NULL;
    switch (attempt->state) {
    case ATTEMPT_SENT:
        ASSERT(!attempt->is_replied && !is_named);
        return;
    case ATTEMPT_AMBIGUOUS:
    case ATTEMPT_UNCONFIRMED:
        ASSERT(attempt->is_replied && !is_named);
        return;
    case ATTEMPT_WORKING:
        ASSERT(is_named);
        return;
    case ATTEMPT_VOID:
    case ATTEMPT_FAILED:
    case ATTEMPT_SOLVED:
        return;
    }
    UNREACHABLE();
}

/* An attempt with a partial answer polls for the rest, or waits for the submit's reply to do so. */
static void check_attempts(const struct engine *engine)
{
    for (slab_id id = 0; (id = slab_next(&engine->attempts, id)) != 0;) {
        const struct attempt *attempt = slab_get(&engine->attempts, id);
        const struct flight *flight = attempt->flight;
        check_state(attempt);
        if (!rest_is_due(attempt))
            continue;
        ASSERT(attempt->wants_rest && attempt->state != ATTEMPT_SOLVED);
        if (flight == NULL)
            ASSERT(attempt->is_polling || attempt->vigil->expiry.is_armed);
        else if (flight->state == FLIGHT_SOLVING)
            ASSERT(attempt->is_polling || flight->phase.is_armed);
        else
            ASSERT(flight->state == FLIGHT_SUBMITTING && !attempt->is_replied);
    }
}

static void check_requests(const struct engine *engine)
{
    uint32_t waiting = 0;
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;) {
        const struct request *request = slab_get(&engine->requests, id);
        waiting += request->flight != NULL;
        if (request->flight != NULL) {
            ASSERT(request->solution == NULL && request->error == NULL && !request->is_read);
            continue;
        }
        ASSERT((request->state == REQUEST_SOLVED) == (request->solution != NULL));
        ASSERT((request->state == REQUEST_FAILED) == (request->error != NULL));
        ASSERT(list_is_empty(&request->holds));
        ASSERT(request->expiry.is_armed);
    }
    ASSERT(engine->shares.read.total <= engine->options.max_finished);
    uint32_t by_client = 0;
    for (uint16_t i = 0; i < engine->client_count; i++)
        by_client += engine->clients[i].requests;
    ASSERT(waiting == by_client);

    /* The books balance: every request is somewhere. */
    const struct stats *s = &engine->stats;
    ASSERT(s->requests == s->answered_api + s->answered_dedup_wait + s->answered_dedup_cache +
                              s->answered_idempotent + s->answered_pool + s->failed + s->rejected +
                              s->detached + waiting);
}

/* The books balance for each client and type, too, and add up to the totals. */
static void check_tallies(const struct engine *engine)
{
    struct tally sum = {0};
    uint32_t *waiting = calloc((size_t)engine->client_count * TYPE_COUNT, sizeof *waiting);
    ASSERT(waiting != NULL);
    for (slab_id id = 0; (id = slab_next(&engine->requests, id)) != 0;) {
        const struct request *request = slab_get(&engine->requests, id);
        waiting[request->client * TYPE_COUNT + request->type] += request->flight != NULL;
    }
    for (size_t i = 0; i < (size_t)engine->client_count * TYPE_COUNT; i++) {
        const struct tally *t = tally_at(engine, ENGINE_SINCE_START, (client_id)(i / TYPE_COUNT),
                                         (enum type)(i % TYPE_COUNT));
        ASSERT(t->requests ==
               t->answered + t->deduplicated + t->failed + t->rejected + t->detached + waiting[i]);
#define TALLY_SUM(field, unit, metric, text) sum.field += t->field;
        TALLY_LIST(TALLY_SUM)
#undef TALLY_SUM
    }
    free(waiting);
    const struct stats *s = &engine->stats;
    ASSERT(sum.requests == s->requests && sum.requests_adopted == s->requests_adopted);
    ASSERT(sum.answered == s->answered_api);
    ASSERT(sum.failed == s->failed && sum.rejected == s->rejected && sum.detached == s->detached);
    ASSERT(sum.slot_ms_used == s->slot_ms_used && sum.slot_ms_saved == s->slot_ms_saved);
    ASSERT(sum.paid >= s->submits_accepted);
}

static void check_clients(const struct engine *engine)
{
    uint32_t queued = 0;
    uint32_t slots = 0;
    for (uint16_t i = 0; i < engine->client_count; i++) {
        const struct client *client = &engine->clients[i];
        uint32_t own = 0;
        for (int priority = 0; priority < PRIORITIES; priority++)
            own += (uint32_t)(list_length(&client->again[priority]) +
                              list_length(&client->queues[priority]));
        ASSERT(own == client->queued);
        /* After a restart a client may hold more slots than its limit; then it starts nothing. */
        ASSERT(client->options.slots == 0 || client->slots_used <= client->options.slots ||
               list_is_empty(&client->turn));
        /* A reload may lower the budget below the amount already spent or reserved. */
        ASSERT(client->reserved == 0 || engine->budgets != NULL ||
               client->spent + client->reserved <= client->budget_top);
        /* With a shared store, every unit was drawn, or nothing is started. */
        ASSERT(client->is_overdrawn == (engine->budgets != NULL && client->reserved > 0 &&
                                        client->spent + client->reserved > client->allowance));
        queued += own;
        slots += client->slots_used;
    }
    ASSERT(queued == engine->queued);
    ASSERT(slots == engine->slots_used);
    ASSERT(!engine->is_limit_cut || engine->limit_milli < (uint64_t)engine->slots_plan * 1000);
}

static void check_solutions(const struct engine *engine)
{
    for (slab_id id = 0; (id = slab_next(&engine->solutions, id)) != 0;) {
        const struct solution *solution = slab_get(&engine->solutions, id);
        ASSERT(solution->refs > 0);
        ASSERT(!solution->is_cached || !solution->is_bad);
    }
    ASSERT(engine->shares.cached.total <= engine->options.max_solutions);
    ASSERT(engine->shares.cached_bytes.total <= engine->options.max_solution_bytes);
}

/* Returns the letter's bytes. A letter that is retried automatically must be in the queue. */
static uint64_t check_letter(const struct engine *engine, const struct letter *letter)
{
    ASSERT(!letter->is_retried || (!list_is_empty(&letter->ride) && letter->flight == NULL));
    ASSERT(letter->retries <= letter->replays && letter->idle_ms <= engine->now_ms);
    return letter_bytes(letter);
}

static void check_bytes(const struct engine *engine)
{
    uint64_t of_letters = 0;
    for (slab_id id = 0; (id = slab_next(&engine->letters, id)) != 0;)
        of_letters += check_letter(engine, slab_get(&engine->letters, id));
    ASSERT(of_letters == engine->letter_bytes);
}

/* Each step does a bounded amount of work, and a flag or list records what is left for the next one. */
static void check_work(const struct engine *engine)
{
    uint32_t waits = 0;
    LIST_FOR_EACH(link, &engine->backing_off)
        waits += CONTAINER_OF(link, struct flight, link)->verdict == engine->verdict_number;
    ASSERT(waits == engine->verdict_waits);
    ASSERT(engine->work <= ENGINE_WORK_MOST);
    ASSERT(!engine->breaker.is_clearing || engine->breaker.state != BREAKER_CLOSED);
    ASSERT(engine->letter_job_count <= LETTER_JOBS);
    ASSERT(!engine->is_tallying || engine->options.has_journal);
}

void engine_check(const struct engine *engine)
{
    const struct slab *slabs[] = {&engine->requests, &engine->holds,     &engine->flights,
                                  &engine->attempts, &engine->solutions, &engine->idempotency,
                                  &engine->vigils};
    for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++)
        slab_check(slabs[i]);
    table_check(&engine->flights_by_key);
    table_check(&engine->flights_apart);
    numbers_check(&engine->requests_by_id);
    numbers_check(&engine->attempts_by_name);
    table_check(&engine->strays_by_key);
    table_check(&engine->unheard_by_key);
    table_check(&engine->solutions_by_key);
    table_check(&engine->idempotency_by_key);
    table_check(&engine->orphans_by_key);
    table_check(&engine->answers_by_key);
    wheel_check(&engine->wheel);
    check_flights(engine);
    check_strays(engine);
    check_attempts(engine);
    check_requests(engine);
    check_clients(engine);
    check_tallies(engine);
    check_solutions(engine);
    check_shares(engine);
    check_bytes(engine);
    check_work(engine);
    shadow_check(engine);
    pool_check(engine);
    oddity_check(engine);
    tasks_check(engine);
    journal_check(engine);
    unknown_check(engine);
    find_check(engine);
}
