#include "http/http_input.h"

#include "base/assert.h"
#include "http/http_clock.h"
#include "http/http_conn.h"
#include "http/http_exchange.h"
#include "http/http_guard.h"
#include "http/http_private.h"
#include "http/http_write.h"

#include <stdlib.h>

bool http_input_may_take(const struct http_conn *conn)
{
    return !conn->is_deaf && !conn->is_closing && !conn->is_yielding && !conn->is_long &&
           conn->outbox == NULL && conn->waiting < conn->server->options.pipeline &&
           conn->held_bytes < HTTP_QUEUE_BYTES;
}

bool http_input_is_whole(const struct http_conn *conn)
{
    const struct http_input *input = conn->input;
    return conn->is_yielding && input != NULL && http_parse_is_started(&input->parse) &&
           input->parse.phase == HTTP_PHASE_LENGTH &&
           http_parse_may_end(&input->parse, input->bytes.len);
}

bool http_input_has_more(const struct http_conn *conn)
{
    const struct http_input *input = conn->input;
    return input != NULL &&
           (!http_parse_is_started(&input->parse) || input->bytes.len > input->parse.fed);
}

static size_t input_cap(const struct http_limits *limits)
{
    /* Room for a complete request and the reads that contain its end; the limits are enforced
     * elsewhere. */
    return (size_t)limits->url_bytes + limits->header_bytes + limits->body_bytes +
           4 * HTTP_READ_BYTES;
}

uint64_t http_input_most(const struct http_limits *limits)
{
    return sizeof(struct http_input) + input_cap(limits);
}

uint64_t http_input_most_of_large(const struct http_options *options, uint64_t most)
{
    const uint64_t reserve = options->partial_bytes / HTTP_SMALL_SHARE;
    const uint64_t spare = options->partial_bytes - most;
    return options->partial_bytes - (reserve < spare ? reserve : spare);
}

static void refuse_crowd(struct http_conn *conn)
{
    conn->server->counters.partial_refusals++;
    http_conn_refuse(conn, 503, "too many half-sent requests");
}

static void hear(struct http_server *server, struct http_input *input)
{
    input->heard_ms = uv_now(server->loop);
    input->heard_bytes = input->bytes.len;
    list_unlink(&input->link);
    list_append(&server->partial[input->is_large], &input->link);
}

/* Refuses the request that has stalled for longest, if that is long enough; false if there is none. A
 * whole request that waits for its turn is not half-sent. */
static bool push_out(const struct http_conn *newcomer, bool is_large)
{
    struct http_server *server = newcomer->server;
    LIST_FOR_EACH_SAFE(link, &server->partial[is_large]) {
        struct http_input *input = CONTAINER_OF(link, struct http_input, link);
        struct http_conn *conn = input->conn;
        if (uv_now(server->loop) < input->heard_ms + HTTP_STALLED_MS)
            return false;
        if (conn == newcomer || conn->is_deaf || conn->is_closing ||
            !http_parse_is_started(&input->parse) || http_input_is_whole(conn) ||
            http_conn_has_unread(conn)) {
            hear(server, input);
            continue;
        }
        refuse_crowd(conn);
        http_input_free(conn);
        http_clock_touch(conn);
        return true;
    }
    return false;
}

static void count(struct http_server *server, struct http_input *input, size_t bytes, bool is_large)
{
    server->partial_bytes += bytes - input->counted;
    server->partial_large_used += (is_large ? bytes : 0) - (input->is_large ? input->counted : 0);
    input->counted = bytes;
    input->is_large = is_large;
}

enum fit { FIT_GOOD, FIT_TOO_MUCH, FIT_TOO_MUCH_LARGE };

/* All inputs together stay within the limit, and large ones leave a share of it to small ones. */
static enum fit fit_of(const struct http_conn *conn, size_t bytes, bool is_large)
{
    const struct http_server *server = conn->server;
    const struct http_input *input = conn->input;
    const uint64_t others = server->partial_bytes - input->counted;
    const uint64_t large = server->partial_large_used - (input->is_large ? input->counted : 0);
    if (is_large && large + bytes > server->partial_large_bytes)
        return FIT_TOO_MUCH_LARGE;
    return others + bytes > server->options.partial_bytes ? FIT_TOO_MUCH : FIT_GOOD;
}

/* Makes stalled requests give way: large ones first, since few of them are enough. */
static bool make_room(const struct http_conn *conn, size_t bytes, bool is_large)
{
    enum fit fit;
    for (int left = HTTP_STALLED_MOST; (fit = fit_of(conn, bytes, is_large)) != FIT_GOOD; left--)
        if (left == 0 || !(push_out(conn, true) || (fit == FIT_TOO_MUCH && push_out(conn, false))))
            return false;
    return true;
}

/* Keeps the bytes if there is room. Counts the buffer's new size in advance, because buffers grow by
 * doubling. */
static bool keep(struct http_conn *conn, struct slice bytes)
{
    struct http_server *server = conn->server;
    struct http_input *input = conn->input;
    const size_t room = buf_room_with(&input->bytes, bytes.len);
    const size_t needed = sizeof *input + room;
    const bool is_large = room > HTTP_SMALL_BYTES;
    const bool was_large = input->is_large;
    if (needed != input->counted && !make_room(conn, needed, is_large))
        return false;
    buf_add(&input->bytes, bytes);
    ASSERT(!input->bytes.is_full);
    count(server, input, needed, is_large);
    if (was_large != is_large || input->bytes.len >= input->heard_bytes + HTTP_STALLED_BYTES)
        hear(server, input);
    return true;
}

void http_input_free(struct http_conn *conn)
{
    if (conn->input == NULL)
        return;
    list_unlink(&conn->input->link);
    count(conn->server, conn->input, 0, false);
    buf_close(&conn->input->bytes);
    free(conn->input);
    conn->input = NULL;
}

static struct http_input *input_new(struct http_conn *conn)
{
    struct http_input *input = malloc(sizeof *input);
    ASSERT(input != NULL);
    input->parse.fed = 0;
    input->counted = 0;
    input->is_large = false;
    input->conn = conn;
    list_init(&input->link);
    buf_init(&input->bytes, input_cap(&conn->server->limits));
    hear(conn->server, input);
    return input;
}

/* Prepares for the next request at these bytes: returns how many to skip before it, or -1 if it
 * cannot begin yet because it is not its turn or too few bytes are there. */
static int begin(struct http_conn *conn, struct http_parse *parse, const char *bytes, size_t len)
{
    struct http_server *server = conn->server;
    if (server->out.len >= HTTP_GATHER_BYTES)
        (void)http_write_flush(conn);
    if (!http_input_may_take(conn))
        return -1;
    const int lead = http_guard_lead(bytes, len);
    if (lead == -2)
        http_conn_refuse(conn, 400, "an empty line where a request should begin");
    if (lead < 0)
        return -1;
    http_parse_start(parse, &server->limits);
    return lead;
}

/* Large bodies take time when they are complete. */
static bool is_heavy(const struct http_conn *conn)
{
    const struct http_input *input = conn->input;
    return input != NULL && input->bytes.len > HTTP_HEAVY_BYTES &&
           http_parse_may_end(&input->parse, input->bytes.len);
}

/* At the end of a turn one heavy request always has its turn, or a busy server would starve them:
 * the one that waits for longest. While any waits, none that has just arrived goes before it, or
 * one sender of endless chunks, each of which may be the last, would keep all others out. */
static bool must_yield(struct http_conn *conn)
{
    struct http_server *server = conn->server;
    if (server->taken >= HTTP_TURN_REQUESTS || http_clock_is_late(server))
        return true;
    if (!is_heavy(conn))
        return false;
    const bool has_time = uv_hrtime() - server->turn_ns < HTTP_HEAVY_NS;
    const bool is_first = server->is_ending || (has_time && !server->has_heavy_waiting);
    const bool may_run = is_first && !server->had_heavy;
    server->had_heavy = server->had_heavy || may_run;
    server->has_heavy_waiting = server->has_heavy_waiting || !may_run;
    return !may_run;
}

/* Gives other connections their turn: this one waits in line. */
static bool yields(struct http_conn *conn)
{
    if (!must_yield(conn))
        return false;
    conn->is_yielding = true;
    http_clock_touch(conn);
    return true;
}

/* Processes complete requests. Returns how many bytes are done; *kept is how many of the following
 * ones the next call needs again: all of them, or fewer within a chunked body. */
static size_t work(struct http_conn *conn, struct http_parse *parse, char *bytes, size_t len,
                   size_t *kept)
{
    size_t at = 0;
    while (at < len && !conn->is_deaf && !conn->is_closing && !conn->is_yielding && !yields(conn)) {
        if (!http_parse_is_started(parse)) {
            const int lead = begin(conn, parse, bytes + at, len - at);
            if (lead < 0)
                break;
            at += (size_t)lead;
        }
        size_t part = len - at;
        switch (http_parse_feed(parse, bytes + at, &part)) {
        case HTTP_PARSED_PART:
            *kept = part;
            return at;
        case HTTP_PARSED_WHOLE:
            parse->fed = 0;
            conn->server->taken++;
            http_exchange_begin(conn, parse, bytes + at);
            at += part;
            break;
        case HTTP_PARSED_BAD:
            http_conn_refuse_request(conn, parse, bytes + at, parse->status, parse->mistake);
            break;
        }
    }
    *kept = len - at;
    return at;
}

/* Bytes after a connection's last request are dropped, and the connection must linger. */
static bool is_over(struct http_conn *conn, size_t kept)
{
    if (!conn->is_deaf && !conn->is_closing)
        return false;
    if (kept > 0)
        conn->is_refused = true;
    return true;
}

/* The common case: requests that are complete in the shared buffer are parsed in place. */
static void take_in_place(struct http_conn *conn, char *bytes, size_t len)
{
    struct http_server *server = conn->server;
    server->parse.fed = 0;
    size_t kept = 0;
    const size_t done = work(conn, &server->parse, bytes, len, &kept);
    if (is_over(conn, kept) || kept == 0)
        return;
    conn->input = input_new(conn);
    if (http_parse_is_started(&server->parse))
        conn->input->parse = server->parse;
    if (!keep(conn, (struct slice){.data = bytes + done, .len = kept}))
        refuse_crowd(conn); /* The input is freed when the connection settles. */
}

static void take_kept(struct http_conn *conn, const char *bytes, size_t len)
{
    struct http_input *input = conn->input;
    if (!keep(conn, (struct slice){.data = bytes, .len = len})) {
        refuse_crowd(conn);
        return;
    }
    size_t kept = 0;
    const size_t done = work(conn, &input->parse, input->bytes.data, input->bytes.len, &kept);
    if (is_over(conn, kept))
        return; /* Freed when the connection settles or closes. */
    if (done > 0)
        http_clock_clear(conn); /* The remaining bytes belong to another request. */
    if (kept == 0) {
        http_input_free(conn);
        return;
    }
    buf_consume(&input->bytes, done);
    input->bytes.len = kept;
    if (done > 0 || kept < input->heard_bytes)
        hear(conn->server, input);
}

void http_input_take(struct http_conn *conn, char *bytes, size_t len)
{
    struct http_server *server = conn->server;
    ASSERT(server->gathering == NULL);
    server->gathering = conn;
    server->taken = 0;
    if (conn->input == NULL)
        take_in_place(conn, bytes, len);
    else
        take_kept(conn, bytes, len);
    http_exchange_continue(conn);
    if (!conn->is_closing)
        (void)http_write_flush(conn);
    buf_reset(&server->out);
    server->gathering = NULL;
}
