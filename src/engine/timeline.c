#include <solvegate/timeline.h>

#include "engine/state.h"
#include "engine/vigil.h"

/* Places of flights looked at: 0.2 us each with sanitizers. A whole key is found without that. */
#define FLIGHT_LOOKS 32768
#define LETTER_LOOKS 4096
/* Requests looked at for those of a client. */
#define REQUEST_LOOKS 16384
/* Digits of a key. */
#define WHOLE_KEY (2 * (size_t)KEY_BYTES)

/* What all functions here need. */
struct glance {
    const struct engine *engine;
    const struct key_prefix *prefix;
    const struct onlooker *onlooker;
    uint64_t now_ms;
    uint32_t request_looks; /* left, for finding flights that the onlooker joined */
    const struct flight *oldest[TIMELINE_FLIGHTS];
    struct key_view *view;
};

static bool key_begins(const struct key *key, const struct key_prefix *prefix)
{
    const size_t whole = prefix->digits / 2;
    if (memcmp(key->bytes, prefix->key.bytes, whole) != 0)
        return false;
    return prefix->digits % 2 == 0 || key->bytes[whole] >> 4 == prefix->key.bytes[whole] >> 4;
}

/* By the clock of people, as it is set now. */
static int64_t wall_of(const struct engine *engine, uint64_t at_ms)
{
    return at_ms == 0 ? 0 : engine->wall_ms - (int64_t)(engine->now_ms - at_ms);
}

static uint64_t since(const struct glance *glance, uint64_t at_ms)
{
    return glance->now_ms > at_ms ? glance->now_ms - at_ms : 0;
}

static uint64_t until(const struct glance *glance, uint64_t at_ms)
{
    return at_ms > glance->now_ms ? at_ms - glance->now_ms : 0;
}

static bool is_own(const struct glance *glance, client_id client)
{
    return glance->onlooker->sees_all || client == glance->onlooker->client;
}

/* ---- attempts ---------------------------------------------------------------------------- */

static const char *attempt_state_name(enum attempt_state state)
{
    static const char *const names[] = {
        [ATTEMPT_SENT] = "sent",
        [ATTEMPT_AMBIGUOUS] = "ambiguous",
        [ATTEMPT_UNCONFIRMED] = "unconfirmed",
        [ATTEMPT_WORKING] = "working",
        [ATTEMPT_VOID] = "void",
        [ATTEMPT_FAILED] = "failed",
        [ATTEMPT_SOLVED] = "solved",
    };
    return names[state];
}

static struct timeline_attempt view_attempt(const struct glance *glance,
                                            const struct attempt *attempt)
{
    const bool is_named = attempt->task_id != NULL;
    return (struct timeline_attempt){
        .state = attempt_state_name(attempt->state),
        .started_wall_ms = wall_of(glance->engine, attempt->started_ms),
        .accepted_wall_ms = is_named ? wall_of(glance->engine, attempt->accepted_ms) : 0,
        .asked_wall_ms = wall_of(glance->engine, attempt->asked_ms),
        .took_ms = since(glance, attempt->started_ms),
        .task_id = blob_slice(attempt->task_id),
    };
}

static struct timeline_attempt view_note(const struct attempt_note *note)
{
    return (struct timeline_attempt){
        .state = note->class == CLASS_AMBIGUOUS ? "unconfirmed" : "failed",
        .started_wall_ms = note->wall_ms,
        .took_ms = note->took_ms,
        .class = note->class,
        .code = blob_slice(note->code),
        .task_id = note->task_id == NULL ? SLICE_NONE : blob_slice(note->task_id),
    };
}

static void view_attempts(const struct glance *glance, const struct flight *flight,
                          struct timeline *timeline)
{
    const size_t notes = flight->history == NULL ? 0 : flight->history->count;
    for (size_t i = 0; i < notes; i++)
        timeline->attempts[timeline->attempt_count++] = view_note(&flight->history->notes[i]);
    if (flight->attempt != NULL)
        timeline->attempts[timeline->attempt_count++] = view_attempt(glance, flight->attempt);
}

/* ---- flights ----------------------------------------------------------------------------- */

static void view_requests(const struct glance *glance, const struct flight *flight,
                          struct timeline *timeline)
{
    uint32_t looks = REQUEST_LOOKS;
    for (const struct list *link = flight->requests.next; link != &flight->requests && looks > 0;
         link = link->next, looks--) {
        const struct request *request = CONTAINER_OF(link, struct request, link);
        if (!is_own(glance, request->client))
            continue;
        timeline->request_count++;
        if (timeline->request_shown < TIMELINE_REQUESTS)
            timeline->requests[timeline->request_shown++] = (struct timeline_request){
                .id = request->by_id.number,
                .client = request->client,
                .is_held = !list_is_empty(&request->holds),
            };
    }
    if (glance->onlooker->sees_all)
        timeline->request_count = flight->request_count;
}

static const char *next_step(enum flight_state state)
{
    switch (state) {
    case FLIGHT_SOLVING:
        return "poll";
    case FLIGHT_BACKING_OFF:
        return "retry";
    case FLIGHT_AMBIGUOUS:
        return "give_up_reply";
    case FLIGHT_CLAIMING:
    case FLIGHT_FOLLOWING:
        return "ask_store";
    case FLIGHT_NEW:
    case FLIGHT_QUEUED:
    case FLIGHT_SUBMITTING:
    case FLIGHT_SOLVED:
    case FLIGHT_FAILED:
    case FLIGHT_STATE_COUNT:
        break;
    }
    return NULL;
}

static void view_times(const struct glance *glance, const struct flight *flight,
                       struct timeline *timeline)
{
    const struct engine *const engine = glance->engine;
    timeline->created_wall_ms = wall_of(engine, flight->created_ms);
    timeline->age_ms = since(glance, flight->created_ms);
    if (flight->state == FLIGHT_QUEUED)
        timeline->queued_wall_ms = wall_of(engine, flight->queued_ms);
    if (flight->holds_slot)
        timeline->slot_wall_ms = wall_of(engine, flight->slot_since_ms);
    if (flight->deadline.is_armed)
        timeline->deadline_in_ms = until(glance, flight->deadline.due_ms);
    if (!flight->phase.is_armed)
        return;
    timeline->next = next_step(flight->state);
    timeline->next_in_ms = until(glance, flight->phase.due_ms);
}

static void view_flight(const struct glance *glance, const struct flight *flight,
                        struct timeline *timeline)
{
    *timeline = (struct timeline){
        .state = flight_state_name(flight->state),
        .is_elsewhere = flight->state == FLIGHT_CLAIMING || flight->state == FLIGHT_FOLLOWING,
        .client = flight->client,
        .type = flight->type,
        .dialect = flight->dialect,
        .reuse = flight->reuse,
    };
    view_requests(glance, flight, timeline);
    view_times(glance, flight, timeline);
    view_attempts(glance, flight, timeline);
}

static bool has_joined(struct glance *glance, const struct flight *flight)
{
    for (const struct list *link = flight->requests.next;
         link != &flight->requests && glance->request_looks > 0;
         link = link->next, glance->request_looks--)
        if (CONTAINER_OF(link, struct request, link)->client == glance->onlooker->client)
            return true;
    return false;
}

/* Keeps the oldest ones: what somebody waits for in vain is among them. */
static void consider(struct glance *glance, const struct flight *flight)
{
    struct key_view *const view = glance->view;
    if (flight->state == FLIGHT_SOLVED || flight->state == FLIGHT_FAILED)
        return;
    if (!is_own(glance, flight->client) && !has_joined(glance, flight))
        return;
    view->key = flight->node.key;
    view->flight_total++;
    size_t place = view->flight_count < TIMELINE_FLIGHTS ? view->flight_count++ : TIMELINE_FLIGHTS;
    for (; place > 0 && glance->oldest[place - 1]->number > flight->number; place--)
        if (place < TIMELINE_FLIGHTS)
            glance->oldest[place] = glance->oldest[place - 1];
    if (place < TIMELINE_FLIGHTS)
        glance->oldest[place] = flight;
}

static void find_in_table(struct glance *glance, const struct table *table)
{
    uint32_t looks = FLIGHT_LOOKS;
    for (const struct table_node *node = table_find(table, &glance->prefix->key);
         node != NULL && looks > 0; node = table_find_next(node), looks--)
        consider(glance, CONTAINER_OF(node, struct flight, node));
}

/* The first flight found completes a beginning, and others have to have its key. */
static void find_in_places(struct glance *glance)
{
    const struct slab *const flights = &glance->engine->flights;
    struct key_prefix wanted = *glance->prefix;
    uint32_t looks = FLIGHT_LOOKS;
    for (slab_id id = 0; looks > 0 && (id = slab_next_within(flights, id, &looks)) != 0;) {
        const struct flight *flight = slab_get(flights, id);
        if (flight == NULL || !key_begins(&flight->node.key, &wanted))
            continue;
        consider(glance, flight);
        if (glance->view->flight_total > 0)
            wanted = (struct key_prefix){.key = glance->view->key, .digits = WHOLE_KEY};
    }
}

static void find_flights(struct glance *glance)
{
    struct key_view *const view = glance->view;
    if (glance->prefix->digits == WHOLE_KEY) {
        find_in_table(glance, &glance->engine->flights_by_key);
        find_in_table(glance, &glance->engine->flights_apart);
    } else {
        find_in_places(glance);
    }
    for (size_t i = 0; i < view->flight_count; i++)
        view_flight(glance, glance->oldest[i], &view->flights[i]);
}

/* ---- what is left of flights ------------------------------------------------------------- */

static void find_letter(struct glance *glance)
{
    const struct engine *const engine = glance->engine;
    struct key_view *const view = glance->view;
    uint32_t looks = LETTER_LOOKS;
    for (const struct list *link = engine->letter_list.prev;
         link != &engine->letter_list && looks > 0; link = link->prev, looks--) {
        const struct letter *letter = CONTAINER_OF(link, struct letter, link);
        const bool is_it = view->flight_count > 0 ? key_equals(&letter->key, &view->key)
                                                  : key_begins(&letter->key, glance->prefix);
        if (!is_it || !is_own(glance, letter->client))
            continue;
        view->key = letter->key;
        view->letter = letter->number;
        view->letter_wall_ms = letter->created_wall_ms;
        view->letter_class = letter->class;
        view->letter_code = blob_slice(letter->error);
        for (size_t i = 0; letter->history != NULL && i < letter->history->count; i++)
            view->letter_attempts[view->letter_attempt_count++] =
                view_note(&letter->history->notes[i]);
        return;
    }
}

static void find_strays(struct glance *glance)
{
    struct key_view *const view = glance->view;
    for (const struct table_node *node = table_find(&glance->engine->strays_by_key, &view->key);
         node != NULL && view->stray_count < TIMELINE_STRAYS; node = table_find_next(node)) {
        const struct attempt *attempt = CONTAINER_OF(node, struct vigil, by_key)->attempt;
        if (is_own(glance, attempt->client))
            view->strays[view->stray_count++] = view_attempt(glance, attempt);
    }
}

static void find_solution(struct glance *glance)
{
    const struct engine *const engine = glance->engine;
    struct key_view *const view = glance->view;
    for (const struct table_node *node = table_find(&engine->solutions_by_key, &view->key);
         node != NULL && !view->has_solution; node = table_find_next(node)) {
        const struct solution *solution = CONTAINER_OF(node, struct solution, node);
        const bool is_shared =
            is_own(glance, solution->client) ||
            clients_may_share(engine, solution->client, glance->onlooker->client);
        if (!is_shared || solution->is_negative || solution->expires_ms <= glance->now_ms)
            continue;
        view->has_solution = true;
        view->born_wall_ms = wall_of(engine, solution->born_ms);
        view->expires_in_ms = until(glance, solution->expires_ms);
        view->solution_attempts = solution->attempts;
        view->solution_task_id = blob_slice(solution->task_id);
    }
}

bool engine_look_up(const struct engine *engine, const struct key_prefix *prefix,
                    const struct onlooker *onlooker, uint64_t now_ms, struct key_view *view)
{
    *view = (struct key_view){.key = prefix->key};
    struct glance glance = {
        .engine = engine,
        .prefix = prefix,
        .onlooker = onlooker,
        .now_ms = now_ms > engine->now_ms ? now_ms : engine->now_ms,
        .request_looks = REQUEST_LOOKS,
        .view = view,
    };
    find_flights(&glance);
    find_letter(&glance);
    find_strays(&glance);
    find_solution(&glance);
    return view->flight_count > 0 || view->letter != 0 || view->stray_count > 0 ||
           view->has_solution;
}
