#include "http/http_parse.h"

#include "base/assert.h"
#include "http/http_guard.h"

#include <string.h>

/* Limit of chunk sizes, extensions and trailers between two bytes of body and after the last. Real
 * ones have tens of bytes; more only wastes our time. */
#define FRAMING_MAX 4096

static struct http_parse *parse_of(llhttp_t *llhttp)
{
    return CONTAINER_OF(llhttp, struct http_parse, llhttp);
}

/* A span may arrive in pieces, which are adjacent in memory. */
static void span_extend(const struct http_parse *parse, struct http_span *span, const char *at,
                        size_t len)
{
    if (span->at == 0)
        span->at = (uint32_t)(at - parse->base);
    span->len += (uint32_t)len;
}

static int on_url(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parse *parse = parse_of(llhttp);
    span_extend(parse, &parse->url, at, len);
    if (parse->url.len > parse->limits->url_bytes) {
        (void)http_guard_refuse(parse, 414, "the URL is too long");
        return HPE_USER;
    }
    return 0;
}

/* Stops a field that exceeds the limit while it arrives; the exact check follows with the whole
 * head. */
static int check_room(struct http_parse *parse, const struct http_span *span)
{
    const size_t used = (size_t)span->at + span->len - parse->url.at - parse->url.len;
    if (used <= parse->limits->header_bytes)
        return 0;
    (void)http_guard_refuse(parse, 431, "the header is too large");
    return HPE_USER;
}

static int on_field(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parse *parse = parse_of(llhttp);
    if (parse->phase != HTTP_PHASE_HEAD)
        return 0; /* A trailer: counted as framing, never read. */
    span_extend(parse, &parse->name, at, len);
    return check_room(parse, &parse->name);
}

static int on_value(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parse *parse = parse_of(llhttp);
    if (parse->phase != HTTP_PHASE_HEAD)
        return 0;
    span_extend(parse, &parse->value, at, len);
    return check_room(parse, &parse->value);
}

static enum http_field field_if(struct slice name, struct slice wanted, enum http_field field)
{
    return slice_equals_nocase(name, wanted) ? field : HTTP_FIELD_COUNT;
}

/* Compares lengths first, so that an unknown field costs at most one comparison. */
static enum http_field field_named(struct slice name)
{
    switch (name.len) {
    case 4:
        return field_if(name, SLICE_OF("host"), HTTP_FIELD_HOST);
    case 6:
        switch (name.data[0] | 0x20) {
        case 'p':
            return field_if(name, SLICE_OF("prefer"), HTTP_FIELD_PREFER);
        case 'o':
            return field_if(name, SLICE_OF("origin"), HTTP_FIELD_ORIGIN);
        case 'e':
            return field_if(name, SLICE_OF("expect"), HTTP_FIELD_EXPECT);
        default:
            return HTTP_FIELD_COUNT;
        }
    case 12:
        return (name.data[0] | 0x20) == 'c'
                   ? field_if(name, SLICE_OF("content-type"), HTTP_FIELD_CONTENT_TYPE)
                   : field_if(name, SLICE_OF("x-request-id"), HTTP_FIELD_X_REQUEST_ID);
    case 13:
        return (name.data[0] | 0x20) == 'a'
                   ? field_if(name, SLICE_OF("authorization"), HTTP_FIELD_AUTHORIZATION)
                   : field_if(name, SLICE_OF("if-none-match"), HTTP_FIELD_IF_NONE_MATCH);
    case 14:
        return field_if(name, SLICE_OF("sec-fetch-site"), HTTP_FIELD_SEC_FETCH_SITE);
    case 15:
        return (name.data[0] | 0x20) == 'i'
                   ? field_if(name, SLICE_OF("idempotency-key"), HTTP_FIELD_IDEMPOTENCY_KEY)
                   : field_if(name, SLICE_OF("x-forwarded-for"), HTTP_FIELD_X_FORWARDED_FOR);
    case 17:
        return field_if(name, SLICE_OF("transfer-encoding"), HTTP_FIELD_TRANSFER_ENCODING);
    default:
        return HTTP_FIELD_COUNT;
    }
}

static int on_value_complete(llhttp_t *llhttp)
{
    struct http_parse *parse = parse_of(llhttp);
    if (parse->phase != HTTP_PHASE_HEAD)
        return 0;
    if (++parse->field_count > HTTP_FIELDS_MAX) {
        (void)http_guard_refuse(parse, 431, "too many header fields");
        return HPE_USER;
    }
    const struct slice name = {.data = parse->base + parse->name.at, .len = parse->name.len};
    parse->field = (uint8_t)field_named(name);
    /* An empty value may have no offset of its own; a field is given if its offset is not 0. */
    if (parse->value.at == 0)
        parse->value.at = parse->name.at + parse->name.len;
    if (!http_guard_field(parse))
        return HPE_USER;
    if (parse->field != HTTP_FIELD_COUNT)
        parse->fields[parse->field] = parse->value;
    parse->name = parse->value = (struct http_span){0};
    return 0;
}

/* llhttp stops here: we frame the rest ourselves, and no Upgrade can take over the connection. */
static int on_headers_complete(llhttp_t *llhttp)
{
    llhttp->upgrade = 0;
    return HPE_PAUSED;
}

/* Counts from the last byte of body to this offset, so the result does not depend on how the bytes
 * arrive. */
static bool check_framing(struct http_parse *parse, size_t raw_at)
{
    return raw_at - parse->raw_body_end <= FRAMING_MAX ||
           http_guard_refuse(parse, 400, "too much chunk framing");
}

/* Refuses a chunk that is too large before its first byte, which may never come. feed_chunks, which
 * knows the offset, reports it. */
static int on_chunk_header(llhttp_t *llhttp)
{
    const struct http_parse *parse = parse_of(llhttp);
    return llhttp->content_length > parse->limits->body_bytes - parse->body_bytes ? HPE_USER : 0;
}

/* Joins the chunks by removing their framing, so that the body is one slice like any other. */
static int on_body(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parse *parse = parse_of(llhttp);
    const size_t raw_at = parse->raw + (size_t)(at - parse->base) - parse->fed;
    if (!check_framing(parse, raw_at))
        return HPE_USER;
    if (len > parse->limits->body_bytes - parse->body_bytes) {
        (void)http_guard_refuse(parse, 413, "the body is too large");
        return HPE_USER;
    }
    memmove(parse->base + parse->head_bytes + parse->body_bytes, at, len);
    parse->body_bytes += (uint32_t)len;
    parse->raw_body_end = raw_at + len;
    return 0;
}

static int on_message_complete(llhttp_t *llhttp)
{
    (void)llhttp;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_chunk_header = on_chunk_header,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void http_parse_start(struct http_parse *parse, const struct http_limits *limits)
{
    memset(parse, 0, sizeof *parse);
    parse->limits = limits;
    llhttp_init(&parse->llhttp, HTTP_REQUEST, &settings);
}

/* llhttp stops at the first digit that does not fit 64 bits; the number is too large by then. */
static bool is_length_overflow(const struct http_parse *parse, enum llhttp_errno err)
{
    return (err == HPE_INVALID_CONTENT_LENGTH || err == HPE_INVALID_CHUNK_SIZE) &&
           parse->llhttp.content_length > parse->limits->body_bytes;
}

static enum http_parsed fail(struct http_parse *parse, enum llhttp_errno err)
{
    if (err == HPE_CB_CHUNK_HEADER || is_length_overflow(parse, err))
        (void)http_guard_refuse(parse, 413, "the body is too large");
    const char *reason = llhttp_get_error_reason(&parse->llhttp);
    (void)http_guard_refuse(parse, 400, reason == NULL || *reason == '\0' ? "malformed" : reason);
    return HTTP_PARSED_BAD;
}

static size_t whole_length(const struct http_parse *parse)
{
    return parse->head_bytes + (size_t)parse->llhttp.content_length;
}

bool http_parse_may_end(const struct http_parse *parse, size_t len)
{
    return parse->phase != HTTP_PHASE_LENGTH || len >= whole_length(parse);
}

static enum http_parsed feed_length(struct http_parse *parse, size_t *len)
{
    const size_t wanted = whole_length(parse);
    if (*len < wanted) {
        parse->fed = *len;
        return HTTP_PARSED_PART;
    }
    parse->body_bytes = (uint32_t)parse->llhttp.content_length;
    parse->fed = *len = wanted;
    return HTTP_PARSED_WHOLE;
}

static enum http_parsed feed_chunks(struct http_parse *parse, char *base, size_t *len)
{
    const enum llhttp_errno err =
        llhttp_execute(&parse->llhttp, base + parse->fed, *len - parse->fed);
    const size_t end = err == HPE_OK ? *len : (size_t)(llhttp_get_error_pos(&parse->llhttp) - base);
    parse->raw += end - parse->fed;
    if (!check_framing(parse, parse->raw))
        return HTTP_PARSED_BAD;
    if (err != HPE_OK && err != HPE_PAUSED)
        return fail(parse, err);
    if (err == HPE_PAUSED) {
        *len = end;
        return HTTP_PARSED_WHOLE;
    }
    /* The framing is parsed, so only head and body need to stay. */
    parse->fed = *len = (size_t)parse->head_bytes + parse->body_bytes;
    return HTTP_PARSED_PART;
}

static enum http_parsed feed_head(struct http_parse *parse, char *base, size_t *len)
{
    const enum llhttp_errno err =
        llhttp_execute(&parse->llhttp, base + parse->fed, *len - parse->fed);
    if (err == HPE_OK) {
        parse->fed = *len;
        const size_t most = (size_t)parse->limits->url_bytes + parse->limits->header_bytes;
        if (*len <= most + HTTP_LINE_EXTRA_BYTES)
            return HTTP_PARSED_PART;
        (void)http_guard_refuse(parse, 431, "the header is too large");
        return HTTP_PARSED_BAD;
    }
    if (err != HPE_PAUSED)
        return fail(parse, err);
    parse->head_bytes = (uint32_t)(llhttp_get_error_pos(&parse->llhttp) - base);
    parse->fed = parse->head_bytes;
    if (!http_guard_head(parse))
        return HTTP_PARSED_BAD;
    if ((parse->llhttp.flags & F_CHUNKED) != 0) {
        parse->phase = HTTP_PHASE_CHUNKS;
        llhttp_resume(&parse->llhttp);
        return feed_chunks(parse, base, len);
    }
    parse->phase = HTTP_PHASE_LENGTH;
    return feed_length(parse, len);
}

enum http_parsed http_parse_feed(struct http_parse *parse, char *base, size_t *len)
{
    parse->base = base;
    switch ((enum http_phase)parse->phase) {
    case HTTP_PHASE_HEAD:
        return feed_head(parse, base, len);
    case HTTP_PHASE_LENGTH:
        return feed_length(parse, len);
    case HTTP_PHASE_CHUNKS:
        return feed_chunks(parse, base, len);
    }
    UNREACHABLE();
}

struct slice http_parse_field(const struct http_parse *parse, const char *base,
                              enum http_field field)
{
    const struct http_span span = parse->fields[field];
    if (span.at == 0)
        return SLICE_NONE;
    return slice_trim((struct slice){.data = base + span.at, .len = span.len});
}

struct slice http_parse_body(const struct http_parse *parse, const char *base)
{
    return (struct slice){.data = base + parse->head_bytes, .len = parse->body_bytes};
}

enum http_method http_parse_method(const struct http_parse *parse)
{
    switch (parse->llhttp.method) {
    case HTTP_GET:
        return HTTP_METHOD_GET;
    case HTTP_HEAD:
        return HTTP_METHOD_HEAD;
    case HTTP_POST:
        return HTTP_METHOD_POST;
    case HTTP_PUT:
        return HTTP_METHOD_PUT;
    case HTTP_DELETE:
        return HTTP_METHOD_DELETE;
    case HTTP_OPTIONS:
        return HTTP_METHOD_OPTIONS;
    default: /* Not our enum: a byte of llhttp's with many more values. */
        return HTTP_METHOD_OTHER;
    }
}

/* RFC 9112 3.2.2 requires servers to accept "http://host/path", as sent to proxies; returns the
 * path. */
static struct slice without_authority(struct slice target)
{
    struct slice rest;
    if (slice_starts_with(target, SLICE_OF("http://")))
        rest = slice_skip(target, 7);
    else if (slice_starts_with(target, SLICE_OF("https://")))
        rest = slice_skip(target, 8);
    else
        return target;
    while (rest.len > 0 && *rest.data != '/' && *rest.data != '?')
        rest = slice_skip(rest, 1);
    return rest;
}

void http_parse_target(const struct http_parse *parse, const char *base, struct slice *path,
                       struct slice *query)
{
    const struct slice whole = {.data = base + parse->url.at, .len = parse->url.len};
    struct slice target = without_authority(whole);
    const char *fragment = memchr(target.data, '#', target.len);
    if (fragment != NULL)
        target.len = (size_t)(fragment - target.data);
    const char *mark = memchr(target.data, '?', target.len);
    *path = target;
    *query = SLICE_NONE;
    if (mark != NULL) {
        path->len = (size_t)(mark - target.data);
        *query = (struct slice){.data = mark + 1, .len = target.len - path->len - 1};
    }
    if (path->len == 0 && target.data != whole.data)
        *path = SLICE_OF("/");
    else if (!slice_starts_with(*path, SLICE_OF("/")) && !slice_equals(*path, SLICE_OF("*")))
        *path = SLICE_NONE;
}
