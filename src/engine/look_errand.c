#include "engine/look_errand.h"

#include "engine/adopt.h"
#include "engine/errand.h"
#include "engine/find.h"
#include "engine/request.h"

/* An id in vain is an entry and a reply that are written, read and dropped: about half of what a solve costs the store.
 * A client's share is a page of `ids=`, so that old ids of a list are known to be unknown after a few polls. */
#define VAIN_OF_CLIENT 32
#define VAIN_OF_ALL 128
#define WINDOW_MS 1000

/* ---- asking ------------------------------------------------------------------------------ */

static void open_window(const struct engine *engine, struct look_errands *looks)
{
    if (looks->since_ms != 0 && engine->now_ms < looks->since_ms + WINDOW_MS)
        return;
    *looks = (struct look_errands){.since_ms = engine->now_ms};
}

static bool is_too_much(struct engine *engine, client_id client)
{
    open_window(engine, &engine->looks);
    open_window(engine, &engine->clients[client].looks);
    return engine->looks.count >= VAIN_OF_ALL ||
           engine->clients[client].looks.count >= VAIN_OF_CLIENT;
}

void look_errand_forgive(struct engine *engine, client_id client)
{
    struct look_errands *own = &engine->clients[client].looks;
    /* Its window may be over. */
    own->count -= own->count > 0;
    engine->looks.count -= engine->looks.count > 0;
}

enum look_sent look_errand_send(struct engine *engine, const struct find *find, uint64_t *ticket)
{
    const uint16_t node = request_node(find->id);
    if (!engine->options.store_adopts || !adopt_is_other_alive(engine, node))
        return LOOK_NOBODY;
    if (!engine->store_is_writable || is_too_much(engine, find->client))
        return LOOK_LATER;
    engine->looks.count++;
    engine->clients[find->client].looks.count++;
    struct fact *fact = errand_push(engine, FACT_ERRAND);
    *ticket = fact->number;
    fact->errand = (struct errand){.verb = ERRAND_LOOK,
                                   .from = engine->options.node,
                                   .to = node,
                                   .client = find->client,
                                   .id = find->id,
                                   .caller = find->ticket,
                                   .ticket = *ticket};
    return LOOK_SENT;
}

/* ---- replying ---------------------------------------------------------------------------- */

static void fill_sighting(const struct engine *engine, struct fact *fact,
                          const struct answer *take_answer)
{
    struct vendor_result *result = &fact->result;
    fact->sighting = (struct sighting){.state = take_answer->state,
                                       .source = take_answer->source,
                                       .type = take_answer->type,
                                       .is_single = take_answer->is_single,
                                       .attempts = take_answer->attempts,
                                       .solve_ms = take_answer->solve_ms};
    fact->sighting.born_wall_ms = engine->wall_ms - (int64_t)take_answer->age_ms;
    fact->sighting.expires_wall_ms = engine->wall_ms + (int64_t)take_answer->expires_in_ms;
    result->class = take_answer->class;
    memcpy(result->code, take_answer->code, ERROR_CODE_MAX);
    memcpy(result->task_id, take_answer->task_id, TASK_ID_MAX);
    result->text = take_answer->text;
    result->extra = take_answer->extra;
}

void look_errand_take(struct engine *engine, const struct errand *errand)
{
    struct request *request = request_find(engine, errand->client, errand->id);
    if (request == NULL) {
        errand_reply(engine, errand, REFUSAL_UNKNOWN_ID, 0);
        return;
    }
    struct answer answer = {.refusal = REFUSAL_NONE};
    (void)request_fill(engine, request, &answer);
    struct fact *fact = errand_push(engine, FACT_REPLY);
    fact->errand = *errand;
    fact->errand.to = errand->from;
    /* Whoever asked may be gone when the reply comes, so nobody has read it. */
    fill_sighting(engine, fact, &answer);
}

void look_errand_on_reply(struct engine *engine, const struct fact *fact)
{
    const struct sighting *sighting = &fact->sighting;
    const struct vendor_result *result = &fact->result;
    struct solution_row row = {.type = sighting->type,
                               .born_wall_ms = sighting->born_wall_ms,
                               .expires_wall_ms = sighting->expires_wall_ms,
                               .solve_ms = sighting->solve_ms,
                               .attempts = sighting->attempts,
                               .is_shared = !sighting->is_single,
                               .text = result->text,
                               .extra = result->extra};
    struct found found = {.ticket = fact->errand.caller,
                          .result = FOUND_WAITING,
                          .is_solving = sighting->state == REQUEST_SOLVING,
                          .source = sighting->source,
                          .attempts = sighting->attempts,
                          .class = result->class};
    memcpy(row.task_id, result->task_id, TASK_ID_MAX);
    memcpy(found.code, result->code, ERROR_CODE_MAX);
    if (fact->errand.refusal != REFUSAL_NONE)
        found.result = FOUND_UNKNOWN;
    else if (sighting->state == REQUEST_FAILED)
        found.result = FOUND_FAILED;
    else if (sighting->state == REQUEST_SOLVED && result->text != NULL)
        found.result = FOUND_SOLVED;
    found.solution = &row;
    find_on_reply(engine, fact->errand.ticket, &found);
}
