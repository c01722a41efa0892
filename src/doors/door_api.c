/* The JSON API: solves, their state, reports and explanations (docs/design.md 6.2). */
#include "doors/door_api.h"

#include "doors/reply.h"
#include "doors/verbs.h"

#include <solvegate/view.h>

/* Takes the key from the Authorization header, else from the parameters. */
static struct slice presented_key(const struct gate *gate, const struct http_request *request)
{
    const struct slice bearer = intake_bearer(request);
    return slice_is_given(bearer) ? bearer : params_value(&gate->params, SLICE_OF("key"));
}

static bool is_json_type(struct slice content_type)
{
    return slice_starts_with(content_type, SLICE_OF("application/json")) ||
           slice_starts_with(content_type, SLICE_OF("text/plain")) || content_type.len == 0;
}

static bool has_object(struct slice body)
{
    const struct slice text = slice_trim(body);
    size_t at = 0;
    while (at < text.len && (text.data[at] == '\r' || text.data[at] == '\n' ||
                             text.data[at] == ' ' || text.data[at] == '\t'))
        at++;
    return at < text.len && text.data[at] == '{';
}

/* A body here must be a JSON object; checked first, since nothing else can be read otherwise. */
static bool check_body(const struct http_request *request, struct mistake *mistake)
{
    if (request->body.len == 0 || has_object(request->body))
        return true;
    if (is_json_type(request->content_type))
        *mistake = (struct mistake){
            .status = 400, .code = "malformed_body", .detail = "the body is not a JSON object"};
    else
        *mistake = (struct mistake){.status = 415,
                                    .code = "unsupported_media_type",
                                    .detail = "the body must be application/json"};
    return false;
}

static bool api_read(struct gate *gate, const struct http_request *request, struct visit *visit,
                     struct slice *key, struct mistake *mistake)
{
    (void)visit;
    if (!check_body(request, mistake) || !intake_read(gate, request, mistake))
        return false;
    *key = presented_key(gate, request);
    return true;
}

/* ---- handlers ---------------------------------------------------------------------------- */

void door_solve(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    visit->verb = VERB_ASK;
    verb_ask(gate, request, visit, NULL);
}

void door_state(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t id)
{
    if (verb_enter(gate, request, visit, SCOPE_SOLVE))
        verb_look(gate, request, visit, id);
}

void door_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t id)
{
    if (verb_enter(gate, request, visit, SCOPE_SOLVE))
        verb_detach(gate, request, visit, id);
}

static bool read_opinion(const struct gate *gate, bool *is_good, struct mistake *mistake)
{
    const struct slice good = params_value(&gate->params, SLICE_OF("good"));
    if (slice_equals(good, SLICE_OF("true")) || slice_equals(good, SLICE_OF("1"))) {
        *is_good = true;
        return true;
    }
    if (slice_equals(good, SLICE_OF("false")) || slice_equals(good, SLICE_OF("0"))) {
        *is_good = false;
        return true;
    }
    *mistake = (struct mistake){
        .status = 422, .code = "bad_parameter", .detail = "good: expected true or false"};
    return false;
}

void door_report(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t id)
{
    struct mistake mistake;
    bool is_good;
    if (!verb_enter(gate, request, visit, SCOPE_SOLVE))
        return;
    if (read_opinion(gate, &is_good, &mistake))
        verb_report(gate, request, visit, id, is_good);
    else
        visit->dialect->complain(gate, request->caller, visit, &mistake);
}

void door_explain(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    struct mistake mistake;
    struct ask ask;
    if (!verb_enter(gate, request, visit, SCOPE_SOLVE))
        return;
    if (!intake_ask(gate, request, visit, &ask, &mistake)) {
        visit->dialect->complain(gate, request->caller, visit, &mistake);
        return;
    }
    struct outlook outlook;
    engine_explain(gate->engine, &ask, &outlook);
    api_write_explanation(&gate->body, &gate->identity, &ask, &outlook);
    reply_json(gate, request->caller, visit, 200);
}

/* ---- answers ----------------------------------------------------------------------------- */

/* Adds the address for asking again while the request runs. */
static void add_location(struct gate *gate, const struct answer *answer)
{
    buf_add(&gate->headers, SLICE_OF("Location: /v1/solves/"));
    buf_add_u64(&gate->headers, answer->id);
    buf_add(&gate->headers, SLICE_OF("\r\n"));
}

static void reply_state(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    const bool is_started = visit->verb == VERB_ASK && answer->state != REQUEST_SOLVED;
    reply_answer_headers(gate, answer);
    if (is_started)
        add_location(gate, answer);
    api_write_answer(&gate->body, answer);
    reply_json(gate, answer->caller, visit, is_started ? 202 : 200);
}

static void reply_failure(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    struct problem problem;
    api_problem_of(answer, &gate->words, &problem);
    reply_problem(gate, answer->caller, visit, &problem);
}

static void api_answer(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    const bool is_about_state = visit->verb == VERB_ASK || visit->verb == VERB_LOOK;
    if (answer->refusal != REFUSAL_NONE || (is_about_state && answer->state == REQUEST_FAILED)) {
        reply_failure(gate, visit, answer);
    } else if (visit->verb == VERB_DETACH) {
        reply_json(gate, answer->caller, visit, 204);
    } else if (visit->verb == VERB_REPORT) {
        buf_add(&gate->body, SLICE_OF("{\"recorded\":true}"));
        reply_json(gate, answer->caller, visit, 200);
    } else {
        reply_state(gate, visit, answer);
    }
}

static void api_complain(struct gate *gate, caller_id caller, const struct visit *visit,
                         const struct mistake *mistake)
{
    const struct problem problem = {
        .status = mistake->status,
        .code = mistake->code,
        .detail = slice_from(mistake->detail),
    };
    if (mistake->status == 401)
        reply_header(gate, SLICE_OF("WWW-Authenticate"), SLICE_OF("Bearer"));
    reply_problem(gate, caller, visit, &problem);
}

const struct dialect dialect_api = {
    .kind = DIALECT_V1,
    .has_request_id = true,
    .has_prefer = true,
    .read = api_read,
    .answer = api_answer,
    .complain = api_complain,
};
