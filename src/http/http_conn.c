#include "http/http_conn.h"

#include "base/assert.h"
#include "http/http_clock.h"
#include "http/http_exchange.h"
#include "http/http_input.h"
#include "http/http_listen.h"
#include "http/http_private.h"
#include "http/http_reserve.h"
#include "http/http_server.h"
#include "http/http_unsent.h"
#include "http/http_write.h"
#include "proto/http_status.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

/* Thousands of sockets may be ready in one poll: those for which it has no time are read in a later
 * one, before any other is read twice. libuv asks again for a socket that got no buffer. */
static bool must_wait(struct http_conn *conn)
{
    struct http_server *server = conn->server;
    const bool is_late = server->is_late || (++server->turn_reads % HTTP_TURN_READS == 0 &&
                                             http_clock_is_late(server));
    conn->is_deferred = is_late || conn->round == server->round;
    if (!conn->is_deferred)
        conn->round = server->round;
    else if (++server->turn_deferred == HTTP_TURN_DEFERRED)
        http_clock_cut(server);
    return conn->is_deferred;
}

/* libuv reads up to 32 times from one socket before the next, which may be 2 MiB from a single
 * sender. If it gets no buffer for the second read, it goes on with the other sockets and returns
 * in the next turn. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *bytes)
{
    (void)suggested;
    struct http_conn *conn = CONTAINER_OF(handle, struct http_conn, uv.handle);
    struct http_server *server = conn->server;
    const bool had_its_turn = server->filled_by == conn;
    server->filled_by = NULL;
    const struct http_input *input = conn->input;
    const bool is_plain_body = input != NULL && http_parse_is_started(&input->parse) &&
                               input->parse.phase == HTTP_PHASE_LENGTH;
    if (!had_its_turn && !must_wait(conn))
        *bytes =
            uv_buf_init(server->read_bytes, is_plain_body ? HTTP_READ_BYTES : HTTP_PARSE_BYTES);
}

/* The peer sends no more. A truncated request gets an error reply, in case the peer shut only its
 * sending side; complete ones are answered if their replies come soon (HTTP_HALF_CLOSED_MS). */
static void on_end(struct http_conn *conn)
{
    conn->is_ended = true;
    conn->is_reading = false;
    if (conn->is_lingering) {
        http_conn_close(conn);
        return;
    }
    if (conn->input != NULL && http_parse_is_started(&conn->input->parse) && !conn->is_deaf)
        http_conn_refuse(conn, 400, "the request was cut off");
    http_conn_settle(conn);
}

/* Beyond the cap only requests for the reserved path are taken, one per connection. */
static void judge(struct http_conn *conn, const char *bytes, size_t len)
{
    const enum http_reserve_verdict verdict = http_reserve_judge(conn, bytes, len);
    conn->is_judged = verdict == HTTP_RESERVE_MINE;
    if (verdict == HTTP_RESERVE_OTHER)
        http_conn_refuse(conn, 503, "as many connections are open as may be");
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct http_conn *conn = CONTAINER_OF(stream, struct http_conn, uv.stream);
    if (count == 0 || count == UV_ENOBUFS)
        return;
    if (count == UV_EOF) {
        on_end(conn);
        return;
    }
    if (count < 0) {
        http_conn_close(conn);
        return;
    }
    conn->server->counters.bytes_in += (uint64_t)count;
    if ((size_t)count == bytes->len)
        conn->server->filled_by = conn;
    if (conn->is_deaf) {
        conn->is_refused = true;
        return;
    }
    if (conn->is_reserve && !conn->is_judged)
        judge(conn, bytes->base, (size_t)count);
    if (!conn->is_deaf)
        http_input_take(conn, bytes->base, (size_t)count);
    http_conn_settle(conn);
}

bool http_conn_has_unread(const struct http_conn *conn)
{
    uv_os_fd_t fd;
    int bytes = 0;
    return uv_fileno(&conn->uv.handle, &fd) == 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

static void count_open(struct http_conn *conn, int change)
{
    uint32_t *const count =
        conn->is_reserve ? &conn->server->reserve_used : &conn->server->cap_used;
    *count = (uint32_t)((int64_t)*count + change);
}

void http_conn_accept(struct http_listener *listener, bool is_reserve)
{
    struct http_server *server = listener->server;
    slab_id id;
    struct http_conn *conn = slab_alloc(&server->conns, &id);
    ASSERT(conn != NULL);
    conn->server = server;
    conn->id = id;
    conn->due_kind = HTTP_DUE_COUNT;
    conn->is_unix = listener->is_unix;
    conn->is_reserve = is_reserve;
    count_open(conn, 1);
    list_init(&conn->exchanges);
    list_init(&conn->due);
    list_init(&conn->dirty);
    list_init(&conn->unsent);
    list_init(&conn->beyond);
    conn->since_ms = uv_now(server->loop);
    /* A new connection is read in the next round: otherwise clients that reconnect repeatedly would
     * prolong this round, and connections already read in it would wait. */
    conn->round = server->round;
    if (is_reserve)
        list_append(&server->beyond, &conn->beyond);
    int err = conn->is_unix ? uv_pipe_init(server->loop, &conn->uv.pipe, 0)
                            : uv_tcp_init(server->loop, &conn->uv.tcp);
    ASSERT(err == 0);
    server->counters.accepted++;
    if (uv_accept(&listener->uv.stream, &conn->uv.stream) != 0)
        http_conn_close(conn);
    else
        http_conn_settle(conn);
}

static void on_closed(uv_handle_t *handle)
{
    struct http_conn *conn = CONTAINER_OF(handle, struct http_conn, uv.handle);
    struct http_server *server = conn->server;
    http_input_free(conn);
    http_write_free(conn);
    slab_free(&server->conns, conn->id);
    http_listen_resume(server);
    http_server_count_closed(server);
}

void http_conn_close(struct http_conn *conn)
{
    if (conn->is_closing)
        return;
    conn->is_closing = true;
    count_open(conn, -1);
    if (conn->server->filled_by == conn)
        conn->server->filled_by = NULL;
    http_clock_clear(conn);
    list_unlink(&conn->dirty);
    list_unlink(&conn->beyond);
    /* Closes the descriptor at once and frees the memory in on_closed, since functions on the stack
     * may still use it. Unsent bytes are freed at once, too: one turn of the loop may close
     * thousands of connections. */
    uv_close(&conn->uv.handle, on_closed);
    http_unsent_clear(conn);
    http_write_forget(conn);
    http_exchange_drop(conn);
}

static void count_refusal(struct http_counters *counters, uint16_t status)
{
    if (status == 400)
        counters->bad_requests++;
    else if (status == 408)
        counters->timeouts++;
    else
        counters->refused++;
}

/* Sends the connection's last reply. */
static void answer_refused(struct http_conn *conn, const struct http_reply *reply)
{
    conn->is_deaf = true;
    conn->is_refused = true;
    struct http_exchange *exchange = http_exchange_add(conn);
    exchange->is_ours = true;
    http_exchange_answer(conn, exchange, reply);
}

void http_conn_refuse(struct http_conn *conn, uint16_t status, const char *mistake)
{
    count_refusal(&conn->server->counters, status);
    struct buf body;
    buf_init(&body, 1024);
    /* Mistakes are our own texts or llhttp's; only llhttp's might contain a quote. */
    buf_addf(&body,
             "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"code\":\"http_%u\","
             "\"retryable\":%s,\"detail\":\"",
             http_status_text(status), (unsigned)status, (unsigned)status,
             status == 408 || status == 503 ? "true" : "false");
    for (const char *c = mistake; *c != '\0'; c++)
        buf_add_char(&body, *c == '"' || *c == '\\' ? '\'' : *c);
    buf_add(&body, SLICE_OF("\"}"));
    answer_refused(conn,
                   &(struct http_reply){
                       .status = status,
                       .content_type = SLICE_OF("application/problem+json"),
                       .headers = status == 503 ? SLICE_OF("Retry-After: 1\r\n") : SLICE_OF(""),
                       .body = buf_slice(&body),
                       .close = true,
                   });
    buf_close(&body);
}

void http_conn_refuse_request(struct http_conn *conn, const struct http_parse *parse,
                              const char *base, uint16_t status, const char *mistake)
{
    const struct http_handlers *handlers = &conn->server->handlers;
    struct http_request request = {
        .method = http_parse_method(parse),
        .content_type = http_parse_field(parse, base, HTTP_FIELD_CONTENT_TYPE),
    };
    struct http_reply reply = {.status = 200, .headers = SLICE_OF(""), .close = true};
    if (parse->url.len > 0)
        http_parse_target(parse, base, &request.path, &request.query);
    const bool is_about_size = status == 413 || status == 414 || status == 431;
    if (!is_about_size || !slice_is_given(request.path) || handlers->on_refuse == NULL ||
        !handlers->on_refuse(handlers->context, &request, status, &reply)) {
        http_conn_refuse(conn, status, mistake);
        return;
    }
    count_refusal(&conn->server->counters, status);
    reply.close = true;
    answer_refused(conn, &reply);
}

/* Closes after the last reply was written. Closing with unread bytes would make the kernel send a
 * reset, which can destroy that reply on its way; so after a refusal we shut down our side first
 * and wait for the peer's end. */
static void end(struct http_conn *conn)
{
    http_exchange_drop(conn); /* Drops requests that follow the last reply. */
    uv_os_fd_t fd;
    if (conn->is_refused && !conn->is_ended && uv_fileno(&conn->uv.handle, &fd) == 0 &&
        shutdown(fd, SHUT_WR) == 0)
        conn->is_lingering = true;
    else
        http_conn_close(conn);
}

static bool wants_reading(const struct http_conn *conn)
{
    if (conn->is_ended)
        return false;
    if (conn->is_lingering)
        return true;
    /* A peer that does not read its replies cannot send more requests, and one whose bytes wait
     * for their turn would fill the buffer that nobody empties. */
    if (conn->outbox != NULL || conn->is_yielding)
        return false;
    /* While an exchange is held we keep reading, up to a limit, to notice the peer's end. */
    const struct http_input *input = conn->input;
    return input == NULL || http_parse_is_started(&input->parse) ||
           input->bytes.len < HTTP_AHEAD_BYTES;
}

static void settle_reading(struct http_conn *conn)
{
    const bool is_wanted = wants_reading(conn);
    conn->is_deferred = conn->is_deferred && is_wanted;
    if (is_wanted == conn->is_reading)
        return;
    conn->is_reading = is_wanted;
    if (!is_wanted)
        (void)uv_read_stop(&conn->uv.stream);
    else if (uv_read_start(&conn->uv.stream, on_alloc, on_read) != 0)
        http_conn_close(conn);
}

bool http_conn_is_new(const struct http_conn *conn)
{
    return conn->server->is_draining && conn->last_number == 0 && !conn->is_reserve;
}

static enum http_due due_of(const struct http_conn *conn)
{
    if (conn->is_lingering)
        return HTTP_DUE_LINGER;
    if (conn->outbox != NULL)
        return HTTP_DUE_WRITE;
    if (conn->is_ended)
        return HTTP_DUE_HALF;
    if (conn->is_reserve)
        return conn->waiting > 0 ? HTTP_DUE_COUNT : HTTP_DUE_RESERVE;
    if (conn->input != NULL && http_parse_is_started(&conn->input->parse))
        return conn->input->parse.phase == HTTP_PHASE_HEAD ? HTTP_DUE_HEAD : HTTP_DUE_BODY;
    if (conn->waiting > 0)
        return HTTP_DUE_COUNT;
    return http_conn_is_new(conn) ? HTTP_DUE_FIRST : HTTP_DUE_IDLE;
}

/* True if nothing is under way and nothing more can come. */
static bool is_done(const struct http_conn *conn)
{
    if (conn->outbox != NULL || conn->is_lingering || conn->is_yielding)
        return false;
    if (conn->waiting > 0)
        return conn->is_last_sent;
    return conn->is_last_sent || conn->is_ended ||
           (conn->server->is_draining && !http_conn_is_new(conn) &&
            (conn->input == NULL || due_of(conn) == HTTP_DUE_IDLE));
}

void http_conn_settle(struct http_conn *conn)
{
    if (conn->is_closing)
        return;
    if (conn->is_doomed) {
        http_conn_close(conn);
        return;
    }
    if (conn->is_deaf)
        http_input_free(conn);
    http_exchange_continue(conn);
    if (!http_write_flush(conn))
        return;
    if (http_input_has_more(conn) && http_input_may_take(conn))
        http_input_take(conn, NULL, 0);
    if (!conn->is_closing && is_done(conn))
        end(conn);
    if (conn->is_closing)
        return;
    http_clock_set(conn, due_of(conn));
    settle_reading(conn);
    http_unsent_settle(conn);
}
