#include "doors/reply.h"

#include "proto/dialect_write.h"

#include <solvegate/words.h>

#define PLAIN SLICE_OF("text/plain; charset=utf-8")
#define JSON SLICE_OF("application/json")
#define PROBLEM SLICE_OF("application/problem+json")

void reply_header(struct gate *gate, struct slice name, struct slice value)
{
    buf_add(&gate->headers, name);
    buf_add(&gate->headers, SLICE_OF(": "));
    buf_add(&gate->headers, value);
    buf_add(&gate->headers, SLICE_OF("\r\n"));
}

void reply_answer_headers(struct gate *gate, const struct answer *answer)
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

void reply_retry_after(struct gate *gate, uint32_t retry_after_ms)
{
    buf_add(&gate->headers, SLICE_OF("Retry-After: "));
    buf_add_u64(&gate->headers, ((uint64_t)retry_after_ms + 999) / 1000);
    buf_add(&gate->headers, SLICE_OF("\r\n"));
}

static void deliver_bytes(struct gate *gate, caller_id caller, uint16_t status,
                          struct slice content_type, struct slice body)
{
    const struct http_reply reply = {
        .status = status,
        .content_type = content_type,
        .headers = buf_slice(&gate->headers),
        .body = body,
    };
    http_reply(gate->server, caller, &reply);
    buf_reset(&gate->headers);
}

static void deliver(struct gate *gate, caller_id caller, uint16_t status, struct slice content_type)
{
    deliver_bytes(gate, caller, status, content_type, buf_slice(&gate->body));
    buf_reset(&gate->body);
}

void reply_text(struct gate *gate, caller_id caller, uint16_t status, struct slice content_type)
{
    deliver(gate, caller, status, content_type);
}

void reply_dialect(struct gate *gate, caller_id caller, const struct visit *visit)
{
    if (visit->has_cors)
        reply_header(gate, SLICE_OF("Access-Control-Allow-Origin"), SLICE_OF("*"));
    deliver(gate, caller, 200, visit->is_json ? JSON : PLAIN);
}

void reply_dialect_word(struct gate *gate, caller_id caller, const struct visit *visit,
                        struct slice word)
{
    dialect_write_word(&gate->body, visit->is_json, word);
    reply_dialect(gate, caller, visit);
}

static void add_request_id(struct gate *gate, const struct visit *visit)
{
    if (visit->x_request_id_len > 0)
        reply_header(gate, SLICE_OF("X-Request-Id"),
                     (struct slice){.data = visit->x_request_id, .len = visit->x_request_id_len});
}

void reply_json(struct gate *gate, caller_id caller, const struct visit *visit, uint16_t status)
{
    add_request_id(gate, visit);
    deliver(gate, caller, status, JSON);
}

void reply_bytes(struct gate *gate, caller_id caller, const struct visit *visit,
                 struct slice content_type, struct slice body)
{
    add_request_id(gate, visit);
    deliver_bytes(gate, caller, 200, content_type, body);
}

void reply_problem(struct gate *gate, caller_id caller, const struct visit *visit,
                   const struct problem *problem)
{
    add_request_id(gate, visit);
    if (problem->retry_after_ms > 0)
        reply_retry_after(gate, problem->retry_after_ms);
    buf_reset(&gate->body);
    api_write_problem(&gate->body, problem);
    deliver(gate, caller, problem->status, PROBLEM);
}
