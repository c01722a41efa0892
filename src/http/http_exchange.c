#include "http/http_exchange.h"

#include "base/assert.h"
#include "http/http_clock.h"
#include "http/http_head.h"
#include "http/http_private.h"
#include "http/http_write.h"

#include <stdlib.h>

/* A caller_id has 24 bits of index, 24 of generation and 16 of exchange number, which is never 0. A
 * stale id matches wrongly only after its index was reused 2^24 times, or after 65535 further
 * requests on its connection. */
#define PLACE_BITS 24
#define GENERATION_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define GENERATION_MASK ((UINT64_C(1) << GENERATION_BITS) - 1)

/* The lowest bit of a live slab generation is always 1, so it is left out. */
static uint64_t generation_bits(uint32_t generation)
{
    return generation >> 1 & GENERATION_MASK;
}

static caller_id caller_of(const struct http_conn *conn, uint16_t number)
{
    const uint64_t place = (uint32_t)conn->id;
    return (uint64_t)number << (PLACE_BITS + GENERATION_BITS) |
           generation_bits((uint32_t)(conn->id >> 32)) << PLACE_BITS | place;
}

static struct http_conn *conn_of(struct http_server *server, caller_id caller)
{
    const uint64_t place = caller & PLACE_MASK;
    if (place >= server->conns.touched)
        return NULL;
    const uint32_t generation = server->conns.generations[place];
    if (generation_bits(generation) != (caller >> PLACE_BITS & GENERATION_MASK))
        return NULL;
    return slab_get(&server->conns, (uint64_t)generation << 32 | place);
}

static struct http_exchange *exchange_of(struct http_server *server, caller_id caller,
                                         struct http_conn **conn)
{
    *conn = conn_of(server, caller);
    if (*conn == NULL || (*conn)->is_closing)
        return NULL;
    const uint16_t number = (uint16_t)(caller >> (PLACE_BITS + GENERATION_BITS));
    LIST_FOR_EACH(link, &(*conn)->exchanges) {
        struct http_exchange *exchange = CONTAINER_OF(link, struct http_exchange, link);
        if (exchange->number == number)
            return exchange->reply == NULL && !exchange->is_ours ? exchange : NULL;
    }
    return NULL;
}

/* Used exchanges are kept for the next request of any connection: idle connections hold none, and
 * busy ones allocate nothing. */
static struct http_exchange *take_spare(struct http_server *server)
{
    struct list *link = list_first(&server->spare);
    if (link == NULL) {
        struct http_exchange *exchange = calloc(1, sizeof *exchange);
        ASSERT(exchange != NULL);
        return exchange;
    }
    list_unlink(link);
    server->spare_count--;
    struct http_exchange *exchange = CONTAINER_OF(link, struct http_exchange, link);
    *exchange = (struct http_exchange){0};
    return exchange;
}

struct http_exchange *http_exchange_add(struct http_conn *conn)
{
    struct http_exchange *exchange = take_spare(conn->server);
    if (++conn->last_number == 0)
        conn->last_number = 1;
    exchange->number = conn->last_number;
    list_append(&conn->exchanges, &exchange->link);
    conn->waiting++;
    return exchange;
}

static void exchange_free(struct http_conn *conn, struct http_exchange *exchange)
{
    list_unlink(&exchange->link);
    conn->waiting--;
    conn->held_bytes -= exchange->reply_bytes;
    conn->is_long = conn->is_long && !exchange->is_long;
    free(exchange->reply);
    struct http_server *server = conn->server;
    if (server->spare_count >= HTTP_SPARE_EXCHANGES) {
        free(exchange);
        return;
    }
    list_prepend(&server->spare, &exchange->link);
    server->spare_count++;
}

void http_exchange_drop(struct http_conn *conn)
{
    const struct http_handlers *handlers = &conn->server->handlers;
    struct list *link;
    while ((link = list_first(&conn->exchanges)) != NULL) {
        struct http_exchange *exchange = CONTAINER_OF(link, struct http_exchange, link);
        /* Unlinked before the handler is told, so that the handler cannot answer it any more. */
        list_unlink(link);
        if (exchange->reply == NULL && !exchange->is_ours)
            handlers->on_gone(handlers->context, caller_of(conn, exchange->number),
                              &exchange->note);
        exchange_free(conn, exchange);
    }
}

/* Reads the socket's address once, with the first request, and keeps it for later ones. */
static void learn_peer(struct http_conn *conn)
{
    const struct http_options *options = &conn->server->options;
    conn->is_peer_known = true;
    struct sockaddr_storage socket = {0};
    int bytes = sizeof socket;
    struct http_address address;
    if (conn->is_unix) {
        /* A unix socket is used by a proxy on the same machine: it is trusted if loopback is. */
        (void)http_peer_parse(&address, SLICE_OF("127.0.0.1"));
        memcpy(conn->peer, "unix", 4);
        conn->peer_bytes = 4;
    } else if (uv_tcp_getpeername(&conn->uv.tcp, (struct sockaddr *)&socket, &bytes) == 0 &&
               http_peer_from_socket(&address, (const struct sockaddr *)&socket)) {
        conn->peer_bytes = (uint8_t)http_peer_print(&address, conn->peer);
    } else {
        return; /* The peer hung up already, so nobody will read the answer. */
    }
    conn->is_peer_trusted =
        http_peer_is_trusted(&address, options->trusted_proxies, options->trusted_proxy_count);
}

static struct slice peer_of(struct http_conn *conn, struct slice forwarded)
{
    struct http_server *server = conn->server;
    if (!conn->is_peer_known)
        learn_peer(conn);
    struct http_address address;
    if (conn->is_peer_trusted && slice_is_given(forwarded) &&
        http_peer_forwarded(&address, forwarded, server->options.trusted_proxies,
                            server->options.trusted_proxy_count))
        return (struct slice){.data = server->forwarded,
                              .len = http_peer_print(&address, server->forwarded)};
    return (struct slice){.data = conn->peer, .len = conn->peer_bytes};
}

void http_exchange_begin(struct http_conn *conn, const struct http_parse *parse, const char *base)
{
    struct http_server *server = conn->server;
    struct http_exchange *exchange = http_exchange_add(conn);
    struct http_request request = {
        .caller = caller_of(conn, exchange->number),
        .method = http_parse_method(parse),
        .content_type = http_parse_field(parse, base, HTTP_FIELD_CONTENT_TYPE),
        .authorization = http_parse_field(parse, base, HTTP_FIELD_AUTHORIZATION),
        .idempotency_key = http_parse_field(parse, base, HTTP_FIELD_IDEMPOTENCY_KEY),
        .x_request_id = http_parse_field(parse, base, HTTP_FIELD_X_REQUEST_ID),
        .prefer = http_parse_field(parse, base, HTTP_FIELD_PREFER),
        .origin = http_parse_field(parse, base, HTTP_FIELD_ORIGIN),
        .sec_fetch_site = http_parse_field(parse, base, HTTP_FIELD_SEC_FETCH_SITE),
        .host = http_parse_field(parse, base, HTTP_FIELD_HOST),
        .if_none_match = http_parse_field(parse, base, HTTP_FIELD_IF_NONE_MATCH),
        .body = http_parse_body(parse, base),
        .peer = peer_of(conn, http_parse_field(parse, base, HTTP_FIELD_X_FORWARDED_FOR)),
        .note = &exchange->note,
    };
    http_parse_target(parse, base, &request.path, &request.query);
    exchange->since_ms = uv_now(server->loop);
    exchange->is_head = request.method == HTTP_METHOD_HEAD;
    exchange->is_old = parse->llhttp.http_minor == 0;
    /* llhttp prefers keep-alive to close in HTTP/1.0; RFC 9112 9.3 requires the opposite. */
    exchange->keeps_alive = llhttp_should_keep_alive(&parse->llhttp) != 0 &&
                            (parse->llhttp.flags & F_CONNECTION_CLOSE) == 0 && !conn->is_reserve;
    conn->is_deaf = !exchange->keeps_alive;
    server->counters.requests++;
    server->handlers.on_request(server->handlers.context, &request);
}

/* The exchange's reply was written to the output. */
static void finish(struct http_conn *conn, struct http_exchange *exchange, bool closes)
{
    exchange_free(conn, exchange);
    if (closes) {
        conn->is_last_sent = true;
        conn->is_deaf = true;
    }
}

/* Sends replies that were given early and waited for the one before them. */
static void release_followers(struct http_conn *conn)
{
    while (!conn->is_last_sent && !list_is_empty(&conn->exchanges)) {
        struct http_exchange *exchange =
            CONTAINER_OF(list_first(&conn->exchanges), struct http_exchange, link);
        if (exchange->reply == NULL)
            return;
        buf_add(http_write_sink(conn),
                (struct slice){.data = exchange->reply, .len = exchange->reply_bytes});
        finish(conn, exchange, exchange->closes);
    }
}

static void hold(struct http_conn *conn, struct http_exchange *exchange,
                 const struct http_reply *reply, bool closes)
{
    struct buf own;
    buf_init(&own, SIZE_MAX / 4);
    http_head_format(conn->server, &own, exchange, reply, closes);
    exchange->reply = own.data;
    exchange->reply_bytes = own.len;
    exchange->closes = closes;
    conn->is_deaf = conn->is_deaf || closes;
    conn->held_bytes += own.len;
}

void http_exchange_answer(struct http_conn *conn, struct http_exchange *exchange,
                          const struct http_reply *reply)
{
    /* An earlier reply ended the connection, so this one cannot be sent. */
    if (conn->is_last_sent) {
        exchange_free(conn, exchange);
        return;
    }
    /* While draining, the newest exchange is the connection's last; replies before it keep the
     * connection open. */
    const bool is_newest = exchange->link.next == &conn->exchanges;
    const bool closes =
        reply->close || !exchange->keeps_alive || (conn->server->is_draining && is_newest);
    const bool is_its_turn = list_first(&conn->exchanges) == &exchange->link;
    if ((is_its_turn ? http_write_queued(conn) : conn->held_bytes) > HTTP_QUEUE_BYTES)
        conn->is_doomed = true;
    if (!is_its_turn) {
        hold(conn, exchange, reply, closes);
        return;
    }
    http_head_format(conn->server, http_write_sink(conn), exchange, reply, closes);
    finish(conn, exchange, closes);
    release_followers(conn);
}

void http_exchange_continue(struct http_conn *conn)
{
    struct http_input *input = conn->input;
    if (input == NULL || !http_parse_is_started(&input->parse) || !input->parse.expects_continue ||
        conn->waiting > 0 || conn->is_deaf)
        return;
    input->parse.expects_continue = false;
    /* RFC 9110 10.1.1: the 100 may be omitted if the body is already arriving. */
    if (input->bytes.len == input->parse.head_bytes)
        buf_add(http_write_sink(conn), SLICE_OF("HTTP/1.1 100 Continue\r\n\r\n"));
}

struct http_note *http_note_of(struct http_server *server, caller_id caller)
{
    struct http_conn *conn;
    struct http_exchange *exchange = exchange_of(server, caller, &conn);
    return exchange == NULL ? NULL : &exchange->note;
}

void http_expect_hold(struct http_server *server, caller_id caller)
{
    struct http_conn *conn;
    struct http_exchange *exchange = exchange_of(server, caller, &conn);
    if (exchange != NULL)
        exchange->is_held = true;
}

void http_expect_long(struct http_server *server, caller_id caller)
{
    struct http_conn *conn;
    struct http_exchange *exchange = exchange_of(server, caller, &conn);
    if (exchange == NULL)
        return;
    exchange->is_long = true;
    conn->is_long = true;
}

void http_reply(struct http_server *server, caller_id caller, const struct http_reply *reply)
{
    struct http_conn *conn;
    struct http_exchange *exchange = exchange_of(server, caller, &conn);
    if (exchange == NULL)
        return;
    histogram_add(exchange->is_held ? &server->held_times : &server->answer_times,
                  uv_now(server->loop) - exchange->since_ms);
    http_exchange_answer(conn, exchange, reply);
    /* Written after its input is processed or before the loop sleeps; never from here, since a
     * broken connection would call back into the handler that is replying. */
    if (server->gathering != conn)
        http_clock_touch(conn);
}
