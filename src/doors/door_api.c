/* The JSON API: solves, their state, reports and explanations (docs/design.md 6.2). */
#include "doors/doors.h"
#include "doors/intake.h"
#include "doors/reply.h"

#include <solvegate/words.h>

#define BEARER SLICE_OF("Bearer ")

/* The key from the Authorization header, else from the parameters. */
static struct slice presented_key(const struct gate *gate, const struct http_request *request)
{
    const struct slice header = request->authorization;
    if (header.len > BEARER.len &&
        slice_equals_nocase((struct slice){.data = header.data, .len = BEARER.len}, BEARER))
        return slice_trim(
            (struct slice){.data = header.data + BEARER.len, .len = header.len - BEARER.len});
    return params_value(&gate->params, SLICE_OF("key"));
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

/* A body at this door is a JSON object; said before anything else, since nothing else makes sense. */
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

static bool enter(struct gate *gate, const struct http_request *request, struct visit *visit,
                  unsigned scope)
{
    struct mistake mistake;
    const bool is_in =
        check_body(request, &mistake) && intake_read(gate, request, &mistake) &&
        intake_client(gate, presented_key(gate, request), scope, &visit->client, &mistake);
    if (!is_in)
        intake_complain(gate, request->caller, visit, &mistake);
    return is_in;
}

bool door_admit(struct gate *gate, const struct http_request *request, struct visit *visit)
{
    return enter(gate, request, visit, SCOPE_ADMIN);
}

/* `Prefer: wait=N` (RFC 7240) counts when the parameters do not say. */
static void read_prefer(const struct http_request *request, uint32_t *hold_ms)
{
    struct slice rest = request->prefer;
    while (rest.len > 0) {
        const char *comma = memchr(rest.data, ',', rest.len);
        const size_t len = comma == NULL ? rest.len : (size_t)(comma - rest.data);
        const struct slice token = slice_trim((struct slice){.data = rest.data, .len = len});
        unsigned long long seconds;
        if (slice_starts_with(token, SLICE_OF("wait=")) &&
            slice_to_u64((struct slice){.data = token.data + 5, .len = token.len - 5}, &seconds)) {
            *hold_ms = seconds > HOLD_MAX_MS / 1000 ? HOLD_MAX_MS : (uint32_t)seconds * 1000;
            return;
        }
        const size_t step = comma == NULL ? rest.len : len + 1;
        rest = (struct slice){.data = rest.data + step, .len = rest.len - step};
    }
}

/* ---- handlers ---------------------------------------------------------------------------- */

static bool read_solve(struct gate *gate, const struct http_request *request, struct visit *visit,
                       struct ask *ask)
{
    struct mistake mistake;
    if (!enter(gate, request, visit, SCOPE_SOLVE))
        return false;
    if (!intake_ask(gate, request, visit->client, ask, &mistake)) {
        intake_complain(gate, request->caller, visit, &mistake);
        return false;
    }
    if (!slice_is_given(params_value(&gate->params, SLICE_OF("wait"))))
        read_prefer(request, &ask->hold_ms);
    intake_pack(gate, ask);
    ask_memo_keep(&gate->ask_memo, visit, ask);
    return true;
}

void door_solve(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t number)
{
    (void)number;
    struct event event = gate_event(gate, EVENT_ASK);
    visit->door = DOOR_SOLVE;
    if (!ask_memo_find(&gate->ask_memo, request, visit, &event.ask) &&
        !read_solve(gate, request, visit, &event.ask))
        return;
    if (event.ask.hold_ms > 0)
        http_expect_hold(gate->server, request->caller);
    visit_store(request, visit);
    gate_step(gate, &event);
    intake_ask_close(&event.ask);
}

void door_state(struct gate *gate, const struct http_request *request, struct visit *visit,
                uint64_t id)
{
    struct mistake mistake;
    if (!enter(gate, request, visit, SCOPE_SOLVE))
        return;
    struct event event = gate_event(gate, EVENT_LOOK);
    event.look = (struct look){.caller = request->caller, .client = visit->client, .id = id};
    if (!intake_hold(gate, &event.look.hold_ms, &mistake)) {
        intake_complain(gate, request->caller, visit, &mistake);
        return;
    }
    if (!slice_is_given(params_value(&gate->params, SLICE_OF("wait"))))
        read_prefer(request, &event.look.hold_ms);
    if (event.look.hold_ms > 0)
        http_expect_hold(gate->server, request->caller);
    visit->door = DOOR_STATE;
    visit_store(request, visit);
    gate_step(gate, &event);
}

void door_detach(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t id)
{
    if (!enter(gate, request, visit, SCOPE_SOLVE))
        return;
    struct event event = gate_event(gate, EVENT_DETACH);
    event.detach = (struct detach){.caller = request->caller, .client = visit->client, .id = id};
    visit->door = DOOR_DETACH;
    visit_store(request, visit);
    gate_step(gate, &event);
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
    if (!enter(gate, request, visit, SCOPE_SOLVE))
        return;
    struct event event = gate_event(gate, EVENT_REPORT);
    event.report = (struct report){.caller = request->caller, .client = visit->client, .id = id};
    if (!read_opinion(gate, &event.report.is_good, &mistake)) {
        intake_complain(gate, request->caller, visit, &mistake);
        return;
    }
    visit->door = DOOR_OPINION;
    visit_store(request, visit);
    gate_step(gate, &event);
}

void door_explain(struct gate *gate, const struct http_request *request, struct visit *visit,
                  uint64_t number)
{
    (void)number;
    struct mistake mistake;
    struct ask ask;
    if (!enter(gate, request, visit, SCOPE_SOLVE))
        return;
    if (!intake_ask(gate, request, visit->client, &ask, &mistake)) {
        intake_complain(gate, request->caller, visit, &mistake);
        return;
    }
    struct outlook outlook;
    engine_explain(gate->engine, &ask, &outlook);
    api_write_explanation(&gate->body, &gate->identity, &ask, &outlook);
    reply_json(gate, request->caller, visit, 200);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void add_answer_headers(struct gate *gate, const struct answer *answer)
{
    if (answer->state == REQUEST_SOLVED) {
        reply_header(gate, SLICE_OF("Solvegate-Source"), slice_from(source_name(answer->source)));
        buf_add(&gate->headers, SLICE_OF("Age: "));
        buf_add_u64(&gate->headers, answer->age_ms / 1000);
        buf_add(&gate->headers, SLICE_OF("\r\n"));
    }
    if (answer->is_replayed)
        reply_header(gate, SLICE_OF("Idempotency-Replayed"), SLICE_OF("true"));
}

/* Where to ask again while it runs, and when: the vendor needs seconds. */
static void add_location(struct gate *gate, const struct answer *answer)
{
    buf_add(&gate->headers, SLICE_OF("Location: /v1/solves/"));
    buf_add_u64(&gate->headers, answer->id);
    buf_add(&gate->headers, SLICE_OF("\r\n"));
}

static void reply_state(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    const bool is_running = answer->state != REQUEST_SOLVED;
    add_answer_headers(gate, answer);
    if (is_running && visit->door == DOOR_SOLVE)
        add_location(gate, answer);
    api_write_answer(&gate->body, answer);
    reply_json(gate, answer->caller, visit, is_running && visit->door == DOOR_SOLVE ? 202 : 200);
}

static void reply_failure(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    struct problem problem;
    api_problem_of(answer, &gate->words, &problem);
    reply_problem(gate, answer->caller, visit, &problem);
}

void door_api_answer(struct gate *gate, const struct visit *visit, const struct answer *answer)
{
    const bool is_about_state = visit->door == DOOR_SOLVE || visit->door == DOOR_STATE;
    if (answer->refusal != REFUSAL_NONE || (is_about_state && answer->state == REQUEST_FAILED)) {
        reply_failure(gate, visit, answer);
    } else if (visit->door == DOOR_DETACH) {
        reply_json(gate, answer->caller, visit, 204);
    } else if (visit->door == DOOR_OPINION) {
        buf_add(&gate->body, SLICE_OF("{\"recorded\":true}"));
        reply_json(gate, answer->caller, visit, 200);
    } else {
        reply_state(gate, visit, answer);
    }
}
