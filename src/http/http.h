/* The HTTP frontend: listeners and connections on the loop; requests go out, replies come back by handle. */
#ifndef SOLVEGATE_HTTP_HTTP_H
#define SOLVEGATE_HTTP_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/histogram.h"
#include "base/slice.h"
#include "proto/address.h"

#include <solvegate/types.h>

#include <stdint.h>

struct uv_loop_s;
struct http_server;
struct http_reply;

enum http_method {
    HTTP_METHOD_GET,
    HTTP_METHOD_HEAD,
    HTTP_METHOD_POST,
    HTTP_METHOD_PUT,
    HTTP_METHOD_DELETE,
    HTTP_METHOD_OPTIONS,
    HTTP_METHOD_OTHER,
};

/* State that a handler keeps until it answers, stored inside the exchange so that a request
 * allocates nothing. Only the router knows its meaning. */
struct http_note {
    uint64_t words[12];
};

/* One complete request. All slices are borrowed until the handler returns. */
struct http_request {
    caller_id caller; /* identifies this exchange for http_reply; never 0 */
    enum http_method method;
    struct slice path;  /* raw, before '?' */
    struct slice query; /* raw, after '?'; not given when there is none */
    struct slice content_type, authorization, idempotency_key, x_request_id, prefer, origin;
    struct slice sec_fetch_site, host, if_none_match;
    struct slice body;
    struct slice peer; /* its address as text; X-Forwarded-For counts only behind a trusted proxy */
    struct http_note *note; /* zeroed; lives until the reply */
};

struct http_handlers {
    void *context;
    /* May reply before it returns, or later by request->caller. */
    void (*on_request)(void *context, const struct http_request *request);
    /* May be NULL. Called for a request that is refused (413, 414, 431) although its request line
     * was understood. If the path has a dialect, fills the reply and returns true. The request's
     * fields and body are not given, except for the content type if it was read; the query may be
     * cut off. */
    bool (*on_refuse)(void *context, const struct http_request *request, uint16_t status,
                      struct http_reply *reply);
    /* The connection closed before this exchange was answered: do not reply to it any more. */
    void (*on_gone)(void *context, caller_id caller, const struct http_note *note);
};

#define HTTP_RESERVE_PATHS 3

struct http_options {
    uint32_t connections; /* limit; more are not accepted until one closes */
    /* Connections beyond that limit, each for one GET or POST of a path with one of these prefixes;
     * all others get 503. With a reserve, connections that have been idle for long are closed first
     * to make room. 0: none. */
    uint32_t reserve;
    struct slice
        reserve_paths[HTTP_RESERVE_PATHS]; /* borrowed for the server's life; may be empty */
    uint32_t body_bytes, header_bytes, url_bytes;
    uint32_t header_timeout_ms, body_timeout_ms, write_timeout_ms, idle_timeout_ms;
    uint64_t partial_bytes; /* limit of all incomplete requests together; more get 503 */
    uint64_t unsent_bytes;  /* limit of all replies that callers have not read */
    uint32_t pipeline;      /* waiting exchanges of one connection before reading pauses */
    const struct network *trusted_proxies; /* borrowed for the server's life */
    size_t trusted_proxy_count;
    bool shares_ports; /* other processes may listen at the same TCP ports */
};

/* Counters for metrics and tests. */
struct http_counters {
    uint64_t accepted, requests, bad_requests, timeouts, bytes_in, bytes_out, refused;
    uint64_t unread; /* connections closed because their unread replies took too much memory */
    uint64_t unsent_bytes;
    uint64_t partial_refusals; /* requests refused because incomplete ones took too much memory */
    uint64_t partial_bytes;
    uint32_t open, idle;
};

struct http_server *http_server_new(struct uv_loop_s *loop, const struct http_options *options,
                                    const struct http_handlers *handlers);

/* "127.0.0.1:8430", "[::1]:0", "unix:/path", or "fd:3" for a listening socket that was passed to
 * us. *bound becomes the real address for the ready line ("http://127.0.0.1:43211" or
 * "unix:/path"). The caller logs errors: err_text and the system's errno text go into mistake. */
int http_server_listen(struct http_server *server, const char *address, struct buf *bound,
                       struct buf *mistake) MUST_CHECK;

/* Stops accepting; answers open exchanges with `Connection: close` and closes idle connections. */
void http_server_drain(struct http_server *server);

/* Closes everything; on_closed runs after the last handle is closed, and only then http_server_free
 * is allowed. */
void http_server_close(struct http_server *server, void (*on_closed)(void *context), void *context);
void http_server_free(struct http_server *server);

struct http_reply {
    uint16_t status;
    struct slice content_type;
    struct slice headers; /* further complete lines, each ending in CRLF, or empty */
    struct slice body;    /* copied before http_reply returns; for HEAD only its length is sent */
    bool close;
};

/* The note of an exchange that still waits for its reply, or NULL if the exchange is gone. */
struct http_note *http_note_of(struct http_server *server, caller_id caller);

/* Call it exactly once per exchange; replies to callers that are gone are ignored. Replies may be
 * given in any order and leave in the order of the requests. Bytes are gathered and written once
 * per loop turn or read. */
void http_reply(struct http_server *server, caller_id caller, const struct http_reply *reply);

/* The caller asked to be held, so the time to its answer does not measure our speed. */
void http_expect_hold(struct http_server *server, caller_id caller);

/* The reply comes later and is long: the connection's next request is taken only after it was
 * given, since several such replies would exceed a connection's limit of unsent bytes. */
void http_expect_long(struct http_server *server, caller_id caller);

void http_counters(const struct http_server *server, struct http_counters *counters);

/* The times from reading a request to its answer, of held callers or of all others. */
const struct histogram *http_answer_times(const struct http_server *server, bool is_held);

#endif
