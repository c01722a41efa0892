#include "engine/reclaim.h"

#include "engine/aside.h"
#include "engine/claim.h"
#include "engine/flight_name.h"
#include "engine/follow.h"
#include "engine/placed.h"
#include "engine/slots.h"
#include "engine/vigil.h"

/* Without reuse and idempotency key the store looks at nothing but the name. */
static void push(struct engine *engine, const struct key *name, uint64_t claim, client_id client,
                 slab_id ticket)
{
    struct claim *again = &engine_push(engine, ACTION_CLAIM)->claim;
    again->flight = claim;
    again->ticket = ticket;
    again->client = client;
    again->reuse = REUSE_NONE;
    again->key = *name;
    again->name = *name;
    again->has_name = true;
    again->is_held = true;
}

void reclaim_flight(struct engine *engine, struct flight *flight)
{
    if (flight_claim(flight) != 0)
        push(engine, claim_name_of(flight), flight_claim(flight), flight->client,
             flight_id(engine, flight));
}

void reclaim_stray(struct engine *engine, const struct attempt *attempt)
{
    const struct vigil *vigil = attempt->vigil;
    if (vigil != NULL && vigil->claim != 0)
        push(engine, &vigil->by_key.key, vigil->claim, attempt->client, 0);
}

/* Another one came first, because this node was late. What is submitted goes on, since it is paid for, and its release
 * will end nobody else's claim; the rest waits for that one. */
static void lose(struct engine *engine, struct flight *flight, const struct claimed *claimed)
{
    if (flight->state != FLIGHT_QUEUED || flight->attempts > 0)
        return;
    aside_of(engine, flight)->claim = 0;
    slots_unreserve(engine, flight);
    flight_set_source(engine, flight, SOURCE_DEDUP_WAIT);
    flight_enter(engine, flight, FLIGHT_FOLLOWING, engine->now_ms + FOLLOW_ASK_MS);
    aside_of(engine, flight)->followed = claimed->followed;
    flight->is_followed_solving = claimed->is_solving;
}

static bool has_stray(const struct engine *engine, const struct claimed *claimed)
{
    const struct table_node *node = table_find(&engine->strays_by_key, &claimed->name);
    while (node != NULL && CONTAINER_OF(node, const struct vigil, by_key)->claim != claimed->flight)
        node = table_find_next(node);
    return node != NULL;
}

/* A flight may ride on the stray by now. */
static bool has_flight(const struct table *flights, const struct claimed *claimed)
{
    const struct table_node *node = table_find(flights, &claimed->name);
    while (node != NULL &&
           flight_claim(CONTAINER_OF(node, const struct flight, node)) != claimed->flight)
        node = table_find_next(node);
    return node != NULL;
}

static bool has_heir(const struct engine *engine, const struct claimed *claimed)
{
    return has_stray(engine, claimed) || has_flight(&engine->flights_by_key, claimed) ||
           has_flight(&engine->flights_apart, claimed);
}

/* A flight may have ended meanwhile: then a stray has its claim, or who rides on that, or nobody. */
void reclaim_on_claimed(struct engine *engine, const struct claimed *claimed)
{
    struct flight *flight =
        claimed->ticket == 0 ? NULL : slab_get(&engine->flights, (slab_id)claimed->ticket);
    const bool is_flights = flight != NULL && flight_claim(flight) == claimed->flight;
    if (claimed->result == CLAIM_WON && !is_flights && !has_heir(engine, claimed))
        claim_release_lost(engine, &claimed->name, claimed->flight);
    if (claimed->result == CLAIM_FOLLOW && is_flights)
        lose(engine, flight, claimed);
}
