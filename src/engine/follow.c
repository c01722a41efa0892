#include "engine/follow.h"

#include "engine/aside.h"
#include "engine/claim.h"
#include "engine/idempotency.h"
#include "engine/journal.h"
#include "engine/placed.h"
#include "engine/request.h"

void follow_begin(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    const uint64_t again_ms = engine->now_ms + FOLLOW_ASK_MS;
    flight->aside->followed = claimed->followed;
    flight->is_followed_solving = claimed->is_solving;
    if (flight->state == FLIGHT_CLAIMING)
        flight_enter(engine, flight, FLIGHT_FOLLOWING, again_ms);
    else
        wheel_arm(&engine->wheel, &flight->phase, again_ms);
    /* The end may have come between the store's answer and now. */
    if (flight->is_woken)
        claim_send_again(engine, flight);
}

static void wake(struct engine *engine, struct flight *flight)
{
    if (flight->state != FLIGHT_FOLLOWING && flight->state != FLIGHT_CLAIMING)
        return;
    flight->is_woken = true;
    /* An answer that is on its way may be older than the end. */
    if (flight->state == FLIGHT_FOLLOWING && !flight->is_asking) {
        wheel_cancel(&engine->wheel, &flight->phase);
        claim_send_again(engine, flight);
    }
}

void follow_on_woken(struct engine *engine, const struct key *name)
{
    for (struct table_node *node = table_find(&engine->flights_by_key, name); node != NULL;
         node = table_find_next(node)) {
        struct flight *flight = CONTAINER_OF(node, struct flight, node);
        if (flight->reuse == REUSE_SHARED)
            wake(engine, flight);
    }
    for (struct table_node *node = table_find(&engine->idempotency_by_key, name); node != NULL;
         node = table_find_next(node)) {
        struct flight *flight = CONTAINER_OF(node, struct idempotency, node)->flight;
        if (flight != NULL)
            wake(engine, flight);
    }
}

static void move_letters(struct engine *engine, struct flight *from, struct flight *into)
{
    while (flight_has_letters(from)) {
        struct list *link = list_first(&from->aside->letters);
        CONTAINER_OF(link, struct letter, ride)->flight = into;
        list_unlink(link);
        list_append(&aside_of(engine, into)->letters, link);
    }
}

void follow_merge(struct engine *engine, struct flight *from, struct flight *into)
{
    TRACE(engine, "flight %u goes on as flight %u", from->number, into->number);
    LIST_FOR_EACH_SAFE(link, &from->requests)
        request_move(engine, CONTAINER_OF(link, struct request, link), into);
    idempotency_move(engine, from, into);
    move_letters(engine, from, into);
    struct aside *aside = aside_of(engine, from);
    list_splice(&aside_of(engine, into)->briefs, &aside->briefs);
    /* Those who came may want a fresher solution than the claim under way. One that is being restored, or has ended,
     * tells them how it goes on. */
    if (into->state == FLIGHT_CLAIMING)
        claim_on_joined(
            into, &(struct ask){.min_ttl_ms = aside->min_ttl_ms, .max_age_ms = aside->max_age_ms});
    else if (into->state != FLIGHT_NEW && into->state < FLIGHT_SOLVED)
        flight_tell(engine, into);
    flight_dismiss(engine, from);
}
