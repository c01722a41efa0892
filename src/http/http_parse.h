/* One request's bytes, in any pieces, to offsets of its parts; llhttp reads the head and the chunks. */
#ifndef SOLVEGATE_HTTP_HTTP_PARSE_H
#define SOLVEGATE_HTTP_HTTP_PARSE_H

#include "base/slice.h"
#include "http/http.h"

#include <llhttp.h>

/* Enough for any browser behind two proxies; Envoy stops at 100, and ours is a machine's API. */
#define HTTP_FIELDS_MAX 64

/* The header fields that mean something to us. */
enum http_field {
    HTTP_FIELD_HOST,
    HTTP_FIELD_CONTENT_TYPE,
    HTTP_FIELD_AUTHORIZATION,
    HTTP_FIELD_IDEMPOTENCY_KEY,
    HTTP_FIELD_X_REQUEST_ID,
    HTTP_FIELD_PREFER,
    HTTP_FIELD_ACCEPT,
    HTTP_FIELD_ORIGIN,
    HTTP_FIELD_SEC_FETCH_SITE,
    HTTP_FIELD_X_FORWARDED_FOR,
    HTTP_FIELD_EXPECT,
    HTTP_FIELD_TRANSFER_ENCODING,
    HTTP_FIELD_COUNT /* any other field */
};

enum http_phase {
    HTTP_PHASE_HEAD,
    HTTP_PHASE_LENGTH, /* a body whose length was announced: no parser needed */
    HTTP_PHASE_CHUNKS,
};

enum http_parsed {
    HTTP_PARSED_PART, /* well so far, more bytes are needed */
    HTTP_PARSED_WHOLE,
    HTTP_PARSED_BAD, /* status and mistake say why; no byte after it may be trusted */
};

struct http_limits {
    uint32_t url_bytes, header_bytes, body_bytes;
};

/* Offsets, not pointers: between two reads the bytes move from the shared buffer to an own one. */
struct http_span {
    uint32_t at;
    uint32_t len;
};

struct http_parse {
    llhttp_t llhttp;
    const struct http_limits *limits; /* borrowed */
    char *base;                       /* the request's first byte, while http_parse_feed runs */
    size_t fed;                       /* bytes that were looked at */
    size_t raw;          /* bytes after the head that were looked at, framing included */
    size_t raw_body_end; /* where among those the body last ended */
    const char *mistake; /* static text */
    struct http_span fields[HTTP_FIELD_COUNT];
    struct http_span name, value; /* of the field being read */
    struct http_span url;
    uint32_t head_bytes; /* the body begins here */
    uint32_t body_bytes;
    uint16_t status; /* to refuse with */
    uint16_t field_count;
    uint8_t phase; /* enum http_phase */
    uint8_t field; /* enum http_field */
    bool expects_continue;
};

/* Before the first byte of every request; limits stay borrowed. */
void http_parse_start(struct http_parse *parse, const struct http_limits *limits);

/* base is the request's first byte and *len how many bytes there are by now; those seen before must be
 * unchanged but may have moved. Chunks are joined in place, so the bytes are written to.
 * PART: *len becomes how many of them must be kept. WHOLE: how many belong to this request. */
enum http_parsed http_parse_feed(struct http_parse *parse, char *base, size_t *len);

/* Of a whole request, relative to the same base. */
struct slice http_parse_field(const struct http_parse *parse, const char *base,
                              enum http_field field);
struct slice http_parse_body(const struct http_parse *parse, const char *base);
enum http_method http_parse_method(const struct http_parse *parse);

/* Splits the target into path and query; absolute-form loses its authority, a fragment is cut off. */
void http_parse_target(const struct http_parse *parse, const char *base, struct slice *path,
                       struct slice *query);

static inline bool http_parse_is_started(const struct http_parse *parse)
{
    return parse->fed > 0;
}

#endif
