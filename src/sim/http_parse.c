#include "sim/http_parse.h"

#include "base/assert.h"
#include "sim/http_private.h"
#include "sim/http_write.h"

#include <stdio.h>

static void piece_init(struct piece *piece, size_t cap)
{
    piece->here = SLICE_NONE;
    buf_init(&piece->kept, cap);
}

static void piece_reset(struct piece *piece)
{
    piece->here = SLICE_NONE;
    /* Idle connections do not keep the memory of one large body. */
    if (piece->kept.room > 4096) {
        const size_t cap = piece->kept.cap;
        buf_close(&piece->kept);
        buf_init(&piece->kept, cap);
    } else {
        buf_reset(&piece->kept);
    }
}

/* Copies bytes out of the read buffer, which is about to be reused. */
static void piece_keep(struct piece *piece)
{
    if (!slice_is_given(piece->here))
        return;
    buf_add(&piece->kept, piece->here);
    piece->here = SLICE_NONE;
}

/* False if the limit is exceeded. */
static bool piece_add(struct piece *piece, const char *at, size_t len)
{
    if (piece->kept.len == 0 && !slice_is_given(piece->here)) {
        piece->here = (struct slice){.data = at, .len = len};
        return len <= piece->kept.cap;
    }
    if (slice_is_given(piece->here) && piece->here.data + piece->here.len == at) {
        piece->here.len += len;
        return piece->here.len + piece->kept.len <= piece->kept.cap;
    }
    piece_keep(piece);
    buf_add(&piece->kept, (struct slice){.data = at, .len = len});
    return !piece->kept.is_full;
}

static struct slice piece_slice(struct piece *piece)
{
    if (piece->kept.len == 0 && slice_is_given(piece->here))
        return piece->here;
    piece_keep(piece);
    return buf_slice(&piece->kept);
}

static int stop(struct conn *conn, int status)
{
    conn->bad_status = status;
    return HPE_USER;
}

static void message_reset(struct conn *conn)
{
    piece_reset(&conn->target);
    piece_reset(&conn->name);
    piece_reset(&conn->value);
    piece_reset(&conn->type);
    piece_reset(&conn->body);
    conn->header_bytes = 0;
    conn->hosts = 0;
    conn->expects_continue = false;
}

static int on_message_begin(llhttp_t *parser)
{
    message_reset(parser->data);
    return 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
    struct conn *conn = parser->data;

    return piece_add(&conn->target, at, len) ? 0 : stop(conn, 414);
}

static int on_header_field(llhttp_t *parser, const char *at, size_t len)
{
    struct conn *conn = parser->data;

    conn->header_bytes += len;
    if (conn->header_bytes > HEADER_BYTES_MAX)
        return stop(conn, 431);
    return piece_add(&conn->name, at, len) ? 0 : stop(conn, 431);
}

static int on_header_value(llhttp_t *parser, const char *at, size_t len)
{
    struct conn *conn = parser->data;

    conn->header_bytes += len + 4;
    if (conn->header_bytes > HEADER_BYTES_MAX)
        return stop(conn, 431);
    return piece_add(&conn->value, at, len) ? 0 : stop(conn, 431);
}

static int on_header_complete(llhttp_t *parser)
{
    struct conn *conn = parser->data;
    const struct slice name = piece_slice(&conn->name);

    if (slice_equals_nocase(name, SLICE_OF("host"))) {
        conn->hosts++;
    } else if (slice_equals_nocase(name, SLICE_OF("content-type"))) {
        const struct piece spare = conn->type;
        conn->type = conn->value;
        conn->value = spare;
    } else if (slice_equals_nocase(name, SLICE_OF("expect"))) {
        conn->expects_continue =
            slice_equals_nocase(piece_slice(&conn->value), SLICE_OF("100-continue"));
    }
    piece_reset(&conn->name);
    piece_reset(&conn->value);
    return 0;
}

/* llhttp accepts these, but a server must refuse them (versions, Host, unsupported upgrades). */
static int on_headers_complete(llhttp_t *parser)
{
    struct conn *conn = parser->data;

    if (parser->http_major != 1 || parser->http_minor > 1)
        return stop(conn, 505);
    if (parser->upgrade || conn->hosts > 1 || (conn->hosts == 0 && parser->http_minor == 1))
        return stop(conn, 400);
    if (parser->content_length > conn->server->limits.body_bytes)
        return stop(conn, 413);
    if (conn->expects_continue && parser->http_minor == 1 &&
        ((parser->flags & F_CHUNKED) != 0 || parser->content_length > 0))
        buf_add(&conn->server->out, SLICE_OF("HTTP/1.1 100 Continue\r\n\r\n"));
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t len)
{
    struct conn *conn = parser->data;

    return piece_add(&conn->body, at, len) ? 0 : stop(conn, 413);
}

static void split_target(struct slice target, struct http_request *request)
{
    const char *mark = target.len == 0 ? NULL : memchr(target.data, '?', target.len);

    request->path = target;
    request->query = SLICE_OF("");
    if (mark != NULL) {
        request->path.len = (size_t)(mark - target.data);
        request->query.data = mark + 1;
        request->query.len = target.len - request->path.len - 1;
    }
}

static int on_message_complete(llhttp_t *parser)
{
    struct conn *conn = parser->data;
    struct http_server *server = conn->server;
    struct http_request request = {
        .method = llhttp_method_name((llhttp_method_t)parser->method),
        .content_type = piece_slice(&conn->type),
        .body = piece_slice(&conn->body),
        .conn = conn->id,
    };
    struct http_reply reply = {
        .status = 200, .content_type = "text/plain; charset=utf-8", .body = &server->body};

    split_target(piece_slice(&conn->target), &request);
    conn->is_last = llhttp_should_keep_alive(parser) == 0;
    buf_reset(&server->body);
    server->handler(server->context, &request, &reply);
    message_reset(conn);
    return conn_deliver(conn, &reply, parser->method == HTTP_HEAD) ? HPE_PAUSED : 0;
}

void conn_settings_init(llhttp_settings_t *settings)
{
    llhttp_settings_init(settings);
    settings->on_message_begin = on_message_begin;
    settings->on_url = on_url;
    settings->on_header_field = on_header_field;
    settings->on_header_value = on_header_value;
    settings->on_header_value_complete = on_header_complete;
    settings->on_headers_complete = on_headers_complete;
    settings->on_body = on_body;
    settings->on_message_complete = on_message_complete;
}

void conn_parser_init(struct conn *conn)
{
    llhttp_init(&conn->parser, HTTP_REQUEST, &conn->server->settings);
    conn->parser.data = conn;
    piece_init(&conn->target, TARGET_BYTES_MAX);
    piece_init(&conn->name, HEADER_BYTES_MAX);
    piece_init(&conn->value, HEADER_BYTES_MAX);
    piece_init(&conn->type, HEADER_BYTES_MAX);
    piece_init(&conn->body, conn->server->limits.body_bytes);
}

void conn_parser_close(struct conn *conn)
{
    buf_close(&conn->target.kept);
    buf_close(&conn->name.kept);
    buf_close(&conn->value.kept);
    buf_close(&conn->type.kept);
    buf_close(&conn->body.kept);
}

/* The read ended inside a message: copies the parsed parts. */
static void message_keep(struct conn *conn)
{
    piece_keep(&conn->target);
    piece_keep(&conn->name);
    piece_keep(&conn->value);
    piece_keep(&conn->type);
    piece_keep(&conn->body);
}

static void conn_refuse(struct conn *conn)
{
    struct http_server *server = conn->server;
    const int status = conn->bad_status != 0 ? conn->bad_status : 400;
    struct http_reply reply = {
        .status = status, .content_type = "text/plain; charset=utf-8", .body = &server->body};

    buf_reset(&server->body);
    buf_addf(&server->body, "%d: solvegate-sim does not take this request\n", status);
    conn->is_last = true;
    (void)conn_deliver(conn, &reply, false);
    conn_flush(conn);
}

static void stash(struct conn *conn, const char *data, size_t len)
{
    buf_add(&conn->pending, (struct slice){.data = data, .len = len});
    conn->is_read_stopped = conn->pending.len > PENDING_BYTES_MAX;
}

void conn_feed(struct conn *conn, const char *data, size_t len)
{
    while (conn->phase == CONN_READING && len > 0) {
        const llhttp_errno_t rc = llhttp_execute(&conn->parser, data, len);
        if (rc == HPE_OK) {
            message_keep(conn);
            conn_flush(conn);
            return;
        }
        if (rc != HPE_PAUSED) {
            conn_refuse(conn);
            return;
        }
        const char *rest = llhttp_get_error_pos(&conn->parser);
        len -= (size_t)(rest - data);
        data = rest;
        llhttp_resume(&conn->parser);
        conn_flush(conn);
    }
    if (len > 0 && conn->phase != CONN_LINGERING && conn->phase != CONN_CLOSED)
        stash(conn, data, len);
}
