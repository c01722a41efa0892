#include "http/http_guard.h"

#include "base/ascii.h"

#include <string.h>

bool http_guard_refuse(struct http_parse *parse, uint16_t status, const char *mistake)
{
    /* The first mistake counts; llhttp's own error about our abort comes later. */
    if (parse->status == 0) {
        parse->status = status;
        parse->mistake = mistake;
    }
    return false;
}

/* RFC 9112 2.2 asks servers to tolerate one empty line, since old clients send one after a POST's
 * body. Only the exact CR LF is accepted: proxies disagree about a lone LF, and llhttp would skip
 * any number of either. */
int http_guard_lead(const char *bytes, size_t len)
{
    if (bytes[0] != '\r' && bytes[0] != '\n')
        return 0;
    if (bytes[0] == '\n' || (len > 1 && bytes[1] != '\n'))
        return -2;
    if (len < 3)
        return -1;
    return bytes[2] == '\r' || bytes[2] == '\n' ? -2 : 2;
}

/* Bytes above 0x7f are obs-text, which decoders interpret differently; llhttp itself refuses
 * control characters. */
static bool has_high_byte(const char *bytes, size_t len)
{
    uint64_t seen = 0;
    for (; len >= sizeof seen; bytes += sizeof seen, len -= sizeof seen) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        seen |= word;
    }
    for (; len > 0; bytes++, len--)
        seen |= (unsigned char)*bytes;
    return (seen & UINT64_C(0x8080808080808080)) != 0;
}

static const char *repeated_mistake(enum http_field field)
{
    switch (field) {
    case HTTP_FIELD_HOST:
        return "more than one Host";
    case HTTP_FIELD_CONTENT_TYPE:
        return "more than one Content-Type";
    case HTTP_FIELD_AUTHORIZATION:
        return "more than one Authorization";
    case HTTP_FIELD_IDEMPOTENCY_KEY:
        return "more than one Idempotency-Key";
    case HTTP_FIELD_ORIGIN:
        return "more than one Origin";
    case HTTP_FIELD_SEC_FETCH_SITE:
        return "more than one Sec-Fetch-Site";
    case HTTP_FIELD_EXPECT:
        return "more than one Expect";
    case HTTP_FIELD_TRANSFER_ENCODING:
        return "more than one Transfer-Encoding";
    case HTTP_FIELD_X_REQUEST_ID:
    case HTTP_FIELD_PREFER:
    case HTTP_FIELD_X_FORWARDED_FOR:
    case HTTP_FIELD_IF_NONE_MATCH:
    case HTTP_FIELD_COUNT:
        break;
    }
    return NULL;
}

bool http_guard_field(struct http_parse *parse)
{
    if (has_high_byte(parse->base + parse->value.at, parse->value.len))
        return http_guard_refuse(parse, 400, "a header value with bytes above 0x7f");
    if (parse->field == HTTP_FIELD_COUNT || parse->fields[parse->field].at == 0)
        return true;
    const char *mistake = repeated_mistake((enum http_field)parse->field);
    return mistake == NULL || http_guard_refuse(parse, 400, mistake);
}

/* Accepts exactly "METHOD SP target SP HTTP/1.x CR LF". llhttp also takes several spaces, a missing
 * version, HTTP/0.9, HTTP/2.0, RTSP and ICE, and a proxy in front of us may read each of them
 * differently. */
static bool check_line(struct http_parse *parse)
{
    const char *base = parse->base;
    const size_t url_end = (size_t)parse->url.at + parse->url.len;
    if (parse->llhttp.method == HTTP_CONNECT)
        return http_guard_refuse(parse, 400, "CONNECT is for proxies");
    if (parse->url.len == 0 || memchr(base, ' ', url_end) != base + parse->url.at - 1)
        return http_guard_refuse(parse, 400, "a malformed request line");
    if (parse->head_bytes - url_end < sizeof(" HTTP/1.1\r\n") - 1 ||
        (memcmp(base + url_end, " HTTP/1.1\r\n", 11) != 0 &&
         memcmp(base + url_end, " HTTP/1.0\r\n", 11) != 0))
        return http_guard_refuse(parse, 400, "a version other than HTTP/1.0 or HTTP/1.1");
    /* A target that begins with a slash is a path; other forms are rare. */
    if (base[parse->url.at] == '/')
        return true;
    struct slice path, query;
    http_parse_target(parse, base, &path, &query);
    return slice_is_given(path) || http_guard_refuse(parse, 400, "a malformed request target");
}

/* The characters of RFC 3986's host and port, without those that would make a list, a user or a
 * path of it. */
static bool is_authority_char(char c)
{
    return ascii_is_alnum(c) || (c != '\0' && strchr(".-:_~[]%!$&'()*+;=", c) != NULL);
}

static bool check_host(struct http_parse *parse)
{
    const struct slice host = http_parse_field(parse, parse->base, HTTP_FIELD_HOST);
    /* RFC 9112 3.2: 400 for a 1.1 request that lacks it. */
    if (!slice_is_given(host))
        return parse->llhttp.http_minor == 0 || http_guard_refuse(parse, 400, "no Host");
    for (size_t i = 0; i < host.len; i++)
        if (!is_authority_char(host.data[i]))
            return http_guard_refuse(parse, 400, "a malformed Host");
    return true;
}

/* RFC 9112 6.1 and 6.3. llhttp accepts "gzip, chunked", which ends in chunked but which we cannot
 * decode. */
static bool check_framing(struct http_parse *parse)
{
    const struct slice coding = http_parse_field(parse, parse->base, HTTP_FIELD_TRANSFER_ENCODING);
    if (slice_is_given(coding)) {
        if ((parse->llhttp.flags & F_CONTENT_LENGTH) != 0)
            return http_guard_refuse(parse, 400, "both Content-Length and Transfer-Encoding");
        if (parse->llhttp.http_minor == 0)
            return http_guard_refuse(parse, 400, "Transfer-Encoding in HTTP/1.0");
        if (!slice_equals_nocase(coding, SLICE_OF("chunked")) ||
            (parse->llhttp.flags & F_CHUNKED) == 0)
            return http_guard_refuse(parse, 400, "a Transfer-Encoding other than chunked");
    } else if ((parse->llhttp.flags & (F_TRANSFER_ENCODING | F_CHUNKED)) != 0) {
        return http_guard_refuse(parse, 400, "a malformed Transfer-Encoding");
    }
    if ((parse->llhttp.flags & F_CONTENT_LENGTH) != 0 &&
        parse->llhttp.content_length > parse->limits->body_bytes)
        return http_guard_refuse(parse, 413, "the body is too large");
    return true;
}

static bool check_expect(struct http_parse *parse)
{
    const struct slice expect = http_parse_field(parse, parse->base, HTTP_FIELD_EXPECT);
    if (!slice_is_given(expect))
        return true;
    if (!slice_equals_nocase(expect, SLICE_OF("100-continue")))
        return http_guard_refuse(parse, 417, "an Expect other than 100-continue");
    /* RFC 9110 10.1.1: a 1.0 client would not understand the 100. */
    parse->expects_continue = parse->llhttp.http_minor != 0;
    return true;
}

bool http_guard_head(struct http_parse *parse)
{
    /* Leading empty lines count here; a head in pieces is refused for them as well. */
    if (parse->url.at > HTTP_LINE_EXTRA_BYTES)
        return http_guard_refuse(parse, 431, "too many bytes before the request line");
    /* Whitespace before values is in no span, so only the size of the whole head includes it. */
    if (parse->head_bytes - parse->url.at - parse->url.len > parse->limits->header_bytes)
        return http_guard_refuse(parse, 431, "the header is too large");
    return check_line(parse) && check_host(parse) && check_framing(parse) && check_expect(parse);
}
