#include "http/http_head.h"

#include "base/assert.h"
#include "http/http_private.h"
#include "proto/http_status.h"

#include <string.h>
#include <time.h>

static struct slice status_line(uint16_t status)
{
    switch (status) {
#define LINE(code, words) \
    case code:            \
        return SLICE_OF("HTTP/1.1 " #code " " words "\r\n");
        HTTP_STATUS_LIST(LINE)
#undef LINE
    default:
        return SLICE_NONE;
    }
}

/* RFC 9110 6.6.1 requires Date of every server with a clock; formatted once a second. */
static struct slice date_line(struct http_server *server)
{
    const uint64_t now_ms = uv_now(server->loop);
    if (now_ms >= server->date_due_ms) {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        struct tm parts;
        (void)gmtime_r(&now.tv_sec, &parts);
        /* The program never calls setlocale, so the names are English. */
        (void)strftime(server->date, sizeof server->date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
                       &parts);
        server->date_due_ms = now_ms + 1000 - (uint64_t)(now.tv_nsec / 1000000);
    }
    return slice_from(server->date);
}

static char *put(char *at, struct slice bytes)
{
    if (bytes.len > 0)
        memcpy(at, bytes.data, bytes.len);
    return at + bytes.len;
}

static char *put_u64(char *at, uint64_t number)
{
    char digits[20]; /* 2^64 - 1 has 20 */
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return put(at, (struct slice){.data = digits + start, .len = sizeof digits - start});
}

static char *put_status(char *at, uint16_t status)
{
    const struct slice line = status_line(status);
    if (slice_is_given(line))
        return put(at, line);
    at = put(at, SLICE_OF("HTTP/1.1 "));
    at = put_u64(at, status);
    return put(at, SLICE_OF(" Other\r\n"));
}

static struct slice connection_line(const struct http_exchange *exchange, bool closes)
{
    if (closes)
        return SLICE_OF("Connection: close\r\n");
    return exchange->is_old ? SLICE_OF("Connection: keep-alive\r\n") : SLICE_NONE;
}

void http_head_format(struct http_server *server, struct buf *out,
                      const struct http_exchange *exchange, const struct http_reply *reply,
                      bool closes)
{
    /* RFC 9110 8.6: such replies have neither a body nor a Content-Length. */
    const bool is_bodiless = reply->status == 204 || reply->status == 304;
    /* The fixed parts, longest status line and number included, stay below 256. */
    char *start =
        buf_reserve(out, 256 + reply->content_type.len + reply->headers.len + reply->body.len);
    ASSERT(start != NULL);
    char *at = put_status(start, reply->status);
    at = put(at, date_line(server));
    if (reply->content_type.len > 0) {
        at = put(at, SLICE_OF("Content-Type: "));
        at = put(at, reply->content_type);
        at = put(at, SLICE_OF("\r\n"));
    }
    at = put(at, reply->headers);
    at = put(at, connection_line(exchange, closes));
    if (!is_bodiless) {
        at = put(at, SLICE_OF("Content-Length: "));
        at = put_u64(at, reply->body.len);
        at = put(at, SLICE_OF("\r\n"));
    }
    at = put(at, SLICE_OF("\r\n"));
    if (!is_bodiless && !exchange->is_head)
        at = put(at, reply->body);
    buf_commit(out, (size_t)(at - start));
}
