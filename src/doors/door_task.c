/* The createTask dialect of anti-captcha, CapMonster, CapSolver and 2captcha v2 (docs/createtask.md).
 * Every reply is 200 and JSON, errors included, because the clients lose the code otherwise. */
#include "doors/door_task.h"

#include "doors/reply.h"
#include "doors/verbs.h"
#include "proto/task_read.h"
#include "proto/task_write.h"

#include <solvegate/view.h>

#include <stdio.h>

/* ---- reading ----------------------------------------------------------------------------- */

static void take_mistake(const struct task_body *body, struct mistake *mistake)
{
    *mistake = (struct mistake){.status = 422, .code = "bad_parameter", .word = body->word};
    (void)snprintf(mistake->detail, sizeof mistake->detail, "%s", body->detail);
}

/* The visit keeps the id and the queue, of which the verbs and doors know no more than a number. */
static void take_numbers(const struct task_body *body, struct visit *visit)
{
    unsigned long long id = 0;
    visit->task_id = slice_to_u64(body->task_id, &id) && id < SHORT_ID_LIMIT ? (uint32_t)id : 0;
    visit->queue = (uint8_t)task_queue_type(body->queue_id);
    visit->id_layout = body->layout;
}

static bool task_dialect_read(struct gate *gate, const struct http_request *request,
                              struct visit *visit, struct slice *key, struct mistake *mistake)
{
    struct task_body body;
    const bool is_ask = visit->verb == VERB_ASK;
    const bool is_read = task_read(&gate->params, request->body, is_ask, &body) == 0;
    /* CapSolver's Python client sends the key in a header, too. */
    *key = body.client_key.len > 0 ? body.client_key : intake_bearer(request);
    if (is_read) {
        take_numbers(&body, visit);
        return true;
    }
    /* Strangers learn that they have no key before they learn what else is wrong. */
    client_id client;
    if (intake_client(gate, *key, SCOPE_SOLVE, &client, mistake))
        take_mistake(&body, mistake);
    return false;
}

/* ---- doors ------------------------------------------------------------------------------- */

/* Without a wish to wait the caller comes back for the solution. */
static bool finish_create(struct ask *ask, struct mistake *mistake)
{
    (void)mistake;
    ask->is_id_told = ask->hold_ms == 0;
    return true;
}

void door_create_task(struct gate *gate, const struct http_request *request, struct visit *visit,
                      uint64_t number)
{
    (void)number;
    visit->verb = VERB_ASK;
    verb_ask(gate, request, visit, finish_create);
}

void door_task_result(struct gate *gate, const struct http_request *request, struct visit *visit,
                      uint64_t number)
{
    (void)number;
    visit->verb = VERB_LOOK;
    if (verb_enter(gate, request, visit, SCOPE_SOLVE))
        verb_look(gate, request, visit, visit->task_id);
}

static void report(struct gate *gate, const struct http_request *request, struct visit *visit,
                   bool is_good)
{
    visit->verb = VERB_REPORT;
    if (verb_enter(gate, request, visit, SCOPE_SOLVE))
        verb_report(gate, request, visit, visit->task_id, is_good);
}

void door_report_correct(struct gate *gate, const struct http_request *request, struct visit *visit,
                         uint64_t number)
{
    (void)number;
    report(gate, request, visit, true);
}

void door_report_incorrect(struct gate *gate, const struct http_request *request,
                           struct visit *visit, uint64_t number)
{
    (void)number;
    report(gate, request, visit, false);
}

void door_balance(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    visit->verb = VERB_ACCOUNT;
    if (verb_enter(gate, request, visit, SCOPE_SOLVE))
        verb_account(gate, request, visit, PROBE_BALANCE);
}

static uint64_t average_ms(const struct histogram *times)
{
    const uint64_t count = histogram_count(times);
    return count == 0 ? 0 : histogram_sum_ms(times) / count;
}

/* Clients ask without a key, and learn no more than how busy the slots are. */
void door_queue_stats(struct gate *gate, const struct http_request *request, struct visit *visit,
                      uint64_t number)
{
    (void)number;
    struct task_body body;
    struct gauges gauges;
    if (task_read(&gate->params, request->body, false, &body) == 0)
        take_numbers(&body, visit);
    engine_gauges(gate->engine, &gauges);
    const struct task_queue queue = {
        .total = gauges.slots_limit,
        .used = gauges.slots_used,
        .bid_micro = gate->config->engine.price_micro[visit->queue],
        .average_ms = average_ms(engine_timing(gate->engine, TIMING_SOLVE)),
    };
    task_write_queue(&gate->body, &queue);
    reply_json(gate, request->caller, visit, 200);
}

void door_no_such_method(struct gate *gate, const struct http_request *request, struct visit *visit,
                         uint64_t number)
{
    (void)number;
    task_write_error(&gate->body, SLICE_OF("ERROR_NO_SUCH_METHOD"),
                     SLICE_OF("this gateway does not have this method"), false);
    reply_json(gate, request->caller, visit, 200);
}

/* ---- answers ----------------------------------------------------------------------------- */

/* Only the dialect's members may be in the body, so everything else is in headers. */
static void add_headers(struct gate *gate, const struct answer *answer)
{
    if (answer->refusal == REFUSAL_NONE)
        reply_answer_headers(gate, answer);
    if (answer->retry_after_ms > 0)
        reply_retry_after(gate, answer->retry_after_ms);
}

static struct task_facts facts_of(struct gate *gate, const struct answer *answer)
{
    return (struct task_facts){
        .wall_ms = gate_wall_ms(),
        .cost_micro = gate->config->engine.price_micro[answer->type],
    };
}

/* A caller that was held for the solution is told its failure: it does not ask again. So is one
 * whose submit the vendor refused in shadow mode. */
static bool is_told_at_once(const struct visit *visit, const struct answer *answer)
{
    return visit->verb == VERB_LOOK || answer->is_turned_down ||
           (visit->is_held && answer->refusal == REFUSAL_NONE && answer->state == REQUEST_FAILED);
}

static void task_dialect_answer(struct gate *gate, const struct visit *visit,
                                const struct answer *answer)
{
    const struct answer waiting = {.id = answer->id};
    const bool is_postponed = verb_must_look_again(gate, visit, answer);
    add_headers(gate, answer);
    if (is_postponed) {
        const struct task_facts facts = facts_of(gate, &waiting);
        task_write_result(&gate->body, &waiting, &facts);
    } else if (is_told_at_once(visit, answer)) {
        const struct task_facts facts = facts_of(gate, answer);
        task_write_result(&gate->body, answer, &facts);
    } else if (visit->verb == VERB_REPORT && answer->refusal == REFUSAL_NONE) {
        task_write_success(&gate->body);
    } else {
        task_write_created(&gate->body, answer);
    }
    reply_json(gate, answer->caller, visit, 200);
}

static void task_dialect_account(struct gate *gate, const struct visit *visit,
                                 const struct account_answer *answer)
{
    task_write_balance(&gate->body, &answer->probed);
    reply_json(gate, answer->caller, visit, 200);
}

static void task_dialect_complain(struct gate *gate, caller_id caller, const struct visit *visit,
                                  const struct mistake *mistake)
{
    task_write_error(&gate->body, slice_from(mistake->word), slice_from(mistake->detail),
                     visit->verb == VERB_LOOK);
    reply_json(gate, caller, visit, 200);
}

/* Only an image can be too large. */
static void task_dialect_refuse(struct gate *gate, const struct http_request *request,
                                uint16_t status, struct http_reply *reply)
{
    const bool is_image = status == 413 && slice_equals(request->path, SLICE_OF("/createTask"));
    buf_reset(&gate->words);
    task_write_error(&gate->words,
                     is_image ? SLICE_OF("ERROR_TOO_BIG_CAPTCHA_FILESIZE")
                              : SLICE_OF("ERROR_BAD_PARAMETERS"),
                     SLICE_OF("the request is too large"), false);
    reply->content_type = SLICE_OF("application/json");
    reply->body = buf_slice(&gate->words);
}

/* Of a letter's request only the end is left. */
static struct answer answer_of_letter(const struct notify *notify)
{
    const struct slice code = blob_slice(notify->code);
    struct answer answer = {.id = notify->request, .state = REQUEST_SOLVED};
    if (!slice_starts_with(code, SLICE_OF("ERROR_"))) {
        answer.text = blob_ref(notify->code);
        return answer;
    }
    answer.state = REQUEST_FAILED;
    (void)snprintf(answer.code, sizeof answer.code, "%.*s", (int)code.len, code.data);
    return answer;
}

bool door_task_notice(struct gate *gate, const struct notify *notify, struct buf *json)
{
    struct answer answer;
    if (task_layout_of(notify->request) == 0)
        return false;
    if (!engine_peek(gate->engine, notify->client, notify->request, &answer) ||
        (answer.state != REQUEST_SOLVED && answer.state != REQUEST_FAILED))
        answer = answer_of_letter(notify);
    struct task_facts facts = facts_of(gate, &answer);
    facts.has_id = true;
    task_write_result(json, &answer, &facts);
    answer_close(&answer);
    return true;
}

const struct dialect dialect_task = {
    .kind = DIALECT_CREATETASK,
    .has_request_id = true,
    .has_prefer = true,
    .has_short_ids = true,
    .read = task_dialect_read,
    .answer = task_dialect_answer,
    .complain = task_dialect_complain,
    .account = task_dialect_account,
    .refuse = task_dialect_refuse,
};
