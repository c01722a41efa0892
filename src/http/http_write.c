#include "http/http_write.h"

#include "base/assert.h"
#include "http/http_conn.h"
#include "http/http_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Replies are bounded by their writers; the cap only keeps the arithmetic of struct buf from
 * overflowing. */
#define NO_CAP (SIZE_MAX / 4)
/* The shared buffer is freed after a reply of this size. */
#define OUT_ROOM_KEPT (8 * HTTP_GATHER_BYTES)

static struct http_outbox *outbox_of(struct http_conn *conn)
{
    if (conn->outbox == NULL) {
        conn->outbox = calloc(1, sizeof *conn->outbox);
        ASSERT(conn->outbox != NULL);
        conn->outbox->conn = conn;
        buf_init(&conn->outbox->pending, NO_CAP);
        buf_init(&conn->outbox->flying, NO_CAP);
    }
    return conn->outbox;
}

void http_write_forget(struct http_conn *conn)
{
    if (conn->outbox == NULL)
        return;
    buf_close(&conn->outbox->pending);
    conn->outbox->gone = 0;
}

void http_write_free(struct http_conn *conn)
{
    if (conn->outbox == NULL)
        return;
    buf_close(&conn->outbox->pending);
    buf_close(&conn->outbox->flying);
    free(conn->outbox);
    conn->outbox = NULL;
}

struct buf *http_write_sink(struct http_conn *conn)
{
    return conn->server->gathering == conn ? &conn->server->out : &outbox_of(conn)->pending;
}

/* Bytes that neither the socket nor libuv has taken yet. */
static struct slice rest_of(const struct http_outbox *outbox)
{
    const struct slice all = buf_slice(&outbox->pending);
    return slice_skip(all, outbox->gone);
}

size_t http_write_queued(const struct http_conn *conn)
{
    const struct http_outbox *outbox = conn->outbox;
    return outbox == NULL ? 0 : rest_of(outbox).len + outbox->flying.len;
}

bool http_write_has_progress(const struct http_outbox *outbox, uint64_t *mark)
{
    const bool has_progress = outbox->sent - *mark >= HTTP_PROGRESS_BYTES;
    *mark = outbox->sent;
    return has_progress;
}

static void on_written(uv_write_t *request, int status)
{
    struct http_outbox *outbox = CONTAINER_OF(request, struct http_outbox, request);
    struct http_conn *conn = outbox->conn;
    outbox->is_flying = false;
    if (status != 0) {
        http_conn_close(conn);
        return;
    }
    conn->server->counters.bytes_out += outbox->flying.len;
    outbox->sent += outbox->flying.len;
    buf_reset(&outbox->flying);
    http_conn_settle(conn);
}

/* Returns how many bytes the socket took at once, or -1 if the connection is broken. */
static ssize_t try_write(struct http_conn *conn, struct slice bytes)
{
    uv_os_fd_t fd;
    if (uv_fileno(&conn->uv.handle, &fd) != 0)
        return -1;
    /* uv_try_write would call write(), which goes through the file layer: 0.1 of some 4 us. */
    ssize_t written;
    do {
        written = send(fd, bytes.data, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (written < 0 && errno == EINTR);
    if (written < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
    conn->server->counters.bytes_out += (uint64_t)written;
    return written;
}

/* The socket is full. libuv gets a little of the rest and calls on_written when the socket takes
 * more. */
static bool send_rest(struct http_conn *conn)
{
    struct http_outbox *outbox = conn->outbox;
    struct slice part = rest_of(outbox);
    if (part.len > HTTP_FLYING_BYTES)
        part.len = HTTP_FLYING_BYTES;
    buf_add(&outbox->flying, part);
    outbox->gone += part.len;
    outbox->is_flying = true;
    const uv_buf_t flying = uv_buf_init(outbox->flying.data, (unsigned)outbox->flying.len);
    if (uv_write(&outbox->request, &conn->uv.stream, &flying, 1, on_written) == 0)
        return true;
    outbox->is_flying = false;
    http_conn_close(conn);
    return false;
}

/* Writes the replies gathered while input was processed; usually one write sends them all. */
static bool flush_gathered(struct http_conn *conn)
{
    struct http_server *server = conn->server;
    struct buf *out = &server->out;
    ssize_t written = 0;
    if (conn->outbox == NULL)
        written = try_write(conn, buf_slice(out));
    const bool is_broken = written < 0;
    const bool has_rest = !is_broken && (size_t)written < out->len;
    if (has_rest)
        buf_add(&outbox_of(conn)->pending,
                (struct slice){.data = out->data + written, .len = out->len - (size_t)written});
    buf_reset(out);
    if (out->room > OUT_ROOM_KEPT)
        buf_close(out);
    if (is_broken)
        http_conn_close(conn);
    if (has_rest && !conn->outbox->is_flying)
        return send_rest(conn);
    return !is_broken;
}

bool http_write_flush(struct http_conn *conn)
{
    struct http_server *server = conn->server;
    if (server->gathering == conn && server->out.len > 0)
        return flush_gathered(conn);
    struct http_outbox *outbox = conn->outbox;
    if (outbox == NULL || outbox->is_flying)
        return true;
    ssize_t written = 0;
    if (rest_of(outbox).len > 0)
        written = try_write(conn, rest_of(outbox));
    if (written < 0) {
        http_conn_close(conn);
        return false;
    }
    outbox->gone += (size_t)written;
    outbox->sent += (size_t)written;
    if (rest_of(outbox).len > 0)
        return send_rest(conn);
    http_write_free(conn);
    return true;
}
