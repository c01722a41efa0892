/* Finds: what the store knows of a request, whichever node has it. */
#include "cluster.h"

#include <stdlib.h>

#define TRAVEL_MS 10
#define SLOW_MS 2500

/* Chance of its own, so that a world in which nobody asks elsewhere is what it would be without finds. */
bool find_chance(struct cluster *c, enum fault fault)
{
    return rand_below(&c->find_rand, 1000) < c->plan.strength[fault] && !c->is_healing;
}

static uint64_t travel_ms(struct cluster *c)
{
    return 1 + rand_below(&c->find_rand, find_chance(c, FAULT_STORE_SLOW) ? SLOW_MS : TRAVEL_MS);
}

static struct moment moment_of(const struct cluster *c, enum happening what, uint32_t node,
                               uint32_t find)
{
    return (struct moment){
        .what = what, .node = node, .incarnation = c->nodes[node].incarnation, .subject = find};
}

void find_send(struct cluster *c, uint32_t node, const struct find *find)
{
    c->finds = room_for(c->finds, c->find_count, &c->find_room, sizeof *c->finds);
    c->finds[c->find_count++] = (struct seeking){.node = node, .find = *find};
    at(c, travel_ms(c), moment_of(c, HAPPEN_FIND, node, (uint32_t)(c->find_count - 1)));
}

/* ---- the store ------------------------------------------------------------------------------------ */

/* A solution that only one may have is not the request's before it was handed out to it. */
static bool is_its_own(const struct row *row, const struct row *request)
{
    const struct solution_row *solution = &row->record.solution;
    const struct request_row *own = &request->record.request;
    return row->record.kind == RECORD_SOLUTION && row->owner == request->owner &&
           (own->flight != 0 ? solution->flight == own->flight : solution->id == own->solution) &&
           (solution->is_shared || solution->handed > 0);
}

static const struct solution_row *solution_for(const struct store *store, const struct row *request)
{
    for (size_t i = 0; i < store->row_count; i++)
        if (is_its_own(&store->rows[i], request))
            return &store->rows[i].record.solution;
    return NULL;
}

static void fail(struct found *found, enum error_class class, const char code[ERROR_CODE_MAX])
{
    found->result = FOUND_FAILED;
    found->class = class;
    memcpy(found->code, code, ERROR_CODE_MAX);
}

static void wait_for(struct found *found, const struct flight_row *flight)
{
    found->result = FOUND_WAITING;
    found->has_name = flight->reuse == REUSE_SHARED || flight->has_idempotency;
    found->name = flight->reuse == REUSE_SHARED ? flight->key : flight->idempotency;
}

static void seek(struct cluster *c, struct seeking *seeking)
{
    struct store *store = &c->store;
    struct found *found = &seeking->found;
    const struct key name = key_from_u64(seeking->find.id);
    const struct row *row = store_find(store, RECORD_REQUEST, &name);
    *found = (struct found){.id = seeking->find.id,
                            .client = seeking->find.client,
                            .ticket = seeking->find.ticket,
                            .result = FOUND_UNKNOWN};
    if (row == NULL || row->record.request.client != seeking->find.client)
        return;
    const struct request_row *request = &row->record.request;
    const struct solution_row *solution = solution_for(store, row);
    const struct key flight_name = key_from_u64(request->flight);
    const struct row *flight = store_find(store, RECORD_FLIGHT, &flight_name);
    found->source = request->source;
    if (request->state == REQUEST_FAILED) {
        fail(found, request->class, request->code);
    } else if (solution != NULL) {
        found->result = FOUND_SOLVED;
        seeking->row = *solution;
        (void)blob_ref(solution->text);
        (void)blob_ref(solution->extra);
    } else if (flight != NULL && flight->record.flight.is_over) {
        fail(found, flight->record.flight.class, flight->record.flight.code);
    } else if (flight != NULL) {
        wait_for(found, &flight->record.flight);
    }
}

/* ---- there and back -------------------------------------------------------------------------------- */

static const char *const result_words[] = {[FOUND_WAITING] = "it waits",
                                           [FOUND_SOLVED] = "solved",
                                           [FOUND_FAILED] = "failed",
                                           [FOUND_UNKNOWN] = "unknown",
                                           [FOUND_UNAVAILABLE] = "away"};

static void come_back(struct cluster *c, const struct moment *moment)
{
    struct seeking *seeking = &c->finds[moment->subject];
    seeking->is_back = true;
    struct event event = {.kind = EVENT_FOUND, .random = rand_u64(&c->find_rand)};
    event.found = seeking->found;
    if (seeking->row.text != NULL)
        event.found.solution = &seeking->row;
    tell(c, "n%u finds %llu: %s", moment->node, (unsigned long long)seeking->find.id,
         result_words[seeking->found.result]);
    c->found += seeking->found.result != FOUND_UNAVAILABLE;
    node_step(c, moment->node, &event);
}

void finds_happen(struct cluster *c, const struct moment *moment)
{
    struct seeking *seeking = &c->finds[moment->subject];
    if (moment->what == HAPPEN_FOUND) {
        come_back(c, moment);
        return;
    }
    seeking->found = (struct found){.id = seeking->find.id,
                                    .client = seeking->find.client,
                                    .ticket = seeking->find.ticket,
                                    .result = FOUND_UNAVAILABLE};
    if (!node_is_cut(c, moment->node) && !find_chance(c, FAULT_BATCH_LOST))
        seek(c, seeking);
    at(c, travel_ms(c), moment_of(c, HAPPEN_FOUND, moment->node, moment->subject));
}

void finds_close(struct cluster *c)
{
    for (size_t i = 0; i < c->find_count; i++) {
        blob_unref(c->finds[i].row.text);
        blob_unref(c->finds[i].row.extra);
    }
    free(c->finds);
}
