/* The HTTP server for the doors: a request in; a reply and its delivery out. */
#ifndef SOLVEGATE_SIM_HTTP_H
#define SOLVEGATE_SIM_HTTP_H

#include "base/buf.h"
#include "base/slab.h"
#include "base/slice.h"

#include "sim/clock.h"

struct http_server;

struct http_request {
    const char *method; /* "GET" */
    struct slice path;  /* all slices are borrowed until the handler returns */
    struct slice query;
    struct slice content_type;
    struct slice body;
    slab_id conn; /* identifies the connection for a later reply */
};

/* How a reply is delivered, faults included. */
enum http_delivery {
    HTTP_SEND,     /* complete and at once */
    HTTP_HOLD,     /* complete, after amount milliseconds or http_release, whichever is first */
    HTTP_WAIT,     /* nothing yet: http_answer sends the reply */
    HTTP_DRIP,     /* one byte every amount milliseconds */
    HTTP_TRUNCATE, /* amount bytes of the body, although the head announces all, then close */
    HTTP_CLOSE,    /* no reply, FIN */
    HTTP_RESET,    /* no reply, RST */
    HTTP_NEVER,    /* no reply, and the connection stays open */
};

struct http_reply {
    int status;
    const char *content_type;
    struct slice headers; /* complete extra lines, CRLF included, or none */
    struct buf *body;     /* borrowed from the server, empty at first */
    enum http_delivery delivery;
    uint64_t amount;
};

/* Fills the reply, which is initially 200 text/plain with an empty body, sent at once. */
typedef void (*http_handler)(void *context, const struct http_request *request,
                             struct http_reply *reply);

struct http_limits {
    uint32_t connections;
    uint64_t body_bytes;
    uint64_t keep_alive_ms; /* 0: an idle connection is never closed */
};

/* Creates a server; the handler is called for every complete request. */
struct http_server *http_server_new(struct uv_loop_s *loop, struct clock *clock,
                                    const struct http_limits *limits, http_handler handler,
                                    void *context);

/* Returns 0 with the real port in *port, or a negative libuv error. */
int http_server_listen(struct http_server *server, const char *host, int *port);

/* Starts closing everything; http_server_free once the loop has run out. */
void http_server_close(struct http_server *server);
void http_server_free(struct http_server *server);

/* Sends a reply that HTTP_HOLD holds back; does nothing if the connection is gone or in another
 * state. */
void http_release(struct http_server *server, slab_id conn);

/* Answers a request that HTTP_WAIT left open with status 200; does nothing if the connection is
 * gone or in another state. */
void http_answer(struct http_server *server, slab_id conn, const char *content_type,
                 struct slice body);

/* The number of open connections. */
uint32_t http_connection_count(const struct http_server *server);

#endif
