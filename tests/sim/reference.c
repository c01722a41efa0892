/* The slow model: every flight, request and held caller in plain arrays, compared with the engine after every step.
 * It decides by itself who joins whom and what state a flight is in. Where the engine may choose (a retry that the
 * budget may refuse, a timer with jitter) it knows the choices, and looks which one was taken. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define VIEWS 256

void reference_open(struct sim *sim)
{
    sim->reference = calloc(1, sizeof *sim->reference);
    ASSERT(sim->reference != NULL);
}

void reference_close(struct sim *sim)
{
    if (sim->reference == NULL)
        return;
    free(sim->reference->flights);
    free(sim->reference->requests);
    free(sim->reference->holds);
    free(sim->reference->bound);
    free(sim->reference);
    sim->reference = NULL;
}

/* ---- requests come and go -------------------------------------------------------------------------- */

static uint32_t new_flight(struct sim *sim, const struct ask *ask)
{
    struct reference *ref = sim->reference;
    ref->flights =
        array_grow(ref->flights, ref->flight_count, &ref->flight_room, sizeof *ref->flights);
    ref->flights[ref->flight_count] = (struct ref_flight){
        .is_live = true,
        .key = (uint32_t)ref_number_in(&ask->key) - 1,
        .client = ask->client,
        .reuse = ask->reuse,
        .priority = ask->priority < 9 ? ask->priority : 9,
        .created_ms = sim->now_ms,
        .deadline_ms = sim->now_ms + sim->plan.options.solve_timeout_ms,
        .token = MAP_NONE,
    };
    return (uint32_t)ref->flight_count++;
}

/* Whom it joins if it is taken and not answered from memory: its idempotency key's flight, the
 * flight of its key, one that lost its caller, or a new one. */
static void on_ask(struct sim *sim, const struct ask *ask)
{
    struct reference *ref = sim->reference;
    const uint64_t number = ask->has_idempotency ? ref_number_in(&ask->idempotency) : 0;
    const bool is_told = ask->is_id_told || ask->pingback != NULL;
    uint32_t flight = number == 0 ? MAP_NONE : *ref_binding(ref, number);
    if (flight != MAP_NONE && !ref->flights[flight].is_live)
        flight = MAP_NONE;
    if (flight == MAP_NONE && ask->reuse == REUSE_SHARED)
        flight = ref_shared_flight(ref, (uint32_t)ref_number_in(&ask->key) - 1);
    if (flight == MAP_NONE && ask->reuse == REUSE_SINGLE)
        flight = ref_deserted_flight(ref, (uint32_t)ref_number_in(&ask->key) - 1);
    ref->is_new = flight == MAP_NONE;
    ref->flight = ref->is_new ? new_flight(sim, ask) : flight;
    ref->requests =
        array_grow(ref->requests, ref->request_count, &ref->request_room, sizeof *ref->requests);
    ref->request = (uint32_t)ref->request_count++;
    ref->requests[ref->request] =
        (struct ref_request){.is_live = true, .flight = ref->flight, .is_told = is_told};
    ref->flights[ref->flight].requests++;
    ref->caller = ask->caller;
    ref->is_told = is_told;
    ref->number = number;
    if (number == 0)
        return;
    ref->bound_old = *ref_binding(ref, number);
    *ref_binding(ref, number) = ref->flight;
}

/* Without requests a flight ends, unless it is at the vendor. */
static void remove_request(struct reference *ref, uint32_t place)
{
    struct ref_request *request = &ref->requests[place];
    struct ref_flight *flight = &ref->flights[request->flight];
    request->is_live = false;
    flight->requests--;
    if (flight->requests == 0 && (flight->phase == QUEUED || flight->phase == BACKING_OFF))
        flight->must_end = true;
}

static void drop_hold(struct reference *ref, size_t place)
{
    ref->holds[place] = ref->holds[--ref->hold_count];
}

static void on_gone(struct reference *ref, caller_id caller)
{
    for (size_t i = 0; i < ref->hold_count; i++) {
        const uint32_t request = ref->holds[i].request;
        if (ref->holds[i].caller != caller)
            continue;
        drop_hold(ref, i);
        if (!ref->requests[request].is_told && ref_holds_of(ref, request) == 0)
            remove_request(ref, request);
        return;
    }
}

/* ---- flights move -------------------------------------------------------------------------------------- */

static uint16_t most_tries(const struct sim *sim, enum class class)
{
    const struct engine_options *options = &sim->plan.options;
    const uint16_t most[CLASS_COUNT] = {
        [CLASS_NONE] = UINT16_MAX, /* it was taken back */
        [CLASS_BUSY] = options->retry_busy,
        [CLASS_UNSOLVABLE] = options->retry_unsolvable,
        [CLASS_TRANSIENT] = options->retry_transient,
        [CLASS_UNKNOWN] = options->retry_unknown,
    };
    return most[class];
}

/* What is over may be tried again: as often as its class allows, if anybody waits. */
static void try_again(const struct sim *sim, struct ref_flight *flight,
                      const struct vendor_result *result)
{
    enum class class = result->class;
    if (class == CLASS_ACCOUNT && strcmp(result->code, "ERROR_ZERO_BALANCE") == 0)
        class = CLASS_BUSY;
    flight->attempt = 0;
    flight->must_end = flight->requests == 0 || flight->tries[class]++ >= most_tries(sim, class);
    flight->may_end = class != CLASS_NONE;
    flight->phase = class == CLASS_UNSOLVABLE || class == CLASS_NONE ? QUEUED : BACKING_OFF;
}

/* An account out of order ends everything that is not at the vendor. */
static void unsettle(struct reference *ref)
{
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        flight->may_end |= flight->phase == QUEUED || flight->phase == BACKING_OFF;
    }
}

/* A solution that comes late is for the flight that made it, or for one that waits for the same. */
static void may_be_solved(const struct sim *sim, const struct vendor_result *result)
{
    struct reference *ref = sim->reference;
    const struct submit *submit = &sim->submits[map_get(&sim->submit_by_name, result->attempt)];
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        flight->may_end |= flight->key == submit->key &&
                           (flight->uid == submit->flight || flight->reuse == REUSE_SHARED);
    }
}

static void on_result(const struct sim *sim, const struct event *event)
{
    struct reference *ref = sim->reference;
    const struct vendor_result *result = &event->result;
    const uint32_t place = ref_flight_of_attempt(ref, result->attempt);
    struct ref_flight *flight = place == MAP_NONE ? NULL : &ref->flights[place];
    if (result->class == CLASS_ACCOUNT)
        unsettle(ref);
    if (result->outcome == OUTCOME_SOLVED) {
        may_be_solved(sim, result);
        if (flight != NULL && result->task_id[0] != 'D') {
            flight->must_end = true;
            flight->token = token_of(sim, blob_slice(result->text));
        }
    } else if (flight == NULL) {
        return;
    } else if (event->kind == EVENT_SUBMITTED && result->outcome == OUTCOME_ACCEPTED) {
        flight->phase = SOLVING;
    } else if (event->kind == EVENT_SUBMITTED && result->outcome == OUTCOME_AMBIGUOUS) {
        flight->phase = flight->is_named ? SOLVING : AMBIGUOUS;
        flight->window_ms = flight->started_ms + sim->plan.options.ambiguity_window_ms;
    } else if (event->kind == EVENT_SUBMITTED || result->outcome == OUTCOME_FAILED) {
        try_again(sim, flight, result);
    } else if (event->kind == EVENT_CALLBACK && result->task_id[0] != '\0') {
        flight->is_named = true;
        flight->phase = flight->phase == AMBIGUOUS ? SOLVING : flight->phase;
    }
}

static void on_tick(const struct sim *sim)
{
    struct reference *ref = sim->reference;
    const struct engine_options *options = &sim->plan.options;
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        flight->must_end |= flight->deadline_ms <= sim->now_ms;
        flight->may_queue |= flight->phase == BACKING_OFF;
        if (flight->phase != AMBIGUOUS || flight->window_ms > sim->now_ms)
            continue;
        flight->attempt = 0;
        flight->phase = QUEUED;
        flight->may_end = true;
        flight->must_end |= flight->requests == 0 || !options->resend_ambiguous;
    }
}

void reference_event(struct sim *sim, const struct event *event)
{
    struct reference *ref = sim->reference;
    if (ref->is_lost)
        return;
    ref->caller = 0;
    ref->is_over = ref->is_new = false;
    ref->flight = MAP_NONE;
    if (event->kind == EVENT_ASK) {
        on_ask(sim, &event->ask);
    } else if (event->kind == EVENT_LOOK) {
        ref->request = ref_request_of_id(ref, event->look.id);
        ref->caller = event->look.caller;
    } else if (event->kind == EVENT_DETACH) {
        const uint32_t request = ref_request_of_id(ref, event->detach.id);
        if (request != MAP_NONE)
            remove_request(ref, request);
    } else if (event->kind == EVENT_GONE) {
        on_gone(ref, event->gone);
    } else if (event->kind == EVENT_TICK) {
        on_tick(sim);
    } else if (event->kind == EVENT_PROBED) {
        unsettle(ref);
    } else if (event->kind == EVENT_SUBMITTED || event->kind == EVENT_POLLED ||
               event->kind == EVENT_CALLBACK) {
        on_result(sim, event);
    }
}

/* ---- what the engine does --------------------------------------------------------------------------------- */

/* A flight gets its name with its first row. */
static void bind_row(struct sim *sim, const struct flight_row *row)
{
    struct reference *ref = sim->reference;
    const uint32_t key = (uint32_t)ref_number_in(&row->key) - 1;
    const uint64_t created_ms =
        (uint64_t)((int64_t)sim->now_ms + row->created_wall_ms - sim_wall_ms(sim));
    if (ref->is_new && ref->is_told && !ref->is_over && ref->flights[ref->flight].uid == 0) {
        ref->flights[ref->flight].uid = row->id;
        return;
    }
    for (size_t i = 0; i < ref->flight_count; i++)
        if (ref->flights[i].is_live && ref->flights[i].uid == row->id)
            return;
    struct ref_flight *found = NULL;
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->uid != 0 || flight->key != key ||
            flight->reuse != row->reuse || flight->client != row->client ||
            flight->priority != row->priority || flight->created_ms != created_ms)
            continue;
        /* Two that were born alike in the same millisecond: nobody can tell which is which. */
        ref->is_lost |= found != NULL;
        found = flight;
    }
    CHECK(sim, found != NULL || row->is_over);
    if (found != NULL)
        found->uid = row->id;
}

static void on_submit(struct sim *sim, const struct call *call)
{
    struct reference *ref = sim->reference;
    CHECK(sim, ref->intent == call->attempt);
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->uid != ref->intent_flight)
            continue;
        CHECK(sim, flight->phase == QUEUED || (flight->may_queue && flight->phase == BACKING_OFF));
        CHECK(sim, !flight->must_end);
        flight->phase = SUBMITTING;
        flight->may_queue = flight->may_end = false;
        flight->attempts++;
        flight->is_named = false;
        flight->attempt = call->attempt;
        flight->started_ms = sim->now_ms;
        return;
    }
    sim_fail(sim, "a submit is for a flight that exists", __FILE__, __LINE__);
}

static void on_answer(struct sim *sim, const struct answer *answer)
{
    struct reference *ref = sim->reference;
    const bool is_final = answer->refusal != REFUSAL_NONE || answer->state == REQUEST_SOLVED ||
                          answer->state == REQUEST_FAILED;
    uint32_t request = MAP_NONE;
    for (size_t i = 0; i < ref->hold_count && request == MAP_NONE; i++) {
        if (ref->holds[i].caller != answer->caller)
            continue;
        request = ref->holds[i].request;
        drop_hold(ref, i);
    }
    if (request == MAP_NONE && answer->caller == ref->caller) {
        ref->is_over = is_final;
        ref->is_refused = answer->refusal != REFUSAL_NONE;
        request = is_final ? MAP_NONE : ref->request;
    }
    if (request == MAP_NONE)
        return;
    struct ref_request *told = &ref->requests[request];
    const struct ref_flight *flight = &ref->flights[told->flight];
    /* Who waits for a flight gets exactly what ended it. */
    CHECK(sim, !is_final || flight->may_end || flight->must_end);
    if (is_final && flight->token != MAP_NONE)
        CHECK(sim,
              answer->text != NULL && token_of(sim, blob_slice(answer->text)) == flight->token);
    CHECK(sim, told->id == 0 || told->id == answer->id);
    told->id = answer->id;
    told->is_told = true;
}

void reference_action(struct sim *sim, const struct action *action)
{
    const struct record *record = &action->record;
    if (sim->reference->is_lost)
        return;
    if (action->kind == ACTION_ANSWER) {
        on_answer(sim, &action->answer);
    } else if (action->kind == ACTION_SUBMIT) {
        on_submit(sim, &action->call);
    } else if (action->kind == ACTION_JOURNAL && !record->is_drop) {
        if (record->kind == RECORD_FLIGHT)
            bind_row(sim, &record->flight);
        if (record->kind == RECORD_ATTEMPT) {
            sim->reference->intent = record->attempt.name;
            sim->reference->intent_flight = record->attempt.flight;
        }
    }
}

/* ---- comparing --------------------------------------------------------------------------------------------- */

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

static void claim_all(struct sim *sim, bool may_end, bool may_queue, struct flight_view *views,
                      size_t *count)
{
    struct reference *ref = sim->reference;
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->must_end || flight->is_matched ||
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
    for (size_t i = 0; i < ref->flight_count; i++)
        ref->flights[i].may_end = ref->flights[i].may_queue = false;
    bury(ref);
}
