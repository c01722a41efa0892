#include "sim/http_write.h"

#include "base/assert.h"
#include "base/blob.h"
#include "sim/http_private.h"

#include <stdlib.h>
#include <time.h>

/* Bytes that the socket did not take at once. */
struct write_op {
    uv_write_t request;
    struct conn *conn; /* outlives the write: closing cancels it first */
    struct blob *bytes;
};

static const char *status_text(int status)
{
    switch (status) {
    case 200:
        return "200 OK";
    case 400:
        return "400 Bad Request";
    case 404:
        return "404 Not Found";
    case 405:
        return "405 Method Not Allowed";
    case 413:
        return "413 Content Too Large";
    case 414:
        return "414 URI Too Long";
    case 422:
        return "422 Unprocessable Content";
    case 429:
        return "429 Too Many Requests";
    case 431:
        return "431 Request Header Fields Too Large";
    case 500:
        return "500 Internal Server Error";
    case 502:
        return "502 Bad Gateway";
    case 503:
        return "503 Service Unavailable";
    case 504:
        return "504 Gateway Timeout";
    case 505:
        return "505 HTTP Version Not Supported";
    }
    return "500 Internal Server Error";
}

/* The Date line is formatted once a second, not once a request. */
static struct slice date_line(struct http_server *server)
{
    const uint64_t now_ms = clock_now_ms(server->clock);

    if (server->date[0] == '\0' || now_ms - server->date_ms >= 1000) {
        const time_t wall = (time_t)(clock_wall_ms(server->clock, now_ms) / 1000);
        struct tm parts;
        gmtime_r(&wall, &parts);
        strftime(server->date, sizeof server->date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
        server->date_ms = now_ms;
    }
    return slice_from(server->date);
}

void conn_render(struct conn *conn, const struct http_reply *reply, struct buf *out, bool is_head)
{
    buf_add(out, SLICE_OF("HTTP/1.1 "));
    buf_add(out, slice_from(status_text(reply->status)));
    buf_add(out, SLICE_OF("\r\nServer: solvegate-sim\r\n"));
    buf_add(out, date_line(conn->server));
    buf_add(out, SLICE_OF("Content-Type: "));
    buf_add(out, slice_from(reply->content_type));
    buf_add(out, SLICE_OF("\r\nContent-Length: "));
    buf_add_u64(out, reply->body->len);
    if (conn->is_last)
        buf_add(out, SLICE_OF("\r\nConnection: close\r\n"));
    else if (conn->parser.http_minor == 0)
        buf_add(out, SLICE_OF("\r\nConnection: keep-alive\r\n"));
    else
        buf_add(out, SLICE_OF("\r\n"));
    if (reply->headers.len > 0)
        buf_add(out, reply->headers);
    buf_add(out, SLICE_OF("\r\n"));
    if (!is_head)
        buf_add(out, buf_slice(reply->body));
}

static void hold(struct conn *conn, enum conn_phase phase, uint64_t delay_ms)
{
    struct clock *clock = conn->server->clock;

    conn->phase = phase;
    clock_arm(clock, &conn->timer, clock_now_ms(clock) + delay_ms);
}

static void truncate_reply(struct conn *conn, const struct http_reply *reply)
{
    struct buf *out = &conn->server->out;
    const uint64_t body_bytes = reply->body->len;
    const uint64_t kept = reply->amount < body_bytes ? reply->amount : body_bytes;

    conn_render(conn, reply, out, false);
    out->len -= (size_t)(body_bytes - kept);
}

/* Sends the replies gathered for earlier requests before it closes the connection. */
static void die(struct conn *conn, bool is_reset)
{
    conn->is_last = false;
    conn_flush(conn);
    if (is_reset)
        conn_reset(conn);
    else
        conn_linger(conn);
}

bool conn_deliver(struct conn *conn, const struct http_reply *reply, bool is_head)
{
    struct buf *out = &conn->server->out;

    switch (reply->delivery) {
    case HTTP_SEND:
        conn_render(conn, reply, out, is_head);
        return conn->is_last || out->len > GATHER_BYTES;
    case HTTP_HOLD:
    case HTTP_DRIP:
        conn_render(conn, reply, &conn->held, is_head);
        conn->drip_ms = reply->amount;
        hold(conn, reply->delivery == HTTP_HOLD ? CONN_HOLDING : CONN_DRIPPING, reply->amount);
        return true;
    case HTTP_WAIT:
    case HTTP_NEVER:
        clock_cancel(conn->server->clock, &conn->timer);
        conn->phase = CONN_WAITING;
        return true;
    case HTTP_TRUNCATE:
        truncate_reply(conn, reply);
        conn->is_last = true;
        return true;
    case HTTP_CLOSE:
    case HTTP_RESET:
        die(conn, reply->delivery == HTTP_RESET);
        return true;
    }
    UNREACHABLE();
}

static void on_written(uv_write_t *request, int status)
{
    struct write_op *op = (struct write_op *)(void *)request;
    struct conn *conn = op->conn;

    blob_unref(op->bytes);
    free(op);
    if (conn->phase == CONN_CLOSED || conn->phase == CONN_LINGERING)
        return;
    if (status < 0)
        conn_close(conn);
    else if (conn->phase == CONN_FLUSHING)
        conn_resume(conn);
}

static bool queue_write(struct conn *conn, struct slice bytes)
{
    struct write_op *op = calloc(1, sizeof *op);

    ASSERT(op != NULL);
    op->conn = conn;
    op->bytes = blob_new(bytes);
    uv_buf_t buf = uv_buf_init(op->bytes->data, op->bytes->len);
    if (uv_write(&op->request, (uv_stream_t *)&conn->tcp, &buf, 1, on_written) == 0)
        return true;
    blob_unref(op->bytes);
    free(op);
    return false;
}

static void after_flush(struct conn *conn, bool is_queued)
{
    if (conn->phase != CONN_READING)
        return;
    if (conn->is_last) {
        conn_linger(conn);
    } else if (is_queued) {
        conn->phase = CONN_FLUSHING;
        conn_limit_write(conn);
    }
}

void conn_flush(struct conn *conn)
{
    struct buf *out = &conn->server->out;
    bool is_queued = false;

    if (out->len == 0 || conn->phase == CONN_CLOSED) {
        buf_reset(out);
        return;
    }
    uv_buf_t buf = uv_buf_init(out->data, (unsigned)out->len);
    const int rc = uv_try_write((uv_stream_t *)&conn->tcp, &buf, 1);
    if (rc < 0 && rc != UV_EAGAIN) {
        conn_close(conn);
    } else if (rc < 0 || (size_t)rc < out->len) {
        const size_t done = rc < 0 ? 0 : (size_t)rc;
        is_queued =
            queue_write(conn, (struct slice){.data = out->data + done, .len = out->len - done});
        if (!is_queued)
            conn_close(conn);
    }
    if (out->room > 4 * GATHER_BYTES) {
        buf_close(out);
        buf_init(out, REPLY_BYTES_MAX);
    } else {
        buf_reset(out);
    }
    after_flush(conn, is_queued);
}

void conn_send_held(struct conn *conn)
{
    buf_add(&conn->server->out, buf_slice(&conn->held));
    buf_close(&conn->held);
    buf_init(&conn->held, REPLY_BYTES_MAX);
    conn->phase = CONN_READING;
    conn_flush(conn);
    if (conn->phase == CONN_READING)
        conn_resume(conn);
}

void conn_drip(struct conn *conn)
{
    struct clock *clock = conn->server->clock;
    const uint64_t pace_ms = conn->drip_ms;

    buf_add(&conn->server->out, (struct slice){.data = conn->held.data, .len = 1});
    buf_consume(&conn->held, 1);
    if (conn->held.len == 0) {
        conn_send_held(conn);
        return;
    }
    conn_flush(conn);
    if (conn->phase == CONN_DRIPPING)
        clock_arm(clock, &conn->timer, clock_now_ms(clock) + pace_ms);
}
