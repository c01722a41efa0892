/* Multipart bodies: every value is a piece of the body between two delimiters, the parts come out the same however
 * the request was chunked and cut, and what is sent on to the vendor means the same.
 *
 * Input: a line with the content type, then the body. */
#include "feed.h"
#include "same.h"

#include "proto/multipart.h"
#include "proto/pack.h"
#include "proto/vendor_write.h"

#include <sodium.h>
#include <stdlib.h>

static const struct http_limits limits = {
    .url_bytes = 8192, .header_bytes = 16384, .body_bytes = 1 << 20};

/* A value stands behind an empty line and before a delimiter, and holds none itself. */
static void check_place(struct slice value, struct slice body, struct slice boundary)
{
    struct buf delimiter;
    buf_init(&delimiter, 256);
    buf_addf(&delimiter, "\r\n--%.*s", (int)boundary.len, boundary.data);
    if (memchr(boundary.data, '\0', boundary.len) == NULL) {
        const struct slice line = buf_slice(&delimiter);
        const size_t at = (size_t)(value.data - body.data);
        HOLDS(at >= 4 && memcmp(value.data - 4, "\r\n\r\n", 4) == 0);
        HOLDS(body.len - at - value.len >= line.len);
        HOLDS(memcmp(value.data + value.len, line.data, line.len) == 0);
        buf_add(&delimiter, SLICE_OF("--"));
        const struct slice closing = buf_slice(&delimiter);
        HOLDS(memmem(value.data, value.len, closing.data, closing.len) == NULL);
    }
    buf_close(&delimiter);
}

static void check_pieces(const struct params *params, struct slice body, struct slice boundary)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct slice value = params->items[i].value;
        HOLDS(value.data >= body.data && value.data + value.len <= body.data + body.len);
        check_place(value, body, boundary);
    }
}

/* The same body as a request in chunks: the parser joins them, and the parts are the same. */
static void check_chunked(const struct params *params, struct slice content_type, struct slice body,
                          enum pieces pieces)
{
    struct buf request;
    struct fed fed;
    buf_init(&request, (size_t)1 << 22);
    write_chunked(&request, content_type, body, body.len);
    feed_open(&fed, &limits, buf_slice(&request), pieces, body.len + 1);
    HOLDS(fed.parsed == HTTP_PARSED_WHOLE && fed.rest == 0);
    const struct slice joined = http_parse_body(&fed.parse, fed.base);
    HOLDS(slice_equals(joined, body));
    struct params again;
    params_init(&again, PARAMS_CAP);
    HOLDS(params_add_body(&again, http_parse_field(&fed.parse, fed.base, HTTP_FIELD_CONTENT_TYPE),
                          joined) == 0);
    HOLDS(params_are_same(params, &again));
    params_close(&again);
    feed_close(&fed);
    buf_close(&request);
}

/* A value of a header as every HTTP parser takes it. */
static bool is_plain_value(struct slice text)
{
    return slice_is_printable(text) && text.data[0] != ' ' && text.data[text.len - 1] != ' ' &&
           text.len < 4096;
}

/* Others are escaped, and may be too long for us then; the vendor has no such limit. */
static bool is_sent_as_it_is(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] < ' ' || name.data[i] > '~' || strchr("\"\\%", name.data[i]) != NULL)
            return false;
    return !slice_equals(name, SLICE_OF("sitekey")) && !slice_equals(name, SLICE_OF("googlekey"));
}

/* What the vendor gets holds our key and every parameter with its value. */
static void check_submit(const struct params *params)
{
    struct blob *packed = params_pack(params);
    struct buf body, type;
    struct params sent;
    buf_init(&body, (size_t)1 << 22);
    buf_init(&type, 256);
    params_init(&sent, (size_t)1 << 22);
    HOLDS(vendor_write_submit(packed, SLICE_OF("OURKEY"), SLICE_OF("https://gate/pingback/1"),
                              &body, &type) == 0);
    const int code = params_add_body(&sent, buf_slice(&type), buf_slice(&body));
    bool is_plain = params->count <= PARAMS_MAX - 4;
    for (size_t i = 0; i < params->count; i++)
        is_plain &= is_sent_as_it_is(params->items[i].name);
    HOLDS(code == 0 || !is_plain);
    if (code == 0) {
        HOLDS(slice_equals(params_value(&sent, SLICE_OF("key")), SLICE_OF("OURKEY")));
        HOLDS(slice_starts_with(params_value(&sent, SLICE_OF("pingback")),
                                SLICE_OF("https://gate/pingback/1")));
        for (size_t i = 0; i < params->count; i++) {
            const struct param *param = &params->items[i];
            if (param_is_transport(param->name) || !is_sent_as_it_is(param->name))
                continue;
            const struct param *there = params_find(&sent, param->name);
            HOLDS(there != NULL && slice_equals(there->value, param->value));
            HOLDS(slice_is_given(there->filename) == slice_is_given(param->filename));
        }
    }
    params_close(&sent);
    buf_close(&type);
    buf_close(&body);
    blob_unref(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    const struct slice content_type = input_line(&input);
    const struct slice rest = input_rest(&input);
    char *bytes = exact_copy(rest);
    const struct slice body = {.data = bytes, .len = rest.len};
    struct slice boundary;
    struct params params;
    HOLDS(sodium_init() >= 0);
    params_init(&params, PARAMS_CAP);
    const bool is_multipart = multipart_boundary(content_type, &boundary);
    const int code = params_add_body(&params, content_type, body);
    check_reading(&params, code);
    if (is_multipart)
        HOLDS(boundary.len > 0 && slice_is_within(boundary, content_type));
    if (is_multipart && code == 0) {
        check_pieces(&params, body, boundary);
        check_packing(&params);
        check_submit(&params);
        if (is_plain_value(content_type)) {
            check_chunked(&params, content_type, body, PIECES_WHOLE);
            check_chunked(&params, content_type, body, PIECES_BYTES);
            check_chunked(&params, content_type, body, PIECES_DRAWN);
        }
    }
    params_close(&params);
    free(bytes);
    return 0;
}
