/* Connections beyond the cap, for requests of few paths; only the first bytes of a request reveal
 * its path. */
#include "http/http_reserve.h"

#include "base/assert.h"
#include "http/http_clock.h"
#include "http/http_conn.h"
#include "http/http_input.h"

/* A connection that was just served or accepted may have its next request on the way. */
#define IDLE_LEAST_MS 1000

/* Closes the connection that has been idle for longest, if that is long enough. */
bool http_reserve_make_room(struct http_server *server)
{
    struct http_due_list *idle = &server->due[HTTP_DUE_IDLE];
    struct list *first = list_first(&idle->conns);
    if (server->reserve == 0 || first == NULL)
        return false;
    struct http_conn *conn = CONTAINER_OF(first, struct http_conn, due);
    const uint64_t since_ms = conn->due_ms - idle->timeout_ms;
    if (uv_now(server->loop) < since_ms + IDLE_LEAST_MS)
        return false;
    http_conn_close(conn);
    return true;
}

/* A connection beyond the cap has waited in the kernel's queue, so its request has usually arrived
 * when it is accepted. With 64 places and 400 strangers that reconnect repeatedly, a genuine caller
 * gets its turn after 0.1 s if they send nothing, and after 0.3 s if each begins a callback and
 * stalls. */
#define SILENT_LEAST_MS 15
#define STALLED_LEAST_MS 30

/* When it may be closed in favour of another; a callback that waits for its turn or is being
 * made durable is never closed. */
static uint64_t patience_end(const struct http_conn *conn)
{
    if ((conn->waiting > 0 && !conn->is_lingering) || http_input_is_whole(conn))
        return UINT64_MAX;
    const bool has_begun = conn->is_judged && !conn->is_lingering;
    return conn->since_ms + (has_begun ? STALLED_LEAST_MS : SILENT_LEAST_MS);
}

bool http_reserve_push_out(struct http_server *server)
{
    struct http_conn *victim = NULL;
    uint64_t earliest_ms = UINT64_MAX;
    LIST_FOR_EACH(link, &server->beyond) {
        struct http_conn *conn = CONTAINER_OF(link, struct http_conn, beyond);
        const uint64_t end_ms = patience_end(conn);
        earliest_ms = end_ms < earliest_ms ? end_ms : earliest_ms;
        /* Chooses the oldest one whose time is over; those that have not named the reserved path go
         * first. */
        if (end_ms <= uv_now(server->loop) &&
            (victim == NULL || (victim->is_judged && !conn->is_judged)) &&
            !http_conn_has_unread(conn))
            victim = conn;
    }
    if (victim == NULL) {
        http_clock_set_crowd(server, earliest_ms);
        return false;
    }
    server->counters.timeouts++;
    http_conn_close(victim);
    return true;
}

static bool is_next(struct http_conn *conn, struct slice expected, char byte)
{
    if (conn->matched >= expected.len || expected.data[conn->matched] != byte)
        return false;
    conn->matched++;
    return true;
}

/* Each byte rules out the paths that have another one there. */
static enum http_reserve_verdict look_at_path(struct http_conn *conn, size_t at, char byte)
{
    if (at == 0)
        conn->candidates = (1u << HTTP_RESERVE_PATHS) - 1;
    for (unsigned i = 0; i < HTTP_RESERVE_PATHS; i++) {
        const struct slice path = conn->server->options.reserve_paths[i];
        const unsigned bit = 1u << i;
        if (at >= path.len || path.data[at] != byte)
            conn->candidates &= (uint8_t)~bit;
        else if ((conn->candidates & bit) != 0 && at + 1 == path.len)
            return HTTP_RESERVE_MINE;
    }
    conn->matched++;
    return conn->candidates == 0 ? HTTP_RESERVE_OTHER : HTTP_RESERVE_UNSURE;
}

/* "GET " or "POST ", which differ in their first byte, then the path. */
static enum http_reserve_verdict look_at(struct http_conn *conn, char byte)
{
    if (conn->matched == 0)
        conn->is_post = byte == 'P';
    const struct slice method = conn->is_post ? SLICE_OF("POST ") : SLICE_OF("GET ");
    if (conn->matched < method.len)
        return is_next(conn, method, byte) ? HTTP_RESERVE_UNSURE : HTTP_RESERVE_OTHER;
    return look_at_path(conn, conn->matched - method.len, byte);
}

enum http_reserve_verdict http_reserve_judge(struct http_conn *conn, const char *bytes, size_t len)
{
    enum http_reserve_verdict verdict = HTTP_RESERVE_UNSURE;
    for (size_t i = 0; i < len && verdict == HTTP_RESERVE_UNSURE; i++)
        verdict = look_at(conn, bytes[i]);
    return verdict;
}
