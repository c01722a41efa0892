/* GET /v1/flights/{key}: an admin sees every flight, any other client those that it asked for or joined. */
#include "doors/door_flight.h"

#include "doors/reply.h"
#include "doors/verbs.h"
#include "gate/client_names.h"
#include "proto/api_timeline.h"

/* Fewer digits could be those of several keys. */
#define DIGITS_MIN 8

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

void door_flight(struct gate *gate, const struct http_request *request, struct visit *visit,
                 uint64_t number)
{
    (void)number;
    struct key_prefix prefix;
    struct key_view view;
    if (!verb_enter(gate, request, visit, 0))
        return;
    if (!read_prefix(last_part(request->path), &prefix)) {
        reply_problem(gate, request->caller, visit, &bad_key);
        return;
    }
    const struct onlooker onlooker = {.client = visit->client,
                                      .sees_all = is_admin(gate, visit->client)};
    if (!engine_look_up(gate->engine, &prefix, &onlooker, gate_now_ms(gate), &view)) {
        reply_problem(gate, request->caller, visit, &unknown_flight);
        return;
    }
    const struct api_names names = client_names(gate);
    api_write_timeline(&gate->body, &view, &onlooker, &names);
    reply_json(gate, request->caller, visit, 200);
}
