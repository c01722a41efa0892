#include "doors/door_cluster_letters.h"

#include "base/assert.h"
#include "doors/door_letters.h"
#include "doors/render.h"
#include "doors/reply.h"
#include "gate/client_names.h"
#include "proto/api_letters.h"
#include "store/store_claims.h"
#include "store/store_find.h"
#include "store/store_pulse.h"

#include <solvegate/view.h>

#include <stdio.h>
#include <stdlib.h>

void letters_reply_away(struct gate *gate, caller_id caller, const struct visit *visit)
{
    const struct problem problem = {
        .status = 503,
        .code = "store_away",
        .is_retryable = true,
        .retry_after_ms = 1000,
        .detail = SLICE_OF("the store, which has the letters of the other gateways, cannot be "
                           "reached, or one of them does not reply"),
    };
    reply_problem(gate, caller, visit, &problem);
}

const char *letters_node_name(const struct gate *gate, uint16_t node)
{
    if (!gate->cluster.is_on)
        return NULL;
    const struct store_members *const members = store_pulse_members(gate->persist.store);
    for (uint32_t i = 0; i < members->count; i++)
        if (members->all[i].node == node)
            return members->all[i].name;
    return "";
}

const char *node_name_of_self(const struct gate *gate)
{
    return letters_node_name(gate, gate->cluster.is_on ? store_node(gate->persist.store) : 0);
}

/* ---- who waits --------------------------------------------------------------------------- */

static void wait_for(struct letters_render *waits, caller_id caller)
{
    ASSERT(waits->count < STORE_LETTER_QUERIES);
    waits->callers[waits->count++] = caller;
}

static void wait_no_more(struct letters_render *waits, caller_id caller)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if (waits->callers[i] == caller) {
            waits->callers[i] = waits->callers[--waits->count];
            return;
        }
}

static void refuse_all(struct gate *gate)
{
    struct letters_render *const waits = &gate->render->letters;
    while (waits->count > 0) {
        struct visit visit;
        const caller_id caller = waits->callers[--waits->count];
        if (visit_load(gate, caller, &visit))
            letters_reply_away(gate, caller, &visit);
    }
}

static void copy_name(char name[STORE_NAME_MAX], struct slice text)
{
    (void)snprintf(name, STORE_NAME_MAX, "%.*s", (int)text.len, text.len == 0 ? "" : text.data);
}

void cluster_letters_ask(struct gate *gate, const struct http_request *request,
                         const struct visit *visit, const struct letter_order *order)
{
    struct store_letter_query query = {.order = *order};
    if (order->filter.has_client)
        copy_name(query.client, slice_from(client_name(gate, order->filter.client)));
    copy_name(query.into, params_value(&gate->params, SLICE_OF("into")));
    if (!cluster_has_joined(gate) || gate->cluster.is_fenced) {
        letters_reply_away(gate, request->caller, visit);
        return;
    }
    if (!store_read_letters(gate->persist.store, &query)) {
        letters_reply_busy(gate, request->caller, visit);
        return;
    }
    wait_for(&gate->render->letters, request->caller);
    visit_store(request, visit);
}

/* ---- what was found ---------------------------------------------------------------------- */

/* Of a client that this gateway does not have, the number is nobody's. */
static struct letter_view view_of(const struct gate *gate, const struct store_letter *letter)
{
    const struct letter_row *const row = &letter->record.letter;
    struct letter_view view = {
        .number = row->number,
        .kind = row->kind,
        .client = UINT16_MAX,
        .type = row->type,
        .class = row->class,
        .code = blob_slice(row->error),
        .request = row->request,
        .pingback = blob_slice(row->pingback),
        .text = blob_slice(row->text),
        .task_id = slice_from(row->task_id),
        .key = row->key,
        .created_wall_ms = row->created_wall_ms,
        .expires_wall_ms = row->created_wall_ms + (int64_t)gate->config->engine.letter_keep_ms,
        .told = row->told,
        .replays = row->replays,
        .retries = row->retries,
        .params = row->params,
        .notes = row->notes,
        .note_count = row->note_count,
    };
    (void)client_by_name(gate, slice_from(letter->client), &view.client);
    return view;
}

static struct letter_place place_of(const struct gate *gate, const struct store_letter *letter)
{
    return (struct letter_place){.client = letter->client,
                                 .node = letters_node_name(gate, letter->node)};
}

/* Our own are as the engine has them: what it has dropped may still be in the store, and what it adopts is not there
 * yet. */
static bool is_ours(const struct gate *gate, const struct store_letter *letter)
{
    return letter->node == store_node(gate->persist.store);
}

static void reply_page(struct gate *gate, const struct visit *visit,
                       const struct store_letters *letters)
{
    const caller_id caller = letters->query.order.caller;
    struct letter_view *const views = calloc(letters->count + 1, sizeof *views);
    struct letter_place *const places = calloc(letters->count + 1, sizeof *places);
    uint64_t total = letters->total;
    size_t count = 0;
    ASSERT(views != NULL && places != NULL);
    for (uint32_t i = 0; i < letters->count; i++) {
        const struct store_letter *const letter = &letters->all[i];
        const uint64_t number = letter->record.letter.number;
        const bool is_known = engine_find_letter(gate->engine, number, &views[count]);
        if (is_ours(gate, letter) && !is_known) {
            total--;
            continue;
        }
        places[count] = is_known ? letters_place(gate, &views[count]) : place_of(gate, letter);
        if (!is_known)
            views[count] = view_of(gate, letter);
        count++;
    }
    api_write_letters(&gate->body, views, places, count, total, letters->next);
    free(views);
    free(places);
    reply_json(gate, caller, visit, 200);
}

/* The letter is another gateway's, which carries the order out. */
static void reply_one(struct gate *gate, const struct visit *visit,
                      const struct store_letters *letters)
{
    const struct store_letter *const letter = &letters->all[0];
    struct letter_order order = letters->query.order;
    struct letter_view view = view_of(gate, letter);
    if (is_ours(gate, letter) || view.params == NULL) {
        letters_reply_away(gate, order.caller, visit);
        return;
    }
    if (order.verb == LETTER_LIST) {
        const struct letter_place place = place_of(gate, letter);
        api_write_letter(&gate->body, &view, &place, true);
        reply_json(gate, order.caller, visit, 200);
        return;
    }
    order.node = letter->node;
    letters_order_one(gate, visit, &view, slice_from(letters->query.into), &order);
}

void door_letters_found(struct gate *gate, const struct store_letters *letters)
{
    struct visit visit;
    if (letters == NULL) {
        refuse_all(gate);
        return;
    }
    const struct letter_order *const order = &letters->query.order;
    wait_no_more(&gate->render->letters, order->caller);
    if (!visit_load(gate, order->caller, &visit))
        return;
    if (letters->is_away)
        letters_reply_away(gate, order->caller, &visit);
    else if (order->filter.number == 0)
        reply_page(gate, &visit, letters);
    else if (letters->count == 0)
        letters_reply_unknown(gate, order->caller, &visit);
    else
        reply_one(gate, &visit, letters);
}
