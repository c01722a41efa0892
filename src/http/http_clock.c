#include "http/http_clock.h"

#include "base/assert.h"
#include "http/http_conn.h"
#include "http/http_input.h"
#include "http/http_listen.h"
#include "http/http_private.h"
#include "http/http_write.h"

#include <signal.h>

/* Expiry and flushing are due before the loop may sleep, even if another prepare callback, which
 * runs after ours, requests them: an idle handle makes the next poll return at once. */
static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void keep_awake(struct http_server *server)
{
    if (server->is_closing)
        return;
    if (server->is_expiring || !list_is_empty(&server->dirty))
        (void)uv_idle_start(&server->idle, on_idle);
    else
        (void)uv_idle_stop(&server->idle);
}

bool http_clock_is_late(struct http_server *server)
{
    const uint64_t now_ns = uv_hrtime();
    if (server->turn_ns == 0)
        server->turn_ns = now_ns;
    server->is_late = now_ns - server->turn_ns > HTTP_TURN_NS;
    return server->is_late;
}

/* Starts the time budget of the next poll, or of the end of the turn. The loop's own clock cannot
 * separate turns: one poll updates it again for every 1024 sockets. */
static void begin_turn(struct http_server *server)
{
    server->turn_ns = 0;
    server->turn_reads = 0;
    server->turn_deferred = 0;
    server->is_late = false;
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct http_server *server = CONTAINER_OF(prepare, struct http_server, prepare);
    const bool was_late = server->is_late;
    server->round += !was_late;
    begin_turn(server);
    server->is_ending = true;
    if (was_late)
        server->turn_ns = uv_hrtime() - HTTP_TURN_NS + HTTP_LATE_NS;
    /* Connections that become dirty meanwhile wait for the next turn, so that this one ends; so do,
     * in order, those for which no time is left. */
    struct list now;
    list_init(&now);
    list_splice(&now, &server->dirty);
    server->has_heavy_waiting = false;
    while (!list_is_empty(&now)) {
        struct http_conn *conn = CONTAINER_OF(list_first(&now), struct http_conn, dirty);
        list_unlink(&conn->dirty);
        conn->is_yielding = false;
        http_conn_settle(conn);
        if (http_clock_is_late(server))
            break;
    }
    server->has_heavy_waiting = server->has_heavy_waiting || !list_is_empty(&now);
    list_splice(&now, &server->dirty);
    list_splice(&server->dirty, &now);
    begin_turn(server);
    server->is_ending = server->had_heavy = false;
    keep_awake(server);
}

void http_clock_touch(struct http_conn *conn)
{
    struct http_server *server = conn->server;
    if (!list_is_empty(&conn->dirty) || conn->is_closing)
        return;
    list_append(&server->dirty, &conn->dirty);
    keep_awake(server);
}

static void expire(struct http_conn *conn, enum http_due kind)
{
    struct http_counters *counters = &conn->server->counters;
    switch (kind) {
    case HTTP_DUE_HEAD:
        http_conn_refuse(conn, 408, "the header took too long");
        http_conn_settle(conn);
        return;
    case HTTP_DUE_BODY:
        http_conn_refuse(conn, 408, "the body took too long");
        http_conn_settle(conn);
        return;
    case HTTP_DUE_WRITE:
        if (http_write_has_progress(conn->outbox, &conn->outbox->sent_mark)) {
            http_clock_set(conn, HTTP_DUE_WRITE);
            return;
        }
        counters->timeouts++;
        http_conn_close(conn);
        return;
    case HTTP_DUE_IDLE:
    case HTTP_DUE_FIRST:
    case HTTP_DUE_RESERVE:
    case HTTP_DUE_HALF:
    case HTTP_DUE_LINGER:
        http_conn_close(conn);
        return;
    case HTTP_DUE_COUNT:
        break;
    }
    UNREACHABLE();
}

static void arm(struct http_server *server);
static void end_crowd(struct http_server *server);

/* While draining, idle connections are due at once. */
static bool is_due(const struct http_server *server, const struct http_conn *conn)
{
    return conn->due_ms <= uv_now(server->loop) ||
           (server->is_draining && conn->due_kind == HTTP_DUE_IDLE);
}

/* False if no connection is due. */
static bool expire_first(struct http_server *server, enum http_due kind)
{
    struct list *first = list_first(&server->due[kind].conns);
    if (first == NULL)
        return false;
    struct http_conn *conn = CONTAINER_OF(first, struct http_conn, due);
    if (!is_due(server, conn))
        return false;
    http_clock_clear(conn);
    /* It has sent bytes that there was no time to read yet, or everything. */
    if (conn->is_deferred || http_input_is_whole(conn))
        http_clock_set(conn, kind);
    else if (kind == HTTP_DUE_IDLE && http_conn_is_new(conn))
        http_clock_set(conn, HTTP_DUE_FIRST);
    else
        expire(conn, kind);
    return true;
}

/* Expires after the poll and not in the timer's callback: after a long stall (a stopped process, a
 * paused machine) the bytes waiting in the sockets are read before a connection counts as late. */
static void on_check(uv_check_t *check)
{
    struct http_server *server = CONTAINER_OF(check, struct http_server, check);
    int left = HTTP_TURN_EXPIRED;
    for (int kind = 0; kind < HTTP_DUE_COUNT; kind++)
        while (left > 0 && expire_first(server, (enum http_due)kind))
            left--;
    end_crowd(server);
    if (left == 0)
        return; /* The next turns expire the rest. */
    server->is_expiring = false;
    (void)uv_check_stop(check);
    keep_awake(server);
    arm(server);
}

void http_clock_expire(struct http_server *server)
{
    server->is_expiring = true;
    (void)uv_check_start(&server->check, on_check);
    keep_awake(server);
}

static void on_timer(uv_timer_t *timer)
{
    struct http_server *server = CONTAINER_OF(timer, struct http_server, timer);
    server->timer_due_ms = UINT64_MAX;
    http_clock_expire(server);
}

static void arm_for(struct http_server *server, uint64_t due_ms)
{
    if (due_ms >= server->timer_due_ms || server->is_expiring || server->is_closing)
        return;
    const uint64_t now_ms = uv_now(server->loop);
    server->timer_due_ms = due_ms;
    (void)uv_timer_start(&server->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

void http_clock_set_crowd(struct http_server *server, uint64_t due_ms)
{
    server->crowd_due_ms = due_ms;
    arm_for(server, due_ms);
}

/* Resumes listening when the wait is over; if that finds no room, the listener sets a new time. */
static void end_crowd(struct http_server *server)
{
    if (server->crowd_due_ms > uv_now(server->loop))
        return;
    server->crowd_due_ms = UINT64_MAX;
    http_listen_resume(server);
}

static void arm(struct http_server *server)
{
    arm_for(server, server->crowd_due_ms);
    for (int kind = 0; kind < HTTP_DUE_COUNT; kind++) {
        struct list *first = list_first(&server->due[kind].conns);
        if (first != NULL)
            arm_for(server, CONTAINER_OF(first, struct http_conn, due)->due_ms);
    }
}

void http_clock_clear(struct http_conn *conn)
{
    if (conn->due_kind == HTTP_DUE_COUNT)
        return;
    list_unlink(&conn->due);
    conn->server->due[conn->due_kind].count--;
    conn->due_kind = HTTP_DUE_COUNT;
}

void http_clock_set(struct http_conn *conn, enum http_due kind)
{
    /* A deadline counts from the start of its phase; only idle time starts again with every
     * request. */
    if (conn->due_kind == kind && kind != HTTP_DUE_IDLE)
        return;
    http_clock_clear(conn);
    if (kind == HTTP_DUE_COUNT)
        return;
    struct http_server *server = conn->server;
    struct http_due_list *due = &server->due[kind];
    conn->due_kind = (uint8_t)kind;
    conn->due_ms = uv_now(server->loop) + due->timeout_ms;
    list_append(&due->conns, &conn->due);
    due->count++;
    arm_for(server, conn->due_ms);
}

static void on_cut(uv_signal_t *cut, int number)
{
    (void)cut;
    (void)number;
}

/* In one turn libuv polls up to 48 times for 1024 ready sockets each, some of them repeatedly. Only
 * a signal makes it end the poll; nothing else uses SIGURG. */
void http_clock_cut(struct http_server *server)
{
    if (!server->is_closing && uv_signal_start(&server->cut, on_cut, SIGURG) == 0)
        (void)raise(SIGURG);
}

void http_clock_open(struct http_server *server)
{
    const struct http_options *options = &server->options;
    const uint32_t timeouts_ms[HTTP_DUE_COUNT] = {
        [HTTP_DUE_IDLE] = options->idle_timeout_ms, [HTTP_DUE_HEAD] = options->header_timeout_ms,
        [HTTP_DUE_BODY] = options->body_timeout_ms, [HTTP_DUE_WRITE] = options->write_timeout_ms,
        [HTTP_DUE_HALF] = HTTP_HALF_CLOSED_MS,      [HTTP_DUE_LINGER] = HTTP_LINGER_MS,
        [HTTP_DUE_RESERVE] = HTTP_RESERVE_MS,       [HTTP_DUE_FIRST] = HTTP_FIRST_MS,
    };
    for (int kind = 0; kind < HTTP_DUE_COUNT; kind++) {
        list_init(&server->due[kind].conns);
        server->due[kind].timeout_ms = timeouts_ms[kind];
    }
    list_init(&server->dirty);
    server->timer_due_ms = UINT64_MAX;
    server->crowd_due_ms = UINT64_MAX;
    server->round = 1;
    list_init(&server->beyond);
    (void)uv_timer_init(server->loop, &server->timer);
    (void)uv_prepare_init(server->loop, &server->prepare);
    (void)uv_check_init(server->loop, &server->check);
    (void)uv_idle_init(server->loop, &server->idle);
    (void)uv_signal_init(server->loop, &server->cut);
    uv_handle_t *const handles[] = {
        (uv_handle_t *)&server->timer, (uv_handle_t *)&server->prepare,
        (uv_handle_t *)&server->check, (uv_handle_t *)&server->idle,
        (uv_handle_t *)&server->cut,
    };
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        handles[i]->data = server;
        uv_unref(handles[i]);
    }
    (void)uv_prepare_start(&server->prepare, on_prepare);
}

void http_clock_close(struct http_server *server, uv_close_cb on_closed)
{
    uv_close((uv_handle_t *)&server->timer, on_closed);
    uv_close((uv_handle_t *)&server->prepare, on_closed);
    uv_close((uv_handle_t *)&server->check, on_closed);
    uv_close((uv_handle_t *)&server->idle, on_closed);
    uv_close((uv_handle_t *)&server->cut, on_closed);
}
