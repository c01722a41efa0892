#include "proto/api.h"

#include "base/assert.h"
#include "proto/http_status.h"
#include "proto/json_out.h"

#include <solvegate/words.h>

#include <stdlib.h>
#include <time.h>
#include <yyjson.h>

/* ---- answers ----------------------------------------------------------------------------- */

static yyjson_doc *open_members(const struct blob *extra)
{
    /* The blob's text, which is not written to without YYJSON_READ_INSITU. */
    return extra == NULL
               ? NULL
               : yyjson_read_opts((char *)(size_t)extra->data, extra->len,
                                  YYJSON_READ_NUMBER_AS_RAW | YYJSON_READ_ALLOW_INVALID_UNICODE,
                                  NULL, NULL);
}

static struct slice value_json(const yyjson_val *value)
{
    size_t len = 0;
    char *text = yyjson_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);
    ASSERT(text != NULL);
    return (struct slice){.data = text, .len = len};
}

static void free_json(struct slice json)
{
    free((char *)(size_t)json.data);
}

static void add_value(struct buf *out, yyjson_val *value)
{
    if (json_add_plain(out, value))
        return;
    const struct slice json = value_json(value);
    (void)json_add_clean(out, json);
    free_json(json);
}

void api_write_text(struct buf *out, struct slice text)
{
    json_member(out, "solution");
    if (!json_add_string(out, text))
        json_base64(out, "solution_base64", text);
}

/* Writes the JSON of an object or array. */
static void write_container(struct buf *out, const yyjson_val *value)
{
    const struct slice json = value_json(value);
    json_member(out, "solution");
    if (!json_add_clean(out, json))
        json_base64(out, "solution_base64", json);
    free_json(json);
}

/* An object or array stays one in the answer; anything else is written as its text. */
static void write_solution(struct buf *out, const struct answer *answer, yyjson_val *members)
{
    yyjson_val *request = yyjson_obj_get(members, "request");
    if (yyjson_is_ctn(request))
        write_container(out, request);
    else
        api_write_text(out, blob_slice(answer->text));
}

static bool is_the_answer(const struct answer *answer, yyjson_val *value)
{
    return yyjson_is_str(value) &&
           slice_equals(blob_slice(answer->text), (struct slice){.data = yyjson_get_str(value),
                                                                 .len = yyjson_get_len(value)});
}

/* Writes the members that the solution itself does not contain. */
static void write_extra(struct buf *out, const struct answer *answer, yyjson_val *members)
{
    bool has_any = false;
    yyjson_obj_iter iter = yyjson_obj_iter_with(members);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (yyjson_equals_str(key, "request") ||
            (yyjson_equals_str(key, "result") && is_the_answer(answer, value)))
            continue;
        if (!has_any) {
            json_member(out, "extra");
            json_open(out, '{');
        }
        has_any = true;
        json_item(out);
        add_value(out, key);
        buf_add_char(out, ':');
        add_value(out, value);
    }
    if (has_any)
        json_close(out, '}');
}

void api_write_answer(struct buf *out, const struct answer *answer)
{
    yyjson_doc *doc = open_members(answer->extra);
    yyjson_val *members = yyjson_doc_get_root(doc);
    json_open(out, '{');
    json_id(out, "id", answer->id);
    json_string(out, "status", request_state_name(answer->state));
    if (answer->state == REQUEST_SOLVED) {
        write_solution(out, answer, members);
        json_string(out, "source", source_name(answer->source));
        json_seconds(out, "age", answer->age_ms);
        json_seconds(out, "expires_in", answer->expires_in_ms);
    }
    json_number(out, "attempts", answer->attempts);
    if (answer->task_id[0] != '\0')
        json_string(out, "upstream_id", answer->task_id);
    write_extra(out, answer, members);
    if (answer->is_renewed)
        json_bool(out, "renewed", true);
    json_close(out, '}');
    yyjson_doc_free(doc);
}

/* ---- problems ---------------------------------------------------------------------------- */

void api_write_problem(struct buf *out, const struct problem *problem)
{
    json_open(out, '{');
    json_string(out, "type", "about:blank");
    json_string(out, "title", http_status_text(problem->status));
    json_number(out, "status", problem->status);
    json_text(out, "detail", problem->detail);
    json_string(out, "code", problem->code);
    json_bool(out, "retryable", problem->is_retryable);
    if (problem->upstream_code.len > 0)
        json_text(out, "upstream_code", problem->upstream_code);
    if (problem->id != 0)
        json_id(out, "id", problem->id);
    if (problem->letter != 0)
        json_id(out, "letter", problem->letter);
    json_close(out, '}');
}

/* status, code, may the same request work later */
struct verdict {
    uint16_t status;
    const char *code;
    bool is_retryable;
};

static struct verdict refusal_verdict(enum refusal refusal)
{
    switch (refusal) {
    case REFUSAL_FULL_REQUESTS:
        return (struct verdict){429, "too_many_requests", true};
    case REFUSAL_FULL_FLIGHTS:
        return (struct verdict){429, "too_many_flights", true};
    case REFUSAL_FULL_PER_FLIGHT:
        return (struct verdict){429, "too_many_joined", true};
    case REFUSAL_FULL_CLIENT:
        return (struct verdict){429, "client_limit", true};
    case REFUSAL_BUDGET:
        return (struct verdict){429, "budget_used_up", true};
    case REFUSAL_BREAKER:
        return (struct verdict){503, "breaker_open", true};
    case REFUSAL_MISMATCH:
        return (struct verdict){422, "idempotency_mismatch", false};
    case REFUSAL_DRAINING:
        return (struct verdict){503, "shutting_down", true};
    case REFUSAL_STORE:
        return (struct verdict){503, "journal_full", true};
    case REFUSAL_STORE_AWAY:
        return (struct verdict){503, "store_away", true};
    case REFUSAL_UNKNOWN_ID:
        return (struct verdict){404, "unknown_id", false};
    case REFUSAL_NOT_SOLVED:
        return (struct verdict){409, "not_solved", true};
    case REFUSAL_NONE:
    case REFUSAL_COUNT:
        break;
    }
    UNREACHABLE();
}

static struct verdict failure_verdict(enum error_class class)
{
    switch (class) {
    case CLASS_BUSY:
        return (struct verdict){503, "vendor_busy", true};
    case CLASS_ACCOUNT:
        return (struct verdict){503, "vendor_account", true};
    case CLASS_UNSOLVABLE:
        return (struct verdict){502, "unsolvable", true};
    case CLASS_TRANSIENT:
        return (struct verdict){502, "vendor_unreachable", true};
    case CLASS_AMBIGUOUS:
        return (struct verdict){504, "ambiguous_submit", true};
    case CLASS_TIMEOUT:
        return (struct verdict){504, "solve_timeout", true};
    case CLASS_CALLER:
        return (struct verdict){502, "refused_by_vendor", false};
    case CLASS_PROXY:
        return (struct verdict){502, "bad_proxy", false};
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_UNKNOWN:
    case CLASS_COUNT:
        return (struct verdict){502, "unknown_error", true};
    }
    UNREACHABLE();
}

static const char *failure_text(enum error_class class)
{
    switch (class) {
    case CLASS_BUSY:
        return "The vendor stayed busy through all retries";
    case CLASS_ACCOUNT:
        return "The vendor account is unavailable; the operator has to look at it";
    case CLASS_UNSOLVABLE:
        return "The vendor could not solve it";
    case CLASS_TRANSIENT:
        return "The vendor could not be reached or failed through all retries";
    case CLASS_AMBIGUOUS:
        return "The submit was sent and never heard of, and may not be repeated";
    case CLASS_TIMEOUT:
        return "The deadline passed before the vendor had an answer";
    case CLASS_CALLER:
        return "The vendor refused the parameters";
    case CLASS_PROXY:
        return "The vendor could not use the given proxy";
    case CLASS_NONE:
    case CLASS_PENDING:
    case CLASS_UNKNOWN:
    case CLASS_COUNT:
        return "The vendor answered with an error this gateway does not know";
    }
    UNREACHABLE();
}

/* A repeated request gets the same end. */
static bool is_undeliverable(const struct answer *answer)
{
    const struct slice code = slice_from(answer->code);
    return answer->refusal == REFUSAL_NONE &&
           (slice_equals(code, CODE_BAD_SOLUTION) || slice_equals(code, CODE_HUGE_SOLUTION));
}

void api_problem_of(const struct answer *answer, struct buf *scratch, struct problem *problem)
{
    const bool is_refused = answer->refusal != REFUSAL_NONE;
    struct verdict verdict =
        is_refused ? refusal_verdict(answer->refusal) : failure_verdict(answer->class);
    buf_reset(scratch);
    const char *text = is_refused ? refusal_text(answer->refusal) : failure_text(answer->class);
    if (is_undeliverable(answer)) {
        verdict = (struct verdict){502, "undeliverable", false};
        text = "The vendor's answer cannot be handed on; the operator finds it in a dead letter";
    }
    buf_add(scratch, slice_from(text));
    if (answer->letter != 0)
        buf_addf(scratch, ", number %llu", (unsigned long long)answer->letter);
    if (answer->code[0] != '\0')
        buf_addf(scratch, " (%s)", answer->code);
    *problem = (struct problem){
        .status = verdict.status,
        .code = verdict.code,
        .detail = buf_slice(scratch),
        .upstream_code = slice_from(answer->code),
        .is_retryable = verdict.is_retryable,
        .retry_after_ms = answer->retry_after_ms,
        .id = answer->id,
        .letter = answer->letter,
    };
    /* Without a hint, clients would retry a 503 at once. */
    if (verdict.status == 503 && problem->retry_after_ms == 0)
        problem->retry_after_ms = 5000;
}

/* ---- explanations ------------------------------------------------------------------------ */

/* Longer values are cut: nobody compares them by eye, and all of them must fit into one reply. */
#define EXPLAINED_MAX 4096

static void write_counted(struct buf *out, const struct identity_field *field)
{
    json_item(out);
    json_add_string(out, field->name);
    buf_add_char(out, ':');
    if (field->value.len > EXPLAINED_MAX)
        buf_addf(out, "\"<%zu bytes>\"", field->value.len);
    else
        json_add_string(out, field->value);
}

static const char *outlook_word(const struct outlook *outlook)
{
    if (outlook->refusal != REFUSAL_NONE)
        return "refuse";
    if (outlook->letter != 0)
        return "fail";
    if (outlook->would_hit)
        return "hit";
    return outlook->would_join ? "join" : "submit";
}

void api_write_explanation(struct buf *out, const struct identity *identity, const struct ask *ask,
                           const struct outlook *outlook)
{
    json_open(out, '{');
    json_hex(out, "key", identity->key.bytes, KEY_BYTES);
    json_string(out, "type", type_name(identity->type));
    json_text(out, "method", identity->method);
    json_member(out, "counted");
    json_open(out, '{');
    for (size_t i = 0; i < identity->field_count; i++)
        write_counted(out, &identity->fields[i]);
    json_close(out, '}');
    json_member(out, "ignored");
    json_open(out, '[');
    for (size_t i = 0; i < identity->ignored_count; i++) {
        json_item(out);
        json_add_string(out, identity->ignored[i]);
    }
    json_close(out, ']');
    json_string(out, "reuse", reuse_name(ask->reuse));
    json_seconds(out, "min_ttl", ask->min_ttl_ms);
    if (ask->max_age_ms != UINT32_MAX)
        json_seconds(out, "max_age", ask->max_age_ms);
    if (ask->has_max_retries)
        json_number(out, "max_retries", ask->max_retries);
    if (ask->retry_delay_ms > 0)
        json_seconds(out, "retry_delay", ask->retry_delay_ms);
    json_bool(out, "cacheable", !identity->is_one_time && ask->reuse != REUSE_NONE);
    json_string(out, "would", outlook_word(outlook));
    if (outlook->refusal != REFUSAL_NONE)
        json_string(out, "why", refusal_text(outlook->refusal));
    else if (outlook->letter != 0)
        json_id(out, "letter", outlook->letter);
    else
        json_string(out, "source", source_name(outlook->source));
    if (outlook->would_hit) {
        json_seconds(out, "age", outlook->age_ms);
        json_seconds(out, "expires_in", outlook->expires_in_ms);
    }
    json_close(out, '}');
}

/* ---- flights ----------------------------------------------------------------------------- */

static void write_flight(struct buf *out, const struct flight_view *view,
                         const struct api_names *names)
{
    json_open(out, '{');
    json_hex(out, "key", view->key.bytes, KEY_BYTES);
    json_string(out, "state", view->phase);
    json_string(out, "client", names->client_name(names->context, view->client));
    json_string(out, "type", type_name(view->type));
    json_string(out, "dialect", dialect_name(view->dialect));
    json_string(out, "reuse", reuse_name(view->reuse));
    json_number(out, "requests", view->requests);
    json_number(out, "attempts", view->attempts);
    json_seconds(out, "age", view->age_ms);
    json_seconds(out, "deadline_in", view->deadline_in_ms);
    if (view->task_id[0] != '\0')
        json_string(out, "upstream_id", view->task_id);
    if (view->last_error[0] != '\0')
        json_string(out, "last_error", view->last_error);
    json_close(out, '}');
}

void api_close_page(struct buf *out, uint64_t total, uint64_t next)
{
    json_close(out, ']');
    json_number(out, "total", total);
    if (next == 0)
        json_null(out, "next");
    else
        json_id(out, "next", next);
    json_close(out, '}');
}

void api_write_flights(struct buf *out, const struct flight_view *views, size_t count,
                       uint64_t total, uint64_t next, const struct api_names *names,
                       const char *node)
{
    json_open(out, '{');
    if (node != NULL)
        json_string(out, "node", node);
    json_member(out, "flights");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        write_flight(out, &views[i], names);
    api_close_page(out, total, next);
}
