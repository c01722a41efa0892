/* Dead letters over HTTP: listed, shown, replayed, dropped (docs/design.md 5.9, 6.2). */
#include "doors/door_letters.h"

#include "doors/door_cluster_letters.h"
#include "doors/intake.h"
#include "doors/reply.h"
#include "gate/client_names.h"
#include "gate/hosts.h"
#include "proto/api_letters.h"
#include "proto/pack.h"
#include "store/store_claims.h"

#include <solvegate/view.h>
#include <solvegate/words.h>

#define LETTERS_PAGE 100

static bool bad_filter(struct mistake *mistake, const char *detail)
{
    *mistake = (struct mistake){.status = 422, .code = "bad_parameter"};
    memcpy(mistake->detail, detail, strlen(detail) + 1);
    return false;
}

static bool read_class(struct slice text, enum error_class *class)
{
    for (*class = CLASS_NONE; *class < CLASS_COUNT; ++*class) {
        if (slice_equals(text, slice_from(error_class_name(*class))))
            return true;
    }
    return text.len == 0;
}

static bool read_type(struct slice text, enum type *type)
{
    for (*type = 0; *type < TYPE_COUNT; ++*type) {
        if (slice_equals(text, slice_from(type_name(*type))))
            return true;
    }
    return text.len == 0;
}

/* An invalid filter is refused, since it must not become "all letters". */
static bool read_filter(const struct gate *gate, struct letter_filter *filter,
                        struct mistake *mistake)
{
    const struct slice client = params_value(&gate->params, SLICE_OF("client"));
    const struct slice code = params_value(&gate->params, SLICE_OF("error"));
    *filter = (struct letter_filter){.has_client = client.len > 0};
    if (!read_class(params_value(&gate->params, SLICE_OF("class")), &filter->class))
        return bad_filter(mistake, "class: expected an error class such as busy or timeout");
    if (!read_type(params_value(&gate->params, SLICE_OF("type")), &filter->type))
        return bad_filter(mistake, "type: expected a type such as turnstile or image");
    if (client.len > 0 && !client_by_name(gate, client, &filter->client))
        return bad_filter(mistake, "client: no client has this name");
    if (code.len >= ERROR_CODE_MAX)
        return bad_filter(mistake, "error: too long to be an error code");
    if (code.len > 0)
        memcpy(filter->code, code.data, code.len);
    return true;
}

static bool is_empty(const struct letter_filter *filter)
{
    return filter->number == 0 && !filter->has_client && filter->class == CLASS_COUNT &&
           filter->type == TYPE_COUNT && filter->code[0] == '\0';
}

static struct letter_filter one_letter(uint64_t number)
{
    return (struct letter_filter){.number = number, .class = CLASS_COUNT, .type = TYPE_COUNT};
}

static bool has_letter(const struct gate *gate, uint64_t number, struct letter_view *view)
{
    return number != 0 && engine_find_letter(gate->engine, number, view);
}

void letters_reply_unknown(struct gate *gate, caller_id caller, const struct visit *visit)
{
    const struct problem problem = {
        .status = 404, .code = "unknown_letter", .detail = SLICE_OF("no such dead letter")};
    reply_problem(gate, caller, visit, &problem);
}

/* Each order looks at all letters, so the number of orders under way is limited. */
void letters_reply_busy(struct gate *gate, caller_id caller, const struct visit *visit)
{
    const struct problem problem = {.status = 503,
                                    .code = "busy",
                                    .is_retryable = true,
                                    .retry_after_ms = 1000,
                                    .detail = SLICE_OF("too many orders about dead letters")};
    reply_problem(gate, caller, visit, &problem);
}

struct letter_place letters_place(const struct gate *gate, const struct letter_view *view)
{
    return (struct letter_place){.client = client_name(gate, view->client),
                                 .node = node_name_of_self(gate),
                                 .is_here = true};
}

/* This gateway does not have the letter. */
static void look_elsewhere(struct gate *gate, const struct http_request *request,
                           const struct visit *visit, const struct letter_order *order)
{
    if (gate->cluster.is_on && order->filter.number != 0)
        cluster_letters_ask(gate, request, visit, order);
    else
        letters_reply_unknown(gate, request->caller, visit);
}

/* ---- looking ----------------------------------------------------------------------------- */

/* Searching all letters takes the engine some turns, so the page comes as an answer like any other. */
void door_letters(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    struct mistake mistake;
    struct page page;
    struct event event = gate_event(gate, EVENT_LETTERS);
    event.letters = (struct letter_order){.caller = request->caller, .verb = LETTER_LIST};
    if (!read_filter(gate, &event.letters.filter, &mistake) ||
        !intake_page(gate, LETTERS_PAGE, &page, &mistake)) {
        visit->dialect->complain(gate, request->caller, visit, &mistake);
        return;
    }
    event.letters.cursor = page.cursor;
    event.letters.limit = (uint32_t)page.limit;
    if (gate->cluster.is_on) {
        cluster_letters_ask(gate, request, visit, &event.letters);
        return;
    }
    visit_store(request, visit);
    gate_step(gate, &event);
}

/* Skips letters that were deleted after they were found. */
static void write_page(struct gate *gate, const struct letters_answer *answer)
{
    struct letter_view views[LETTERS_PAGE];
    struct letter_place places[LETTERS_PAGE];
    size_t count = 0;
    for (uint32_t i = 0; i < answer->found_count; i++) {
        if (!engine_find_letter(gate->engine, answer->found[i], &views[count]))
            continue;
        places[count] = letters_place(gate, &views[count]);
        count++;
    }
    api_write_letters(&gate->body, views, places, count, answer->count, answer->next);
}

void door_letter(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    struct letter_view view;
    const struct letter_order order = {
        .caller = request->caller, .verb = LETTER_LIST, .filter = one_letter(number)};
    if (!has_letter(gate, number, &view)) {
        look_elsewhere(gate, request, visit, &order);
        return;
    }
    const struct letter_place place = letters_place(gate, &view);
    api_write_letter(&gate->body, &view, &place, true);
    reply_json(gate, request->caller, visit, 200);
}

/* ---- orders ------------------------------------------------------------------------------ */

/* Reads an order for one letter by its number, or for all that match the filter; without a filter
 * "all" is required. */
static bool read_order(struct gate *gate, uint64_t number, struct letter_order *order,
                       struct mistake *mistake)
{
    if (number != 0) {
        order->filter = one_letter(number);
        return true;
    }
    if (!read_filter(gate, &order->filter, mistake))
        return false;
    if (is_empty(&order->filter) && !params_flag(&gate->params, SLICE_OF("all")))
        return bad_filter(mistake, "say which: client, class, type or error; or all=true");
    return true;
}

/* A replay asks for the letter's host like any request, for the client that pays for it. */
static bool check_host(struct gate *gate, const struct letter_view *view,
                       const struct letter_order *order, struct mistake *mistake)
{
    const client_id client = order->has_into ? order->into : view->client;
    if (order->verb != LETTER_REPLAY || view->kind == LETTER_OF_NOTICE ||
        hosts_allow(gate, client, view->params))
        return true;
    (void)bad_filter(mistake, "the client that the replay is for may not ask for this host");
    mistake->status = 403;
    mistake->code = "host_not_allowed";
    return false;
}

/* Reads the client that a replay is for; a letter whose client is no longer configured needs one. */
static bool read_into(struct gate *gate, const struct letter_view *view, struct slice name,
                      struct letter_order *order, struct mistake *mistake)
{
    if (order->verb != LETTER_REPLAY || view->kind == LETTER_OF_NOTICE)
        return true;
    if (name.len == 0)
        return client_is_live(gate, view->client) ||
               bad_filter(mistake,
                          "into: its client is no longer configured; say whose it is to be");
    if (!client_by_name(gate, name, &order->into) || !client_is_live(gate, order->into))
        return bad_filter(mistake, "into: no client has this name");
    params_reset(&gate->params);
    if (view->params->len == 0 || params_unpack(&gate->params, view->params) != 0 ||
        identity_compute(&gate->identity_options, &gate->params, &gate->scopes[order->into],
                         &gate->scratch, &gate->identity) != 0)
        return bad_filter(mistake,
                          "into: this letter holds no parameters, so it can be no client's; its "
                          "solution can only be read");
    order->has_into = true;
    order->into_key = gate->identity.key;
    return true;
}

void letters_order_one(struct gate *gate, const struct visit *visit, const struct letter_view *view,
                       struct slice into, const struct letter_order *order)
{
    struct mistake mistake;
    struct event event = gate_event(gate, EVENT_LETTERS);
    event.letters = *order;
    if (!read_into(gate, view, into, &event.letters, &mistake) ||
        !check_host(gate, view, &event.letters, &mistake)) {
        visit->dialect->complain(gate, order->caller, visit, &mistake);
        return;
    }
    gate_step(gate, &event);
}

static void give_order(struct gate *gate, const struct http_request *request, struct visit *visit,
                       enum letter_verb verb, uint64_t number)
{
    struct mistake mistake;
    struct letter_view view;
    struct event event = gate_event(gate, EVENT_LETTERS);
    event.letters = (struct letter_order){.caller = request->caller,
                                          .verb = verb,
                                          .client = visit->client,
                                          .is_for_all = number == 0};
    if (!read_order(gate, number, &event.letters, &mistake)) {
        visit->dialect->complain(gate, request->caller, visit, &mistake);
        return;
    }
    if (number != 0 && !has_letter(gate, number, &view)) {
        look_elsewhere(gate, request, visit, &event.letters);
        return;
    }
    visit_store(request, visit);
    if (number != 0)
        letters_order_one(gate, visit, &view, params_value(&gate->params, SLICE_OF("into")),
                          &event.letters);
    else
        gate_step(gate, &event);
}

void door_replay(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    give_order(gate, request, visit, LETTER_REPLAY, number);
}

void door_replay_cancel(struct gate *gate, const struct http_request *request, struct visit *visit,
                        uint64_t number)
{
    (void)number;
    struct event event = gate_event(gate, EVENT_LETTERS);
    event.letters = (struct letter_order){
        .caller = request->caller,
        .verb = LETTER_CANCEL,
        .filter = {.class = CLASS_COUNT, .type = TYPE_COUNT},
        .client = visit->client,
        .is_for_all = true,
    };
    visit_store(request, visit);
    gate_step(gate, &event);
}

void door_letter_drop(struct gate *gate, const struct http_request *request, struct visit *visit,
                      uint64_t number)
{
    give_order(gate, request, visit, LETTER_DROP, number);
}

void door_letters_answer(struct gate *gate, const struct visit *visit,
                         const struct letters_answer *answer)
{
    static const char *const words[] = {
        [LETTER_REPLAY] = "queued", [LETTER_CANCEL] = "cancelled", [LETTER_DROP] = "dropped"};
    if (answer->refusal != REFUSAL_NONE) {
        if (answer->refusal == REFUSAL_UNKNOWN_ID)
            letters_reply_unknown(gate, answer->caller, visit);
        else if (answer->refusal == REFUSAL_STORE_AWAY)
            letters_reply_away(gate, answer->caller, visit);
        else
            letters_reply_busy(gate, answer->caller, visit);
        return;
    }
    if (answer->verb == LETTER_LIST)
        write_page(gate, answer);
    else
        buf_addf(&gate->body, "{\"%s\":%u}", words[answer->verb], answer->count);
    reply_json(gate, answer->caller, visit, answer->verb == LETTER_REPLAY ? 202 : 200);
}
