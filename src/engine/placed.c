#include "engine/placed.h"

#include "engine/aside.h"
#include "engine/hold.h"
#include "engine/journal.h"
#include "engine/request.h"

/* A store that is away for a moment may be back this soon. */
#define STORE_RETRY_AFTER_MS 1000
/* Whoever asks only for an id has one in a moment, or is to ask again: it holds a connection, and its proxy and its own
 * client give up before a solve's deadline. */
#define ID_WITHIN_MS 10000

bool request_may_wait(const struct engine *engine, client_id client)
{
    return engine->holds.used < engine->holds.capacity &&
           share_admits(&engine->shares.holds, engine->client_count, client, 1);
}

void request_wait(struct engine *engine, struct request *request, const struct ask *ask)
{
    const bool is_brief = ask->is_id_told || ask->hold_ms == 0;
    const uint64_t brief_ms = request_must_wait(request) ? ID_WITHIN_MS : WHEEL_NEVER;
    struct hold *hold = hold_new(engine, request, ask->caller, is_brief ? brief_ms : ask->hold_ms);
    /* There was room when the request was placed. */
    ASSERT(hold != NULL);
    hold->is_id_only = ask->is_id_told;
    request->is_fresh = true;
    if (is_brief)
        list_append(&aside_of(engine, request->flight)->briefs, &hold->brief);
}

void flight_tell(struct engine *engine, struct flight *flight)
{
    if (flight_has_briefs(flight) && !flight_is_telling(flight))
        list_append(&engine->telling, &flight->aside->tell);
}

void flights_tell(struct engine *engine, uint32_t batch)
{
    while (batch > 0 && !list_is_empty(&engine->telling)) {
        struct aside *aside = CONTAINER_OF(list_first(&engine->telling), struct aside, tell);
        for (; batch > 0 && !list_is_empty(&aside->briefs); batch--) {
            struct hold *hold = CONTAINER_OF(list_first(&aside->briefs), struct hold, brief);
            struct request *request = hold->request;
            const caller_id caller = hold->by_caller.number;
            hold_free(engine, hold);
            request_answer(engine, request, caller);
        }
        if (list_is_empty(&aside->briefs))
            list_unlink(&aside->tell);
    }
}

static struct flight *refuse(struct engine *engine, struct request *request, enum refusal refusal,
                             struct slice code, uint32_t retry_after_ms)
{
    LIST_FOR_EACH(link, &request->holds)
        request_refuse(engine, CONTAINER_OF(link, struct hold, link)->by_caller.number, refusal,
                       code, retry_after_ms);
    COUNT(engine, rejected);
    TALLY(engine, request, rejected);
    TRACE(engine, "request refused: %s", refusal_text(refusal));
    return request_forget(engine, request);
}

void request_turn_away(struct engine *engine, struct request *request, const struct flight *flight)
{
    const struct slice code =
        flight->refusal == REFUSAL_BREAKER ? blob_slice(flight->error) : SLICE_NONE;
    (void)refuse(engine, request, flight->refusal, code, flight->retry_after_ms);
}

void request_give_up(struct engine *engine, struct request *request)
{
    struct flight *deserted =
        refuse(engine, request, REFUSAL_STORE_AWAY, SLICE_NONE, STORE_RETRY_AFTER_MS);
    if (deserted != NULL)
        flight_abandon(engine, deserted);
}

void request_move(struct engine *engine, struct request *request, struct flight *into)
{
    list_unlink(&request->link);
    /* Whoever was told that it waits is not refused later, even if the other flight is not claimed yet. */
    request->is_fresh &= request_must_wait(request);
    request->flight->request_count--;
    request->flight = into;
    list_append(&into->requests, &request->link);
    into->request_count++;
    engine->work++;
    /* The other flight's first request is the one that it is solved for. */
    if (request->source == SOURCE_API)
        request->source = SOURCE_DEDUP_WAIT;
    if (request->is_journaled)
        request_journal(engine, request);
}

void flight_set_source(struct engine *engine, struct flight *flight, enum source source)
{
    struct list *first = list_first(&flight->requests);
    if (first == NULL)
        return;
    struct request *request = CONTAINER_OF(first, struct request, link);
    request->is_replayed |= source == SOURCE_IDEMPOTENT;
    if (request->source == source || (request->source != SOURCE_API && source != SOURCE_IDEMPOTENT))
        return;
    request->source = source;
    if (request->is_journaled)
        journal_request(engine, request);
}
