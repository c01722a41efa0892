#include "sim/http_private.h"

#include "base/assert.h"
#include "sim/http_parse.h"
#include "sim/http_write.h"

#include <stdio.h>
#include <stdlib.h>

static void on_closed(uv_handle_t *handle)
{
    struct conn *conn = handle->data;

    conn_parser_close(conn);
    buf_close(&conn->pending);
    buf_close(&conn->held);
    slab_free(&conn->server->conns, conn->id);
}

static void conn_leave(struct conn *conn)
{
    clock_cancel(conn->server->clock, &conn->timer);
    conn->phase = CONN_CLOSED;
}

void conn_close(struct conn *conn)
{
    if (conn->phase == CONN_CLOSED)
        return;
    conn_leave(conn);
    uv_close((uv_handle_t *)&conn->tcp, on_closed);
}

void conn_reset(struct conn *conn)
{
    if (conn->phase == CONN_CLOSED)
        return;
    conn_leave(conn);
    if (uv_tcp_close_reset(&conn->tcp, on_closed) != 0)
        uv_close((uv_handle_t *)&conn->tcp, on_closed);
}

/* A client that does not read must not keep its reply in memory for ever. */
void conn_limit_write(struct conn *conn)
{
    struct http_server *server = conn->server;

    if (server->limits.keep_alive_ms > 0)
        clock_arm(server->clock, &conn->timer,
                  clock_now_ms(server->clock) + server->limits.keep_alive_ms);
    else
        clock_cancel(server->clock, &conn->timer);
}

/* Everything was written; the client now has time to read it. */
static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    struct conn *conn = shutdown->data;
    struct clock *clock = conn->server->clock;

    (void)status;
    if (conn->phase == CONN_LINGERING)
        clock_arm(clock, &conn->timer, clock_now_ms(clock) + LINGER_MS);
}

/* Closing with unread input would send RST and could destroy a reply still on its way. */
void conn_linger(struct conn *conn)
{
    if (conn->phase == CONN_CLOSED)
        return;
    conn->shutdown.data = conn;
    if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, on_shutdown) != 0) {
        conn_close(conn);
        return;
    }
    conn->phase = CONN_LINGERING;
    conn_limit_write(conn);
}

static void conn_idle(struct conn *conn)
{
    struct http_server *server = conn->server;

    conn->phase = CONN_READING;
    conn->active_ms = clock_now_ms(server->clock);
    if (server->limits.keep_alive_ms > 0)
        clock_arm(server->clock, &conn->timer, conn->active_ms + server->limits.keep_alive_ms);
    else
        clock_cancel(server->clock, &conn->timer);
}

/* Requests only store their time and do not touch the idle timer, which checks the time when it
 * fires. */
static void check_idle(struct conn *conn)
{
    struct http_server *server = conn->server;
    const uint64_t due_ms = conn->active_ms + server->limits.keep_alive_ms;

    if (due_ms <= clock_now_ms(server->clock))
        conn_close(conn);
    else
        clock_arm(server->clock, &conn->timer, due_ms);
}

static void on_conn_timer(void *context, struct wheel_timer *timer)
{
    struct conn *conn = CONTAINER_OF(timer, struct conn, timer);

    (void)context;
    switch (conn->phase) {
    case CONN_READING:
        check_idle(conn);
        break;
    case CONN_HOLDING:
        conn_send_held(conn);
        break;
    case CONN_DRIPPING:
        conn_drip(conn);
        break;
    case CONN_FLUSHING:
    case CONN_LINGERING:
        conn_close(conn);
        break;
    case CONN_WAITING:
    case CONN_CLOSED:
        UNREACHABLE();
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const struct conn *conn = handle->data;

    (void)suggested;
    *buf = uv_buf_init(conn->server->in, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    struct conn *conn = stream->data;

    if (nread < 0) {
        conn_close(conn);
        return;
    }
    if (nread == 0 || conn->phase == CONN_LINGERING)
        return;
    conn->active_ms = clock_now_ms(conn->server->clock);
    conn_feed(conn, buf->base, (size_t)nread);
    if (conn->is_read_stopped)
        uv_read_stop(stream);
}

static void conn_start(struct conn *conn)
{
    conn_parser_init(conn);
    buf_init(&conn->pending, PENDING_BYTES_MAX + READ_BYTES);
    buf_init(&conn->held, REPLY_BYTES_MAX);
    conn_idle(conn);
    uv_tcp_nodelay(&conn->tcp, 1);
    if (uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read) != 0)
        conn_close(conn);
}

void conn_resume(struct conn *conn)
{
    conn_idle(conn);
    if (conn->is_read_stopped) {
        conn->is_read_stopped = false;
        if (uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read) != 0) {
            conn_close(conn);
            return;
        }
    }
    if (conn->pending.len == 0)
        return;
    struct buf taken = conn->pending;
    buf_init(&conn->pending, PENDING_BYTES_MAX + READ_BYTES);
    conn_feed(conn, taken.data, taken.len);
    buf_close(&taken);
}

static void on_refused(uv_handle_t *handle)
{
    free(handle);
}

/* Past the limit a connection is accepted and closed at once, so that the backlog stays empty. */
static void refuse_connection(struct http_server *server)
{
    uv_tcp_t *tcp = calloc(1, sizeof *tcp);

    ASSERT(tcp != NULL);
    if (uv_tcp_init(server->loop, tcp) != 0) {
        free(tcp);
        return;
    }
    (void)uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)tcp);
    uv_close((uv_handle_t *)tcp, on_refused);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct http_server *server = listener->data;
    slab_id id;

    if (status < 0)
        return;
    struct conn *conn = slab_alloc(&server->conns, &id);
    if (conn == NULL) {
        refuse_connection(server);
        return;
    }
    conn->server = server;
    conn->id = id;
    wheel_timer_init(&conn->timer, CLOCK_CONN);
    if (uv_tcp_init(server->loop, &conn->tcp) != 0) {
        slab_free(&server->conns, id);
        return;
    }
    conn->tcp.data = conn;
    if (uv_accept(listener, (uv_stream_t *)&conn->tcp) == 0)
        conn_start(conn);
    else
        conn_close(conn);
}

struct http_server *http_server_new(struct uv_loop_s *loop, struct clock *clock,
                                    const struct http_limits *limits, http_handler handler,
                                    void *context)
{
    struct http_server *server = calloc(1, sizeof *server);

    ASSERT(server != NULL);
    server->loop = loop;
    server->clock = clock;
    server->limits = *limits;
    server->handler = handler;
    server->context = context;
    slab_init(&server->conns, sizeof(struct conn), limits->connections);
    buf_init(&server->body, REPLY_BYTES_MAX);
    buf_init(&server->out, REPLY_BYTES_MAX);
    conn_settings_init(&server->settings);
    clock_handle(clock, CLOCK_CONN, on_conn_timer, server);
    return server;
}

static int listen_at(struct http_server *server, const struct sockaddr *address, int *port)
{
    struct sockaddr_storage bound;
    int length = sizeof bound;
    int rc = uv_tcp_bind(&server->listener, address, 0);

    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&server->listener, 4096, on_connection);
    if (rc == 0)
        rc = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&bound, &length);
    if (rc != 0)
        return rc;
    *port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
    return 0;
}

int http_server_listen(struct http_server *server, const char *host, int *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;

    if (uv_ip4_addr(host, *port, &address.v4) != 0 && uv_ip6_addr(host, *port, &address.v6) != 0)
        return UV_EINVAL;
    const int rc = uv_tcp_init(server->loop, &server->listener);
    if (rc != 0)
        return rc;
    server->listener.data = server;
    server->is_listening = true;
    return listen_at(server, &address.any, port);
}

void http_server_close(struct http_server *server)
{
    if (server->is_listening)
        uv_close((uv_handle_t *)&server->listener, NULL);
    for (slab_id id = slab_next(&server->conns, 0); id != 0; id = slab_next(&server->conns, id))
        conn_close(slab_get(&server->conns, id));
}

void http_server_free(struct http_server *server)
{
    slab_close(&server->conns);
    buf_close(&server->body);
    buf_close(&server->out);
    free(server);
}

/* The server may be writing to another connection right now, so the timer sends the reply. */
void http_release(struct http_server *server, slab_id id)
{
    struct conn *conn = slab_get(&server->conns, id);

    if (conn != NULL && conn->phase == CONN_HOLDING)
        clock_arm(server->clock, &conn->timer, clock_now_ms(server->clock));
}

void http_answer(struct http_server *server, slab_id id, const char *content_type,
                 struct slice body)
{
    struct conn *conn = slab_get(&server->conns, id);

    if (conn == NULL || conn->phase != CONN_WAITING)
        return;
    struct buf text;
    buf_init(&text, REPLY_BYTES_MAX);
    buf_add(&text, body);
    const struct http_reply reply = {.status = 200, .content_type = content_type, .body = &text};
    conn_render(conn, &reply, &conn->held, false);
    buf_close(&text);
    conn->phase = CONN_HOLDING;
    clock_arm(server->clock, &conn->timer, clock_now_ms(server->clock));
}

uint32_t http_connection_count(const struct http_server *server)
{
    return server->conns.used;
}
