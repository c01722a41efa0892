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

static uint16_t most_tries(const struct sim *sim, enum error_class class)
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

/* It waits for a task that another one paid for. */
static bool is_riding(const struct ref_flight *flight)
{
    return flight->attempt != 0 && flight->started_ms < flight->created_ms;
}

/* What it rode on came to nothing, and its own first attempt is still to come. */
static void go_on_alone(struct ref_flight *flight)
{
    flight->attempt = 0;
    flight->phase = QUEUED;
    flight->may_end = true;
    flight->must_end |= flight->requests == 0;
}

static void uncount(struct ref_flight *flight, uint16_t number)
{
    flight->attempts = flight->attempts_before;
    if (flight->attempts < number - 1)
        flight->attempts = (uint16_t)(number - 1);
}

/* What is over may be tried again: as often as its class allows, if anybody waits. */
static void try_again(const struct sim *sim, struct ref_flight *flight,
                      const struct vendor_result *result)
{
    enum error_class class = result->class;
    const uint16_t number = sim->submits[map_get(&sim->submit_by_name, result->attempt)].number;
    if (is_riding(flight) &&
        (class == CLASS_UNSOLVABLE || class == CLASS_TRANSIENT || class == CLASS_UNKNOWN)) {
        go_on_alone(flight);
        return;
    }
    if (class == CLASS_ACCOUNT && result->is_short)
        class = CLASS_BUSY;
    flight->attempt = 0;
    /* Taken back, it was never tried. */
    if (result->outcome == OUTCOME_WITHDRAWN)
        uncount(flight, number);
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

/* The text of an answer that is more. A second task is the first that is heard of where none has a name yet. */
static bool is_part(const struct ref_flight *flight, const struct event *event)
{
    const struct vendor_result *result = &event->result;
    const bool is_nameless =
        !flight->is_named && (flight->phase == SUBMITTING || flight->phase == AMBIGUOUS);
    return sim_wants_rest(flight->key) && event->kind == EVENT_CALLBACK &&
           result->outcome == OUTCOME_SOLVED && (result->task_id[0] != 'D' || is_nameless);
}

/* From then on it ends with the rest, or, after some questions, without; only a rider is ever tried again. */
static void on_part(const struct sim *sim, struct ref_flight *flight, const struct event *event)
{
    const bool has_all = event->kind == EVENT_POLLED && event->result.outcome == OUTCOME_SOLVED;
    if (has_all)
        may_be_solved(sim, &event->result);
    /* It may be too old for whoever rides. */
    if (has_all && is_riding(flight)) {
        flight->is_partial = false;
        go_on_alone(flight);
        return;
    }
    flight->is_partial = true;
    flight->may_end = true;
    flight->must_end |= has_all;
    if (flight->phase == AMBIGUOUS || event->kind == EVENT_SUBMITTED)
        flight->phase = SOLVING;
}

static void on_result(const struct sim *sim, const struct event *event)
{
    struct reference *ref = sim->reference;
    const struct vendor_result *result = &event->result;
    const uint32_t place = ref_flight_of_attempt(ref, result->attempt);
    struct ref_flight *flight = place == MAP_NONE ? NULL : &ref->flights[place];
    if (result->class == CLASS_ACCOUNT)
        unsettle(ref);
    if (flight != NULL && (flight->is_partial || is_part(flight, event))) {
        on_part(sim, flight, event);
        return;
    }
    if (result->outcome == OUTCOME_SOLVED) {
        may_be_solved(sim, result);
        if (flight != NULL && result->task_id[0] != 'D') {
            /* It may be too old for whoever rides. */
            if (is_riding(flight)) {
                go_on_alone(flight);
                return;
            }
            flight->must_end = true;
            flight->token = token_of(sim, blob_slice(result->text));
        }
    } else if (flight == NULL) {
        return;
    } else if (event->kind == EVENT_POLLED && result->outcome != OUTCOME_FAILED) {
        const uint64_t life_ms =
            flight->started_ms + UINT64_C(2) * sim->plan.options.solve_timeout_ms;
        if (is_riding(flight) && sim->now_ms >= life_ms)
            go_on_alone(flight);
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
    struct submit *submit = &sim->submits[map_get(&sim->submit_by_name, call->attempt)];
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->uid != ref->intent_flight)
            continue;
        CHECK(sim, flight->phase == QUEUED || (flight->may_queue && flight->phase == BACKING_OFF));
        CHECK(sim, !flight->must_end);
        flight->phase = SUBMITTING;
        flight->may_queue = flight->may_end = false;
        /* What nobody heard of counts, also when the flight that sent it is over. */
        CHECK(sim, flight->attempts == 0 || ref->intent_number == flight->attempts + 1);
        flight->attempts_before = flight->attempts;
        flight->attempts = ref->intent_number;
        flight->is_named = false;
        flight->attempt = call->attempt;
        flight->started_ms = sim->now_ms;
        submit->model_flight = flight->uid;
        submit->number = flight->attempts;
        return;
    }
    sim_fail(sim, "a submit is for a flight that exists", __FILE__, __LINE__);
}

static void board(struct sim *sim, struct ref_flight *flight, const struct attempt_row *row)
{
    const struct submit *submit = &sim->submits[map_get(&sim->submit_by_name, row->name)];
    flight->boards = row->name;
    flight->is_named = row->task_id[0] != '\0';
    flight->started_ms = submit->issued_ms;
    flight->window_ms = submit->issued_ms + sim->plan.options.ambiguity_window_ms;
    flight->attempts_before = flight->attempts;
    if (flight->attempts < submit->number)
        flight->attempts = submit->number;
}

/* A row that gives an attempt to another flight: that one rides on it. One of its own that it had given up looks
 * the same as when it is given up. */
static void on_attempt_row(struct sim *sim, const struct attempt_row *row)
{
    struct reference *ref = sim->reference;
    const uint32_t place = map_get(&sim->submit_by_name, row->name);
    ref->intent = row->name;
    ref->intent_flight = row->flight;
    ref->intent_number = row->number;
    if (place == MAP_NONE || !sim->submits[place].is_issued)
        return;
    const bool is_new = sim->submits[place].model_flight != row->flight;
    sim->submits[place].model_flight = row->flight;
    for (size_t i = 0; i < ref->flight_count; i++) {
        struct ref_flight *flight = &ref->flights[i];
        if (!flight->is_live || flight->uid != row->flight)
            continue;
        const bool is_free = flight->attempt == 0 && (flight->phase == QUEUED || flight->may_queue);
        CHECK(sim, !is_new || (is_free && flight->reuse != REUSE_NONE));
        flight->must_board = is_new;
        if (is_free)
            board(sim, flight, row);
    }
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
        if (record->kind == RECORD_ATTEMPT)
            on_attempt_row(sim, &record->attempt);
    }
}
