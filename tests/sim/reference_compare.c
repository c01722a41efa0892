/* The slow model after each step, compared with the engine. */
#include "reference.h"

#include <string.h>

#define VIEWS 256

/* The ask was refused or answered from memory, or its caller waits now. */
static void settle_caller(struct sim *sim)
{
    struct reference *ref = sim->reference;
    if (ref->caller == 0)
        return;
    if (ref->is_over && ref->flight != MAP_NONE) {
        struct ref_flight *flight = &ref->flights[ref->flight];
        CHECK(sim, !ref->is_new || flight->attempts == 0);
        ref->requests[ref->request].is_live = false;
        flight->requests--;
        flight->is_live = !ref->is_new;
        if (ref->number != 0)
            *ref_binding(ref, ref->number) = ref->is_refused ? ref->bound_old : MAP_NONE;
    }
    if (sim->callers[ref->caller - 1].state != CALLER_OPEN)
        return;
    CHECK(sim, ref->request != MAP_NONE && ref->requests[ref->request].is_live);
    ref->holds = array_grow(ref->holds, ref->hold_count, &ref->hold_room, sizeof *ref->holds);
    ref->holds[ref->hold_count++] =
        (struct ref_hold){.caller = ref->caller, .request = ref->request};
}

static bool fits(const struct sim *sim, const struct ref_flight *flight, enum phase phase,
                 const struct flight_view *view)
{
    static const char *const words[] = {"queued", "submitting", "ambiguous", "solving",
                                        "backing_off"};
    return view->reuse == flight->reuse && view->client == flight->client &&
           view->requests == flight->requests && view->attempts == flight->attempts &&
           key_equals(&view->key, &sim->keys[flight->key]) &&
           strcmp(view->phase, words[phase]) == 0;
}

/* Finds it among those that nobody claimed yet, and claims it. */
static bool claim(const struct sim *sim, struct ref_flight *flight, enum phase phase,
                  struct flight_view *views, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        if (!fits(sim, flight, phase, &views[i]))
            continue;
        views[i] = views[--*count];
        flight->phase = phase;
        flight->is_matched = true;
        return true;
    }
    return false;
}

/* Its requests end with it, and whoever was held has been told. */
static void end(struct sim *sim, uint32_t place)
{
    struct reference *ref = sim->reference;
    ref->flights[place].is_live = false;
    trace_note(sim, "the model ends flight %llx of key %u",
               (unsigned long long)ref->flights[place].uid, ref->flights[place].key);
    for (uint32_t i = 0; i < ref->request_count; i++) {
        if (!ref->requests[i].is_live || ref->requests[i].flight != place)
            continue;
        CHECK(sim, ref_holds_of(ref, i) == 0);
        ref->requests[i].is_live = false;
    }
}

/* Two that look alike, and a timer may have moved one of them, or one of them ended: nobody can tell which. */
static bool has_twin(const struct reference *ref, const struct ref_flight *flight, bool is_gone)
{
    for (size_t i = 0; i < ref->flight_count; i++) {
        const struct ref_flight *twin = &ref->flights[i];
        if (twin != flight && twin->is_live && twin->key == flight->key &&
            (is_gone ? twin->is_matched && twin->may_end : twin->may_queue) &&
            twin->reuse == flight->reuse && twin->client == flight->client &&
            twin->requests == flight->requests && twin->attempts == flight->attempts)
            return true;
    }
    return false;
}

static void end_unmatched(struct sim *sim, uint32_t place)
{
    const struct ref_flight *flight = &sim->reference->flights[place];
    sim->reference->is_lost |= !flight->must_end && has_twin(sim->reference, flight, true);
    if (sim->reference->is_lost)
        return;
    if (!flight->must_end && !flight->may_end)
        trace_note(sim, "the engine has no flight of key %u, phase %d, %u requests, %u attempts",
                   flight->key, (int)flight->phase, flight->requests, flight->attempts);
    CHECK(sim, flight->must_end || flight->may_end);
    end(sim, place);
}

/* Last of all, since the state of what it took over is the engine's to tell. */
static void claim_boarded(struct sim *sim, struct flight_view *views, size_t *count)
{
    static const enum phase boarded[] = {SUBMITTING, AMBIGUOUS, SOLVING};
    struct reference *ref = sim->reference;
    for (size_t place = 0; place < ref->flight_count; place++) {
        struct ref_flight *flight = &ref->flights[place];
        if (!flight->is_live || flight->must_end || flight->is_matched || flight->boards == 0)
            continue;
        for (size_t i = 0; i < sizeof boarded / sizeof boarded[0] && !flight->is_matched; i++)
            (void)claim(sim, flight, boarded[i], views, count);
        if (flight->is_matched)
            flight->attempt = flight->boards;
    }
}

static void claim_all(struct sim *sim, bool may_end, bool may_queue, struct flight_view *views,
                      size_t *count)
{
    struct reference *ref = sim->reference;
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->must_end || flight->is_matched || flight->must_board ||
            flight->may_end != may_end || (may_queue && !flight->may_queue))
            continue;
        ref->is_lost |= may_queue && has_twin(ref, flight, false);
        (void)claim(sim, flight, may_queue ? QUEUED : flight->phase, views, count);
    }
}

/* First those that must be exactly where the model has them, last those that may have ended: many
 * look alike. */
static void match(struct sim *sim, struct flight_view *views, size_t *count)
{
    struct reference *ref = sim->reference;
    for (size_t i = 0; i < ref->flight_count; i++)
        ref->flights[i].is_matched = false;
    claim_all(sim, false, false, views, count);
    claim_all(sim, false, true, views, count);
    claim_all(sim, true, false, views, count);
    claim_all(sim, true, true, views, count);
    claim_boarded(sim, views, count);
    for (uint32_t i = 0; i < ref->flight_count; i++)
        if (ref->flights[i].is_live && !ref->flights[i].is_matched)
            end_unmatched(sim, i);
}

/* The dead are in the way of the slow. */
static void bury(struct reference *ref)
{
    while (ref->flight_count > 0 && !ref->flights[ref->flight_count - 1].is_live)
        ref->flight_count--;
    for (size_t i = 0; i < ref->bound_count; i++)
        if (ref->bound[i] != MAP_NONE &&
            (ref->bound[i] >= ref->flight_count || !ref->flights[ref->bound[i]].is_live))
            ref->bound[i] = MAP_NONE;
    while (ref->request_count > 0 && !ref->requests[ref->request_count - 1].is_live)
        ref->request_count--;
}

void reference_compare(struct sim *sim)
{
    struct reference *ref = sim->reference;
    struct flight_view views[VIEWS];
    uint64_t cursor = 0;
    if (ref->is_lost)
        return;
    settle_caller(sim);
    size_t count = engine_list_flights(sim->engine, 0, &cursor, views, VIEWS);
    ASSERT(cursor == 0);
    match(sim, views, &count);
    if (ref->is_lost)
        return;
    /* Nothing is under way that the model does not know of. */
    CHECK(sim, count == 0);
    struct gauges gauges;
    engine_gauges(sim->engine, &gauges);
    uint32_t waiting = 0;
    for (size_t i = 0; i < ref->flight_count; i++)
        waiting += ref->flights[i].is_live ? ref->flights[i].requests : 0;
    CHECK(sim, gauges.waiting == waiting);
    CHECK(sim, gauges.callers == ref->hold_count);
    for (size_t i = 0; i < ref->flight_count; i++) {
        ref->flights[i].may_end = ref->flights[i].may_queue = ref->flights[i].must_board = false;
        ref->flights[i].boards = 0;
    }
    bury(ref);
}
