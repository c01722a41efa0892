#include "upstream/upstream_life.h"

#include "base/assert.h"
#include "upstream/lane.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"
#include "upstream/upstream_private.h"
#include "upstream/upstream_url.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- opening ------------------------------------------------------------------------------ */

static char *copy(const char *text)
{
    char *copied = text == NULL ? NULL : strdup(text);
    ASSERT(text == NULL || copied != NULL);
    return copied;
}

static int set_up(struct transfer_setup *setup, const struct upstream_options *options,
                  struct buf *mistake)
{
    struct upstream_url url;
    if (!transfer_setup_init(setup)) {
        buf_addf(mistake, "upstream: this libcurl resolves names on the loop (no AsynchDNS)");
        return ERR_UNSUPPORTED;
    }
    if (upstream_url_read(&url, options->url, options->protocol, options->allow_plain_http,
                          mistake) != 0)
        return ERR_INVALID;
    setup->submit_url = url.submit;
    setup->query_url = url.query;
    setup->protocols = url.scheme;
    setup->has_tls = strcmp(url.scheme, "https") == 0;
    setup->may_http2 = options->http2 && setup->has_tls;
    setup->has_http2 = setup->may_http2;
    setup->must_be_loopback = url.must_be_loopback;
    setup->user_agent = copy(options->user_agent);
    setup->connect_timeout_ms = options->connect_timeout_ms;
    setup->trust = setup->has_tls || options->ca_file != NULL ? trust_open(options->ca_file) : NULL;
    setup->sessions = setup->trust != NULL ? sessions_new(setup->trust) : NULL;
    if (options->ca_file == NULL || setup->trust != NULL)
        return 0;
    buf_addf(mistake, "upstream.ca_file: %s holds no certificate that can be read",
             options->ca_file);
    return ERR_INVALID;
}

static void release(struct upstream *upstream)
{
    transfer_setup_close(&upstream->setup);
    if (upstream->key != NULL)
        sodium_memzero(upstream->key, strlen(upstream->key));
    free(upstream->key);
    free(upstream->lanes);
    free(upstream);
    curl_global_cleanup();
}

static void init_state(struct upstream *upstream, struct uv_loop_s *loop,
                       const struct upstream_options *options,
                       const struct upstream_handlers *handlers)
{
    upstream->loop = loop;
    upstream->handlers = *handlers;
    upstream->protocol = options->protocol;
    upstream->vendor = options->vendor;
    upstream->wall_ms = options->wall_ms;
    upstream->key = copy(options->key);
    upstream->connections = options->connections > 0 ? options->connections : 1;
    upstream->timeout_ms[DEADLINES_SUBMIT] = options->submit_timeout_ms;
    upstream->timeout_ms[DEADLINES_OTHER] = options->poll_timeout_ms;
    upstream->lane_limit = (upstream->connections + LANE_ROOM - 1) / LANE_ROOM;
    upstream->lanes = calloc(upstream->lane_limit, sizeof(struct lane *));
    ASSERT(upstream->lanes != NULL);
    uint64_t secret[2];
    randombytes_buf(secret, sizeof secret);
    call_queue_init(&upstream->queue, options->queue, secret);
    list_init(&upstream->idle);
    for (int i = 0; i < DEADLINES_COUNT; i++)
        list_init(&upstream->deadlines[i]);
}

static void init_handles(struct upstream *upstream)
{
    int failed = uv_idle_init(upstream->loop, &upstream->turn);
    failed |= uv_timer_init(upstream->loop, &upstream->deadline);
    ASSERT(failed == 0);
    upstream->turn.data = upstream;
    upstream->deadline.data = upstream;
    upstream->armed_ms = UINT64_MAX;
    uv_unref((uv_handle_t *)&upstream->deadline);
}

struct upstream *upstream_new(struct uv_loop_s *loop, const struct upstream_options *options,
                              const struct upstream_handlers *handlers, struct buf *mistake)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || sodium_init() < 0) {
        buf_addf(mistake, "upstream: libcurl or libsodium cannot start");
        return NULL;
    }
    struct upstream *upstream = calloc(1, sizeof *upstream);
    ASSERT(upstream != NULL);
    if (set_up(&upstream->setup, options, mistake) != 0) {
        release(upstream);
        return NULL;
    }
    const struct sockets_handlers ready = {
        .context = upstream,
        .on_ready = lane_on_ready,
        .on_settled = upstream_settle_lanes,
    };
    upstream->sockets = sockets_new(loop, &ready);
    if (upstream->sockets == NULL) {
        buf_addf(mistake, "upstream: no descriptor left for an epoll set");
        release(upstream);
        return NULL;
    }
    upstream->setup.sockets = upstream->sockets;
    init_state(upstream, loop, options, handlers);
    init_handles(upstream);
    return upstream;
}

/* ---- closing ------------------------------------------------------------------------------ */

static void on_part_closed(void *context)
{
    struct upstream *upstream = context;
    if (--upstream->closing_handles == 0)
        upstream->on_closed(upstream->closed_context);
}

static void on_deadline_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

static void free_transfers(struct list *transfers)
{
    LIST_FOR_EACH_SAFE(link, transfers) {
        struct transfer *transfer = CONTAINER_OF(link, struct transfer, link);
        if (transfer->wire.lane != NULL)
            lane_remove(transfer->wire.lane, &transfer->wire);
        transfer_free(transfer);
    }
}

/* Runs from the loop itself, so no libcurl call and no handler of ours is on the stack. */
static void tear_down(uv_handle_t *turn)
{
    struct upstream *upstream = turn->data;
    for (int i = 0; i < DEADLINES_COUNT; i++)
        free_transfers(&upstream->deadlines[i]);
    free_transfers(&upstream->idle);
    upstream->closing_handles = upstream->lane_count + 2;
    for (uint32_t i = 0; i < upstream->lane_count; i++)
        lane_close(upstream->lanes[i], on_part_closed, upstream);
    sockets_close(upstream->sockets, on_part_closed, upstream);
    uv_close((uv_handle_t *)&upstream->deadline, on_deadline_closed);
}

void upstream_close(struct upstream *upstream, void (*on_closed)(void *context), void *context)
{
    ASSERT(!upstream->is_closing);
    upstream->is_closing = true;
    upstream->on_closed = on_closed;
    upstream->closed_context = context;
    call_queue_close(&upstream->queue);
    uv_close((uv_handle_t *)&upstream->turn, tear_down);
}

void upstream_free(struct upstream *upstream)
{
    if (upstream == NULL)
        return;
    /* Handles of the loop point into it until on_closed. */
    ASSERT(upstream->is_closing && upstream->closing_handles == 0);
    release(upstream);
}
