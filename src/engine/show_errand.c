#include "engine/show_errand.h"

#include "engine/adopt.h"
#include "engine/errand.h"
#include "engine/hold.h"
#include "engine/placed.h"

/* Each question is an entry and a reply for each of the others, and keys can be made up: its place is taken for so long
 * at least. */
#define REST_MS 1000

/* ---- asking ------------------------------------------------------------------------------ */

static void answer(struct engine *engine, const struct show *show, enum refusal refusal)
{
    struct action *action = engine_push(engine, ACTION_SHOWN);
    action->shown = (struct shown_answer){.show = *show, .refusal = refusal};
}

/* A caller may have hung up: nobody tells its place. */
static struct show_errand *free_place(struct engine *engine)
{
    for (size_t i = 0; i < SHOW_ERRANDS; i++) {
        struct show_errand *place = &engine->shows[i];
        const uint64_t rest_ms = place->awaited > 0 ? ERRAND_PATIENCE_MS : REST_MS;
        if (place->ticket != 0 && engine->now_ms <= place->since_ms + rest_ms)
            continue;
        blob_unref(place->text);
        *place = (struct show_errand){.since_ms = engine->now_ms};
        return place;
    }
    return NULL;
}

static void send(struct engine *engine, struct show_errand *place, uint16_t node)
{
    struct fact *fact = errand_push(engine, FACT_ERRAND);
    if (place->ticket == 0)
        place->ticket = fact->number;
    fact->errand = (struct errand){.verb = ERRAND_SHOW,
                                   .from = engine->options.node,
                                   .to = node,
                                   .client = place->show.client,
                                   .caller = place->show.caller,
                                   .ticket = place->ticket};
    fact->show = place->show;
    place->awaited++;
}

static void end(struct engine *engine, struct show_errand *place, enum refusal refusal)
{
    struct action *action = engine_push(engine, ACTION_SHOWN);
    action->shown = (struct shown_answer){
        .show = place->show, .shown = place->shown, .text = place->text, .refusal = REFUSAL_NONE};
    if (place->text == NULL)
        action->shown.refusal = place->is_partial ? REFUSAL_STORE_AWAY : refusal;
    place->text = NULL;
    place->awaited = 0;
}

/* One that has left has nothing under way. */
static void send_all(struct engine *engine, struct show_errand *place)
{
    for (uint16_t i = 0; i < engine->member_count; i++) {
        const struct member *member = &engine->members[i];
        if (adopt_is_other_alive(engine, member->node))
            send(engine, place, member->node);
        else if (!member->is_self && !member->is_leaving)
            place->is_partial = true;
    }
}

void show_errand_send(struct engine *engine, const struct show *show)
{
    if (!engine->options.store_adopts) {
        answer(engine, show, REFUSAL_UNKNOWN_ID);
        return;
    }
    /* Nobody would hear of it. */
    if (!engine->store_is_writable) {
        answer(engine, show, REFUSAL_STORE_AWAY);
        return;
    }
    struct show_errand *place = request_may_wait(engine, show->client) ? free_place(engine) : NULL;
    if (place == NULL) {
        answer(engine, show, REFUSAL_FULL_REQUESTS);
        return;
    }
    place->show = *show;
    send_all(engine, place);
    if (place->awaited == 0)
        end(engine, place, REFUSAL_UNKNOWN_ID);
    else
        (void)hold_for_errand(engine, place->ticket, show->client, show->caller,
                              ERRAND_PATIENCE_MS);
}

/* ---- replying ---------------------------------------------------------------------------- */

/* Whoever adopted the node that was asked has what that one had, and replies in its place. */
void show_errand_take(struct engine *engine, const struct fact *fact)
{
    struct blob *text = fact->result.extra;
    if (text == NULL || fact->errand.from == engine->options.node) {
        errand_reply(engine, &fact->errand, REFUSAL_UNKNOWN_ID, SHOWN_NOTHING);
        return;
    }
    struct fact *reply = errand_push(engine, FACT_REPLY);
    reply->errand = fact->errand;
    reply->errand.to = fact->errand.from;
    reply->errand.refusal = REFUSAL_NONE;
    reply->result.text = blob_ref(text);
}

static struct show_errand *find(struct engine *engine, uint64_t ticket)
{
    for (size_t i = 0; i < SHOW_ERRANDS; i++)
        if (engine->shows[i].ticket == ticket && engine->shows[i].awaited > 0)
            return &engine->shows[i];
    return NULL;
}

/* The first of those who know the same. */
static void keep_better(struct show_errand *place, const struct fact *reply)
{
    struct blob *text = reply->result.text;
    if (reply->errand.refusal != REFUSAL_NONE || text == NULL ||
        reply->errand.count <= (uint32_t)place->shown || reply->errand.count > SHOWN_FLIGHT)
        return;
    blob_unref(place->text);
    place->text = blob_ref(text);
    place->shown = (enum shown)reply->errand.count;
}

void show_errand_on_reply(struct engine *engine, const struct fact *reply)
{
    struct show_errand *place = find(engine, reply->errand.ticket);
    if (place == NULL)
        return;
    struct numbers_node *node = numbers_find(&engine->holds_by_caller, place->show.caller);
    struct hold *hold = node == NULL ? NULL : CONTAINER_OF(node, struct hold, by_caller);
    keep_better(place, reply);
    place->awaited--;
    if (hold == NULL || hold->ticket != place->ticket)
        return;
    if (place->shown != SHOWN_FLIGHT && place->awaited > 0)
        return;
    hold_free(engine, hold);
    end(engine, place, REFUSAL_UNKNOWN_ID);
}

bool show_errand_give_up(struct engine *engine, uint64_t ticket)
{
    struct show_errand *place = find(engine, ticket);
    if (place != NULL)
        end(engine, place, REFUSAL_STORE_AWAY);
    return place != NULL;
}

void show_errands_free(struct engine *engine)
{
    for (size_t i = 0; i < SHOW_ERRANDS; i++)
        blob_unref(engine->shows[i].text);
}
