#include "http/http_server.h"

#include "base/assert.h"
#include "http/http_clock.h"
#include "http/http_conn.h"
#include "http/http_input.h"
#include "http/http_listen.h"
#include "http/http_private.h"
#include "http/http_unsent.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

/* The wanted number, reduced so that the process cannot run out of descriptors. */
static uint32_t connection_cap(uint32_t wanted)
{
    if (wanted > HTTP_CONNECTIONS_MAX)
        wanted = HTTP_CONNECTIONS_MAX;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return wanted;
    if (files.rlim_cur < files.rlim_max) {
        const struct rlimit raised = {.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            files = raised;
    }
    /* With a limit as small as the reserved files, half of it is used. */
    const rlim_t cap = files.rlim_cur >= 2 * HTTP_RESERVED_FILES
                           ? files.rlim_cur - HTTP_RESERVED_FILES
                           : files.rlim_cur / 2;
    return cap < wanted ? (uint32_t)cap : wanted;
}

/* With few descriptors, most of them still go to ordinary connections. */
static void open_conns(struct http_server *server)
{
    const struct http_options *options = &server->options;
    const uint32_t all = connection_cap(options->connections + options->reserve);
    server->reserve = options->reserve < all / 4 ? options->reserve : all / 4;
    server->cap = all - server->reserve;
    if (server->cap > options->connections)
        server->cap = options->connections;
    const uint32_t closing = server->reserve > 0 ? HTTP_CLOSING_CONNS : 0;
    slab_init(&server->conns, sizeof(struct http_conn), server->cap + server->reserve + closing);
}

struct http_server *http_server_new(struct uv_loop_s *loop, const struct http_options *options,
                                    const struct http_handlers *handlers)
{
    ASSERT(options->connections > 0 && options->pipeline > 0 && options->pipeline < UINT16_MAX / 2);
    ASSERT(options->unsent_bytes > 0);
    ASSERT(options->header_timeout_ms > 0 && options->body_timeout_ms > 0 &&
           options->write_timeout_ms > 0 && options->idle_timeout_ms > 0);
    struct http_server *server = calloc(1, sizeof *server);
    ASSERT(server != NULL);
    server->loop = loop;
    server->options = *options;
    server->handlers = *handlers;
    server->limits = (struct http_limits){
        .url_bytes = options->url_bytes,
        .header_bytes = options->header_bytes,
        .body_bytes = options->body_bytes,
    };
    /* Otherwise the largest request would always be refused, not only under load. */
    const uint64_t most = http_input_most(&server->limits);
    ASSERT(options->partial_bytes >= most);
    server->partial_large_bytes = http_input_most_of_large(options, most);
    open_conns(server);
    list_init(&server->listeners);
    list_init(&server->spare);
    list_init(&server->partial[false]);
    list_init(&server->partial[true]);
    buf_init(&server->out, SIZE_MAX / 4);
    http_clock_open(server);
    http_unsent_open(server);
    server->handles = 5;
    /* Writing to a peer that hung up must fail with an error code, not end the process. */
    (void)signal(SIGPIPE, SIG_IGN);
    return server;
}

void http_server_drain(struct http_server *server)
{
    server->is_draining = true;
    http_listen_close(server);
    http_clock_expire(server);
}

void http_server_count_closed(struct http_server *server)
{
    if (server->is_closing && server->handles == 0 && server->conns.used == 0)
        server->on_closed(server->closed_context);
}

static void on_clock_closed(uv_handle_t *handle)
{
    struct http_server *server = handle->data;
    server->handles--;
    http_server_count_closed(server);
}

void http_server_close(struct http_server *server, void (*on_closed)(void *context), void *context)
{
    ASSERT(!server->is_closing);
    server->is_closing = true;
    server->is_draining = true;
    server->on_closed = on_closed;
    server->closed_context = context;
    http_listen_close(server);
    for (slab_id id = slab_next(&server->conns, 0); id != 0; id = slab_next(&server->conns, id))
        http_conn_close(slab_get(&server->conns, id));
    http_clock_close(server, on_clock_closed);
}

void http_server_free(struct http_server *server)
{
    if (server == NULL)
        return;
    ASSERT(server->is_closing && server->handles == 0 && server->conns.used == 0);
    LIST_FOR_EACH_SAFE(link, &server->spare)
        free(CONTAINER_OF(link, struct http_exchange, link));
    slab_close(&server->conns);
    buf_close(&server->out);
    free(server);
}

void http_counters(const struct http_server *server, struct http_counters *counters)
{
    *counters = server->counters;
    counters->open = server->conns.used;
    counters->unsent_bytes = server->unsent_bytes;
    counters->partial_bytes = server->partial_bytes;
    counters->idle = server->due[HTTP_DUE_IDLE].count;
}

const struct histogram *http_answer_times(const struct http_server *server, bool is_held)
{
    return is_held ? &server->held_times : &server->answer_times;
}
