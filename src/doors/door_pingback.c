/* The vendor's callbacks: genuine ones are taken, all others get the same 404 (docs/design.md 5.7). */
#include "doors/door_pingback.h"

#include "doors/intake.h"
#include "doors/reply.h"
#include "proto/nonce.h"
#include "proto/vendor.h"

#include <solvegate/view.h>

#define PREFIX SLICE_OF("/pingback/")
#define PLAIN SLICE_OF("text/plain; charset=utf-8")

/* The longest configurable solve_timeout. */
#define NONCE_LIFE_MS 3600000

static void say(struct gate *gate, caller_id caller, uint16_t status, struct slice text)
{
    buf_add(&gate->body, text);
    reply_text(gate, caller, status, PLAIN);
}

/* Replies with the same bytes to every forged, malformed or outdated nonce; only a counter records
 * it. */
static void turn_away(struct gate *gate, const struct http_request *request)
{
    const struct event event = gate_event(gate, EVENT_FORGED);
    gate_step(gate, &event);
    say(gate, request->caller, 404, SLICE_OF("not found\n"));
}

static struct slice value_of(const struct gate *gate, struct slice name, struct slice other)
{
    const struct slice value = params_value(&gate->params, name);
    return slice_is_given(value) ? value : params_value(&gate->params, other);
}

/* True for a nonce of the current or the previous secret. Both are tried for every nonce that is turned away, so that
 * its timing reveals nothing. */
static bool is_genuine(const struct gate *gate, struct slice text, struct nonce *nonce)
{
    return nonce_read(gate->nonce_secret, text, nonce) ||
           nonce_read(gate->old_nonce_secret, text, nonce);
}

/* True for a nonce that nobody can still need (docs/reliability.md, threat 12). Attempts that the
 * engine knows are always accepted, so that setting the clock loses no callback. Nonces of an older
 * version carry no time; they were all told before we started. */
static bool is_outdated(const struct gate *gate, const struct event *event,
                        const struct nonce *nonce)
{
    const int64_t age_ms = nonce->told_s == 0 ? (int64_t)(event->now_ms - gate->started_ms)
                                              : event->wall_ms - (int64_t)nonce->told_s * 1000;
    return age_ms > NONCE_LIFE_MS && !engine_knows_attempt(gate->engine, nonce->attempt);
}

/* Checks the nonce before it looks up, parses or allocates anything for this call. */
void door_pingback(struct gate *gate, const struct http_request *request, struct visit *visit,
                   uint64_t number)
{
    (void)number;
    struct mistake mistake;
    const struct slice text = {.data = request->path.data + PREFIX.len,
                               .len = request->path.len - PREFIX.len};
    struct nonce nonce;
    struct event event = gate_event(gate, EVENT_CALLBACK);
    if (!is_genuine(gate, text, &nonce) || is_outdated(gate, &event, &nonce)) {
        turn_away(gate, request);
        return;
    }
    if (!intake_read(gate, request, &mistake)) {
        say(gate, request->caller, mistake.status, slice_from(mistake.detail));
        return;
    }
    const struct slice code = params_value(&gate->params, SLICE_OF("code"));
    gate->protocol->read_callback(&gate->config->upstream.vendor,
                                  value_of(gate, SLICE_OF("id"), SLICE_OF("captcha_id")), code,
                                  &event.result);
    /* A callback that names the task proves that the task exists, even if everything else is
     * missing. */
    if (code.len == 0 && event.result.task_id[0] == '\0') {
        say(gate, request->caller, 400, SLICE_OF("code is missing\n"));
        return;
    }
    event.result.attempt = nonce.attempt;
    event.result.caller = request->caller;
    visit_store(request, visit);
    gate_step(gate, &event);
    blob_unref(event.result.text);
    blob_unref(event.result.extra);
}

void door_pingback_end(struct gate *gate, caller_id caller, bool is_kept)
{
    if (is_kept) {
        say(gate, caller, 200, SLICE_OF("OK"));
        return;
    }
    buf_add(&gate->headers, SLICE_OF("Retry-After: 10\r\n"));
    say(gate, caller, 503, SLICE_OF("not stored, call again\n"));
}
