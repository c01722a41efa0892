/* GET /v1/flights/{key}: an admin sees every flight, any other client those that it asked for or joined. */
#include "doors/door_flight.h"

#include "doors/door_cluster_letters.h"
#include "doors/reply.h"
#include "doors/verbs.h"
#include "gate/client_names.h"
#include "proto/api_timeline.h"

/* Fewer digits could be those of several keys. */
#define DIGITS_MIN 8
/* Much more than a view can be. */
#define SHOWN_MAX_BYTES ((size_t)256 * 1024)

static const struct problem bad_key = {
    .status = 422,
    .code = "bad_parameter",
    .detail = SLICE_INIT("key: expected the key of a flight, or at least the first 8 of its 64 "
                         "hexadecimal digits"),
};
static const struct problem unknown_flight = {
    .status = 404,
    .code = "unknown_flight",
    .detail = SLICE_INIT("nothing with this key is in flight or remembered; what is solved or "
                         "given up is found by its whole key, which /v1/explain tells"),
};

/* -1: not a hexadecimal digit. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_prefix(struct slice text, struct key_prefix *prefix)
{
    *prefix = (struct key_prefix){.digits = text.len};
    if (text.len < DIGITS_MIN || text.len > 2 * (size_t)KEY_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const int digit = digit_of(text.data[i]);
        if (digit < 0)
            return false;
        prefix->key.bytes[i / 2] |= (uint8_t)(i % 2 == 0 ? digit << 4 : digit);
    }
    return true;
}

static struct slice last_part(struct slice path)
{
    size_t start = path.len;
    while (start > 0 && path.data[start - 1] != '/')
        start--;
    return (struct slice){.data = path.data + start, .len = path.len - start};
}

static bool is_admin(const struct gate *gate, client_id client)
{
    return gate->config->client_count == 0 ||
           (gate->config->clients[client].scopes & SCOPE_ADMIN) != 0;
}

/* ---- of this gateway ----------------------------------------------------------------------- */

static enum shown worth_of(const struct key_view *view)
{
    for (size_t i = 0; i < view->flight_count; i++)
        if (!view->flights[i].is_elsewhere)
            return SHOWN_FLIGHT;
    return SHOWN_REST;
}

static enum shown look_up(struct gate *gate, const struct show *show, struct key_view *view)
{
    const struct onlooker onlooker = {.client = show->client, .sees_all = show->sees_all};
    if (!engine_look_up(gate->engine, &show->prefix, &onlooker, gate_now_ms(gate), view))
        return SHOWN_NOTHING;
    return worth_of(view);
}

static void write_view(struct gate *gate, struct buf *out, const struct show *show,
                       const struct key_view *view)
{
    const struct onlooker onlooker = {.client = show->client, .sees_all = show->sees_all};
    const struct api_names names = client_names(gate);
    api_write_timeline(out, view, &onlooker, &names, node_name_of_self(gate));
}

/* ---- of the others ------------------------------------------------------------------------- */

/* Whoever asks is told by name: one that this gateway does not have sees nothing here. */
struct blob *door_flight_show(struct gate *gate, const struct fact *fact, enum shown *shown)
{
    struct key_view view;
    struct buf text;
    struct show show = fact->show;
    show.client = fact->errand.client;
    if (!show.sees_all && !client_is_live(gate, show.client))
        return NULL;
    *shown = look_up(gate, &show, &view);
    if (*shown == SHOWN_NOTHING)
        return NULL;
    buf_init(&text, SHOWN_MAX_BYTES);
    write_view(gate, &text, &show, &view);
    struct blob *const blob = text.is_full ? NULL : blob_new(buf_slice(&text));
    buf_close(&text);
    return blob;
}

static void reply_missing(struct gate *gate, const struct visit *visit,
                          const struct shown_answer *answer)
{
    const struct problem busy = {.status = 503,
                                 .code = "busy",
                                 .is_retryable = true,
                                 .retry_after_ms = 1000,
                                 .detail = SLICE_OF("too many look for keys that other gateways "
                                                    "may have")};
    const struct problem away = {.status = 503,
                                 .code = "store_away",
                                 .is_retryable = true,
                                 .retry_after_ms = 1000,
                                 .detail = SLICE_OF("this gateway does not know the key, and not "
                                                    "all others could be asked")};
    const bool is_unknown = answer->refusal == REFUSAL_UNKNOWN_ID;
    const bool is_busy = answer->refusal == REFUSAL_FULL_REQUESTS;
    reply_problem(gate, answer->show.caller, visit,
                  is_unknown ? &unknown_flight
                  : is_busy  ? &busy
                             : &away);
}

/* What is known here may have changed meanwhile, and counts for as much as what is known elsewhere. */
void door_flight_shown(struct gate *gate, const struct visit *visit,
                       const struct shown_answer *answer)
{
    struct key_view view;
    const caller_id caller = answer->show.caller;
    const enum shown own = look_up(gate, &answer->show, &view);
    if (answer->text != NULL && answer->shown > own) {
        buf_add(&gate->body, blob_slice(answer->text));
        reply_json(gate, caller, visit, 200);
    } else if (own != SHOWN_NOTHING) {
        write_view(gate, &gate->body, &answer->show, &view);
        reply_json(gate, caller, visit, 200);
    } else {
        reply_missing(gate, visit, answer);
    }
}

/* ---- asking -------------------------------------------------------------------------------- */

void door_flight(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    (void)number;
    struct key_view view;
    if (!verb_enter(gate, request, visit, 0))
        return;
    struct event event = gate_event(gate, EVENT_SHOW);
    struct show *const show = &event.show;
    *show = (struct show){.caller = request->caller,
                          .client = visit->client,
                          .sees_all = is_admin(gate, visit->client)};
    if (!read_prefix(last_part(request->path), &show->prefix)) {
        reply_problem(gate, request->caller, visit, &bad_key);
        return;
    }
    const enum shown own = look_up(gate, show, &view);
    if (own != SHOWN_FLIGHT && gate->cluster.is_on) {
        visit_store(request, visit);
        gate_step(gate, &event);
    } else if (own != SHOWN_NOTHING) {
        write_view(gate, &gate->body, show, &view);
        reply_json(gate, request->caller, visit, 200);
    } else {
        reply_problem(gate, request->caller, visit, &unknown_flight);
    }
}
