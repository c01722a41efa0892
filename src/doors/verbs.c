#include "doors/verbs.h"

#include "doors/ask_memo.h"
#include "gate/client_names.h"
#include "sys/log.h"

#include <solvegate/engine.h>
#include <solvegate/words.h>

#include <sodium.h>

/* Of a key, as much as tells it from all others in a log: 48 bits. */
#define KEY_TOLD_BYTES 6

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

/* How many asks were accepted so far. */
static uint64_t count_accepted(const struct gate *gate)
{
    const struct stats *const stats = engine_stats(gate->engine);
    return stats->requests - stats->rejected;
}

/* What `solvegate bench --from-log` reads: answers from memory make no flight that could be watched. */
static void tell_accepted(const struct gate *gate, const struct visit *visit, const struct ask *ask)
{
    char key[2 * KEY_TOLD_BYTES + 1];
    (void)sodium_bin2hex(key, sizeof key, ask->key.bytes, KEY_TOLD_BYTES);
    const struct log_field fields[] = {
        log_string("client", client_name(gate, ask->client)),
        log_string("key", key),
        log_string("type", type_name(ask->type)),
        log_text("request_id",
                 (struct slice){.data = visit->x_request_id, .len = visit->x_request_id_len}),
    };
    const size_t count = sizeof fields / sizeof fields[0];
    log_each(LOG_LEVEL_DEBUG, "request_accepted", fields,
             visit->x_request_id_len > 0 ? count : count - 1);
}

void verb_ask(struct gate *gate, const struct http_request *request, struct visit *visit,
              ask_finish_fn finish)
{
    struct event event = gate_event(gate, EVENT_ASK);
    if (!ask_memo_find(gate->ask_memo, request, visit, &event.ask) &&
        !read_ask(gate, request, visit, finish, &event.ask))
        return;
    visit->is_held = event.ask.hold_ms > 0;
    const uint64_t accepted = count_accepted(gate);
    step(gate, request, visit, &event, event.ask.hold_ms);
    if (log_is_on(LOG_LEVEL_DEBUG) && count_accepted(gate) != accepted)
        tell_accepted(gate, visit, &event.ask);
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
