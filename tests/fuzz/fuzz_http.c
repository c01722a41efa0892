/* HTTP bytes: a connection's requests are the same whole, byte by byte and in any pieces, and what is accepted
 * keeps the promises that the doors rely on.
 *
 * Input: one byte (odd: small limits), one byte that chooses the pieces, then the bytes of the connection. */
#include "feed.h"
#include "same.h"

#include "config/config.h"
#include "http/http_guard.h"
#include "http/http_peer.h"
#include "proto/form.h"
#include "proto/idempotency.h"

#define REQUESTS_MAX 8

static const struct http_limits small = {.url_bytes = 64, .header_bytes = 256, .body_bytes = 64};
static const struct http_limits large = {
    .url_bytes = 8192, .header_bytes = 16384, .body_bytes = 65536};

/* The statuses that docs/api.md names for bytes that are no request. */
static bool is_refusal(uint16_t status)
{
    return status == 400 || status == 413 || status == 414 || status == 417 || status == 431;
}

/* No byte of a header value can end a line of a log or of a request that we send. */
static void check_field(struct slice field)
{
    for (size_t i = 0; i < field.len; i++)
        HOLDS((field.data[i] >= ' ' || field.data[i] == '\t') && field.data[i] != 0x7f);
}

static void check_forwarded(struct slice forwarded)
{
    const struct network network = {.address = {[10] = 0xff, [11] = 0xff, [12] = 10},
                                    .prefix_bits = 104};
    struct http_address address;
    char text[HTTP_PEER_TEXT_MAX];
    if (!slice_is_given(forwarded) || !http_peer_forwarded(&address, forwarded, &network, 1))
        return;
    /* Whoever it was: printed, it is the same address again, and none of the trusted ones. */
    struct http_address again;
    const size_t len = http_peer_print(&address, text);
    HOLDS(len < sizeof(text) && text[len] == '\0');
    HOLDS(http_peer_parse(&again, (struct slice){.data = text, .len = len}));
    HOLDS(memcmp(address.bytes, again.bytes, sizeof(again.bytes)) == 0);
}

/* What the doors do first with a request. */
static void check_parameters(struct slice query, struct slice content_type, struct slice body)
{
    struct params params;
    params_init(&params, PARAMS_CAP);
    int code = params_add_form(&params, query);
    if (code == 0)
        code = params_add_body(&params, content_type, body);
    check_reading(&params, code);
    params_close(&params);
}

static void check_whole(const struct fed *fed, const struct http_limits *limits, struct slice bytes)
{
    struct slice path, query;
    http_parse_target(&fed->parse, fed->base, &path, &query);
    HOLDS(slice_starts_with(path, SLICE_OF("/")) || slice_equals(path, SLICE_OF("*")));
    const struct slice body = http_parse_body(&fed->parse, fed->base);
    HOLDS(body.len <= limits->body_bytes && fed->parse.url.len <= limits->url_bytes);
    HOLDS(fed->parse.head_bytes + body.len + fed->rest <= bytes.len);
    for (int i = 0; i < HTTP_FIELD_COUNT; i++)
        check_field(http_parse_field(&fed->parse, fed->base, (enum http_field)i));
    check_forwarded(http_parse_field(&fed->parse, fed->base, HTTP_FIELD_X_FORWARDED_FOR));
    struct slice key = SLICE_NONE;
    const struct slice raw = http_parse_field(&fed->parse, fed->base, HTTP_FIELD_IDEMPOTENCY_KEY);
    if (slice_is_given(raw) && idempotency_key_parse(raw, &key))
        HOLDS(key.len > 0 && key.len <= 255 && slice_is_within(key, raw));
    check_parameters(query, http_parse_field(&fed->parse, fed->base, HTTP_FIELD_CONTENT_TYPE),
                     body);
}

/* One request at the start of bytes; returns how many bytes are done with, 0 at the end. */
static size_t check_request(const struct http_limits *limits, struct slice bytes, uint64_t seed)
{
    const int lead = http_guard_lead(bytes.data, bytes.len);
    HOLDS(lead == 0 || lead == 2 || lead == -1 || lead == -2);
    if (lead < 0)
        return 0;
    const struct slice request = {.data = bytes.data + lead, .len = bytes.len - (size_t)lead};
    struct fed whole, single, drawn;
    feed_open(&whole, limits, request, PIECES_WHOLE, seed);
    feed_open(&single, limits, request, PIECES_BYTES, seed);
    feed_open(&drawn, limits, request, PIECES_DRAWN, seed);
    HOLDS(feed_is_same(&whole, &single) && feed_is_same(&whole, &drawn));
    if (whole.parsed == HTTP_PARSED_WHOLE)
        check_whole(&whole, limits, request);
    if (whole.parsed == HTTP_PARSED_BAD)
        HOLDS(is_refusal(whole.status) && whole.parse.mistake != NULL);
    const size_t done = whole.parsed == HTTP_PARSED_WHOLE ? bytes.len - whole.rest : 0;
    feed_close(&whole);
    feed_close(&single);
    feed_close(&drawn);
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    const struct http_limits *limits = input_flag(&input) ? &small : &large;
    const uint64_t seed = input_byte(&input);
    struct slice bytes = input_rest(&input);
    for (unsigned i = 0; i < REQUESTS_MAX && bytes.len > 0; i++) {
        const size_t done = check_request(limits, bytes, seed + i);
        if (done == 0)
            break;
        bytes = (struct slice){.data = bytes.data + done, .len = bytes.len - done};
    }
    return 0;
}
