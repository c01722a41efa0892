#include "doors/verbs.h"

#include "doors/ask_memo.h"

bool verb_enter(struct gate *gate, const struct http_request *request, struct visit *visit,
                unsigned scopes)
{
    struct mistake mistake;
    struct slice key = SLICE_NONE;
    if (visit->dialect->read(gate, request, visit, &key, &mistake) &&
        intake_client(gate, key, scopes, &visit->client, &mistake))
        return true;
    visit->dialect->complain(gate, request->caller, visit, &mistake);
    return false;
}

static bool read_ask(struct gate *gate, const struct http_request *request, struct visit *visit,
                     ask_finish_fn finish, struct ask *ask)
{
    struct mistake mistake;
    if (!verb_enter(gate, request, visit, SCOPE_SOLVE))
        return false;
    if (!intake_ask(gate, request, visit, ask, &mistake) ||
        (finish != NULL && !finish(ask, &mistake))) {
        visit->dialect->complain(gate, request->caller, visit, &mistake);
        return false;
    }
    intake_pack(gate, ask);
    ask_memo_keep(gate->ask_memo, visit, ask);
    return true;
}

/* Keeps the visit until the engine answers, which may be later. */
static void step(struct gate *gate, const struct http_request *request, const struct visit *visit,
                 const struct event *event, uint32_t hold_ms)
{
    if (hold_ms > 0)
        http_expect_hold(gate->server, request->caller);
    visit_store(request, visit);
    gate_step(gate, event);
}

void verb_ask(struct gate *gate, const struct http_request *request, struct visit *visit,
              ask_finish_fn finish)
{
    struct event event = gate_event(gate, EVENT_ASK);
    if (!ask_memo_find(gate->ask_memo, request, visit, &event.ask) &&
        !read_ask(gate, request, visit, finish, &event.ask))
        return;
    visit->is_held = event.ask.hold_ms > 0;
    step(gate, request, visit, &event, event.ask.hold_ms);
    intake_ask_close(&event.ask);
}

/* An id is known only in the dialect that gave it out; 0 is nobody's. */
request_id verb_own_id(const struct visit *visit, request_id id)
{
    return (id < SHORT_ID_LIMIT) == visit->dialect->has_short_ids ? id : 0;
}

void verb_look(struct gate *gate, const struct http_request *request, struct visit *visit,
               request_id id)
{
    struct mistake mistake;
    struct event event = gate_event(gate, EVENT_LOOK);
    event.look = (struct look){
        .caller = request->caller, .client = visit->client, .id = verb_own_id(visit, id)};
    visit->verb = VERB_LOOK;
    if (intake_hold(gate, request, visit, &event.look.hold_ms, &mistake))
        step(gate, request, visit, &event, event.look.hold_ms);
    else
        visit->dialect->complain(gate, request->caller, visit, &mistake);
}

void verb_look_for(struct gate *gate, const struct visit *visit, request_id id)
{
    struct event event = gate_event(gate, EVENT_LOOK);
    event.look = (struct look){.client = visit->client, .id = verb_own_id(visit, id)};
    gate_step(gate, &event);
}

bool verb_must_look_again(const struct gate *gate, const struct visit *visit,
                          const struct answer *answer)
{
    const bool is_cut_short = answer->refusal == REFUSAL_DRAINING && gate->persist.store != NULL;
    return visit->verb == VERB_LOOK && (is_cut_short || answer->refusal == REFUSAL_STORE_AWAY ||
                                        answer->refusal == REFUSAL_FULL_REQUESTS);
}

void verb_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id)
{
    struct event event = gate_event(gate, EVENT_DETACH);
    event.detach = (struct detach){
        .caller = request->caller, .client = visit->client, .id = verb_own_id(visit, id)};
    visit->verb = VERB_DETACH;
    step(gate, request, visit, &event, 0);
}

void verb_report(struct gate *gate, const struct http_request *request, struct visit *visit,
                 request_id id, bool is_good)
{
    struct event event = gate_event(gate, EVENT_REPORT);
    event.report = (struct report){.caller = request->caller,
                                   .client = visit->client,
                                   .id = verb_own_id(visit, id),
                                   .is_good = is_good};
    visit->verb = VERB_REPORT;
    step(gate, request, visit, &event, 0);
}

void verb_account(struct gate *gate, const struct http_request *request, struct visit *visit,
                  enum probe probe)
{
    struct event event = gate_event(gate, EVENT_ACCOUNT);
    event.account =
        (struct account){.caller = request->caller, .client = visit->client, .probe = probe};
    visit->verb = VERB_ACCOUNT;
    step(gate, request, visit, &event, 0);
}
