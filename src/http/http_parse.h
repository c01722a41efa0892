/* Turns one request's bytes, in any pieces, into offsets of its parts; llhttp parses the head and
 * the chunks. */
#ifndef SOLVEGATE_HTTP_HTTP_PARSE_H
#define SOLVEGATE_HTTP_HTTP_PARSE_H

#include "base/slice.h"
#include "http/http.h"

#include <llhttp.h>

/* Enough for any browser behind two proxies; Envoy stops at 100, and this is an API for programs. */
#define HTTP_FIELDS_MAX 64

/* The header fields that we use. */
enum http_field {
    HTTP_FIELD_HOST,
    HTTP_FIELD_CONTENT_TYPE,
    HTTP_FIELD_AUTHORIZATION,
    HTTP_FIELD_IDEMPOTENCY_KEY,
    HTTP_FIELD_X_REQUEST_ID,
    HTTP_FIELD_PREFER,
    HTTP_FIELD_ORIGIN,
    HTTP_FIELD_SEC_FETCH_SITE,
    HTTP_FIELD_X_FORWARDED_FOR,
    HTTP_FIELD_IF_NONE_MATCH,
    HTTP_FIELD_EXPECT,
    HTTP_FIELD_TRANSFER_ENCODING,
    HTTP_FIELD_COUNT /* any other field */
};

enum http_phase {
    HTTP_PHASE_HEAD,
    HTTP_PHASE_LENGTH, /* a body of announced length: needs no parser */
    HTTP_PHASE_CHUNKS,
};

enum http_parsed {
    HTTP_PARSED_PART, /* valid so far, more bytes are needed */
    HTTP_PARSED_WHOLE,
    HTTP_PARSED_BAD, /* status and mistake say why; no later byte may be trusted */
};

struct http_limits {
    uint32_t url_bytes, header_bytes, body_bytes;
};

/* Offsets, not pointers: between two reads the bytes move from the shared buffer to the
 * connection's own. */
struct http_span {
    uint32_t at;
    uint32_t len;
};

struct http_parse {
    llhttp_t llhttp;
    const struct http_limits *limits; /* borrowed */
    char *base;                       /* the request's first byte, while http_parse_feed runs */
    size_t fed;                       /* bytes parsed so far */
    size_t raw;                       /* bytes parsed after the head, framing included */
    size_t raw_body_end;              /* the end of the body so far, as an offset into those */
    const char *mistake;              /* static text */
    struct http_span fields[HTTP_FIELD_COUNT];
    struct http_span name, value; /* of the field being read */
    struct http_span url;
    uint32_t head_bytes; /* the body begins here */
    uint32_t body_bytes;
    uint16_t status; /* of the refusal */
    uint16_t field_count;
    uint8_t phase; /* enum http_phase */
    uint8_t field; /* enum http_field */
    bool expects_continue;
};

/* Call it before the first byte of every request; limits stay borrowed. */
void http_parse_start(struct http_parse *parse, const struct http_limits *limits);

/* base is the request's first byte and *len the number of bytes so far; those seen before must be
 * unchanged but may have moved. Chunks are joined in place, so the bytes are written to. PART: *len
 * becomes how many of them must be kept. WHOLE: how many belong to this request. */
enum http_parsed http_parse_feed(struct http_parse *parse, char *base, size_t *len);

/* May these many bytes be the whole request? Of chunks that is not known in advance. */
bool http_parse_may_end(const struct http_parse *parse, size_t len);

/* For a complete request, relative to the same base. */
struct slice http_parse_field(const struct http_parse *parse, const char *base,
                              enum http_field field);
struct slice http_parse_body(const struct http_parse *parse, const char *base);
enum http_method http_parse_method(const struct http_parse *parse);

/* Splits the target into path and query; removes the authority of an absolute form and the
 * fragment. */
void http_parse_target(const struct http_parse *parse, const char *base, struct slice *path,
                       struct slice *query);

static inline bool http_parse_is_started(const struct http_parse *parse)
{
    return parse->fed > 0;
}

#endif
