#include "engine/vigil.h"

#include "engine/flight_name.h"
#include "engine/task.h"

static struct vigil *vigil_new(struct engine *engine, struct attempt *attempt)
{
    slab_id id;
    ASSERT(attempt->vigil == NULL && attempt->flight == NULL);
    struct vigil *vigil = slab_alloc(&engine->vigils, &id);
    /* There is a place for each attempt. */
    ASSERT(vigil != NULL);
    vigil->attempt = attempt;
    vigil->let_go_ms = engine->now_ms;
    list_init(&vigil->link);
    wheel_timer_init(&vigil->expiry, TIMER_ATTEMPT);
    attempt->vigil = vigil;
    return vigil;
}

void vigil_begin(struct engine *engine, struct attempt *attempt)
{
    const struct flight *flight = attempt->flight;
    task_keep(engine, attempt);
    attempt->flight = NULL;
    struct vigil *vigil = vigil_new(engine, attempt);
    vigil->by_key.key = flight->node.key;
    vigil->origin = attempt->is_disowned ? 0 : flight_id(engine, flight);
    vigil->flight_uid = flight->uid;
}

void vigil_begin_of_row(struct engine *engine, struct attempt *attempt,
                        const struct attempt_row *row)
{
    struct vigil *vigil = vigil_new(engine, attempt);
    vigil->by_key.key = row->key;
    vigil->flight_uid = row->flight;
}

void vigil_end(struct engine *engine, struct attempt *attempt)
{
    struct vigil *vigil = attempt->vigil;
    ASSERT(vigil->by_key.place == NULL && vigil->claim == 0);
    list_unlink(&vigil->link);
    wheel_cancel(&engine->wheel, &vigil->expiry);
    slab_free_item(&engine->vigils, vigil);
    attempt->vigil = NULL;
}

const struct key *attempt_key(const struct attempt *attempt)
{
    return attempt->flight != NULL ? &attempt->flight->node.key : &attempt->vigil->by_key.key;
}

uint64_t attempt_flight_uid(const struct attempt *attempt)
{
    return attempt->flight != NULL ? attempt->flight->uid : attempt->vigil->flight_uid;
}

struct flight *attempt_origin(const struct engine *engine, const struct attempt *attempt)
{
    if (attempt->is_disowned)
        return NULL;
    return attempt->flight != NULL ? attempt->flight
                                   : slab_get(&engine->flights, attempt->vigil->origin);
}
