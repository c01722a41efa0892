#include "sim/peer.h"

#include "base/assert.h"
#include "sim/pingback_private.h"

#include <stdlib.h>

static void peer_connect(struct pingback *pingback, struct job *job);

static void on_peer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void peer_close(struct peer *peer)
{
    if (peer->is_closing)
        return;
    peer->is_closing = true;
    clock_cancel(peer->pingback->clock, &peer->timer);
    list_unlink(&peer->link);
    list_unlink(&peer->all);
    peer->origin->open--;
    uv_close((uv_handle_t *)&peer->tcp, on_peer_closed);
}

static struct job *take_waiting(struct origin *origin)
{
    struct list *first = list_first(&origin->waiting);

    if (first == NULL)
        return NULL;
    list_unlink(first);
    return CONTAINER_OF(first, struct job, link);
}

/* A kept connection may die while the call is sent; repeating a callback is safe. */
static void peer_fail(struct peer *peer, int status)
{
    struct pingback *pingback = peer->pingback;
    struct origin *origin = peer->origin;
    struct job *job = peer->job;
    const bool is_retry = job != NULL && peer->is_kept && !peer->has_reply && !job->is_again &&
                          status != UV_ETIMEDOUT;

    peer->job = NULL;
    peer_close(peer);
    if (is_retry) {
        job->is_again = true;
        peer_connect(pingback, job);
    } else if (job != NULL) {
        job_finish(pingback, job, status);
    }
    struct job *next = take_waiting(origin);
    if (next != NULL)
        peer_dispatch(pingback, next);
}

static int on_reply_complete(llhttp_t *parser)
{
    struct peer *peer = parser->data;

    peer->is_done = true;
    return HPE_PAUSED;
}

void peer_settings_init(llhttp_settings_t *settings)
{
    llhttp_settings_init(settings);
    settings->on_message_complete = on_reply_complete;
}

static void on_peer_written(uv_write_t *write, int status)
{
    struct peer *peer = write->data;

    if (status < 0 && !peer->is_closing)
        peer_fail(peer, status);
}

static void peer_write(struct peer *peer)
{
    uv_buf_t buf = uv_buf_init(peer->job->bytes->data, peer->job->bytes->len);
    int rc = uv_try_write((uv_stream_t *)&peer->tcp, &buf, 1);

    if (rc == (int)buf.len)
        return;
    if (rc > 0) {
        buf.base += rc;
        buf.len -= (size_t)rc;
    }
    /* The job's bytes live until the reply, or until closing the connection ends the write. */
    peer->write.data = peer;
    if (rc > 0 || rc == UV_EAGAIN)
        rc = uv_write(&peer->write, (uv_stream_t *)&peer->tcp, &buf, 1, on_peer_written);
    /* The timer reports it, so that starting a job never ends it within the same call. */
    if (rc < 0) {
        peer->failure = rc;
        clock_arm(peer->pingback->clock, &peer->timer, clock_now_ms(peer->pingback->clock));
    }
}

static void peer_start(struct peer *peer, struct job *job)
{
    struct clock *clock = peer->pingback->clock;

    peer->job = job;
    peer->has_reply = false;
    peer->is_done = false;
    llhttp_init(&peer->parser, HTTP_RESPONSE, &peer->pingback->settings);
    peer->parser.data = peer;
    clock_arm(clock, &peer->timer, clock_now_ms(clock) + peer->pingback->style.timeout_ms);
    if (peer->is_kept)
        peer_write(peer);
}

/* The reply is complete: the connection takes the next job, becomes idle, or closes. */
static void peer_complete(struct peer *peer, bool is_reusable)
{
    struct pingback *pingback = peer->pingback;
    struct origin *origin = peer->origin;
    struct job *job = peer->job;
    const int status = peer->parser.status_code;

    peer->job = NULL;
    peer->is_kept = true;
    clock_cancel(pingback->clock, &peer->timer);
    struct job *next = take_waiting(origin);
    if (!is_reusable) {
        peer_close(peer);
        if (next != NULL)
            peer_dispatch(pingback, next);
    } else if (next != NULL) {
        peer_start(peer, next);
    } else {
        list_prepend(&origin->idle, &peer->link);
    }
    job_finish(pingback, job, status);
}

static void on_peer_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const struct peer *peer = handle->data;

    (void)suggested;
    *buf = uv_buf_init(peer->pingback->in, PEER_READ_BYTES);
}

static void on_peer_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    struct peer *peer = stream->data;

    if (nread == 0)
        return;
    /* A reply without a length ends with the connection. */
    if (nread == UV_EOF && peer->job != NULL && peer->has_reply)
        (void)llhttp_finish(&peer->parser);
    if (nread < 0 || peer->job == NULL) {
        if (peer->is_done && peer->job != NULL)
            peer_complete(peer, false);
        else
            peer_fail(peer, nread < 0 ? (int)nread : UV_EPROTO);
        return;
    }
    peer->has_reply = true;
    const llhttp_errno_t rc = llhttp_execute(&peer->parser, buf->base, (size_t)nread);
    if (rc == HPE_OK)
        return;
    if (rc != HPE_PAUSED || !peer->is_done) {
        peer_fail(peer, UV_EPROTO);
        return;
    }
    const bool is_clean = llhttp_get_error_pos(&peer->parser) == buf->base + nread;
    peer_complete(peer, is_clean && llhttp_should_keep_alive(&peer->parser) != 0);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct peer *peer = connect->data;

    if (peer->is_closing)
        return;
    if (status == 0)
        status = uv_read_start((uv_stream_t *)&peer->tcp, on_peer_alloc, on_peer_read);
    if (status < 0)
        peer_fail(peer, status);
    else
        peer_write(peer);
}

static struct peer *peer_new(struct pingback *pingback, struct origin *origin)
{
    struct peer *peer = calloc(1, sizeof *peer);

    ASSERT(peer != NULL);
    peer->pingback = pingback;
    peer->origin = origin;
    list_init(&peer->link);
    list_init(&peer->all);
    wheel_timer_init(&peer->timer, CLOCK_PEER);
    ASSERT(uv_tcp_init(pingback->loop, &peer->tcp) == 0);
    peer->tcp.data = peer;
    peer->connect.data = peer;
    list_append(&pingback->peers, &peer->all);
    origin->open++;
    return peer;
}

static void peer_connect(struct pingback *pingback, struct job *job)
{
    struct peer *peer = peer_new(pingback, job->origin);

    peer_start(peer, job);
    const int rc = uv_tcp_connect(&peer->connect, &peer->tcp,
                                  (const struct sockaddr *)&job->origin->address, on_connected);
    if (rc != 0) {
        peer->job = NULL;
        peer_close(peer);
        job_finish(pingback, job, rc);
        return;
    }
    uv_tcp_nodelay(&peer->tcp, 1);
}

void peer_dispatch(struct pingback *pingback, struct job *job)
{
    struct origin *origin = job->origin;
    struct list *idle = list_first(&origin->idle);

    if (idle != NULL) {
        struct peer *peer = CONTAINER_OF(idle, struct peer, link);
        list_unlink(idle);
        peer_start(peer, job);
    } else if (origin->open < pingback->style.connections) {
        peer_connect(pingback, job);
    } else {
        list_append(&origin->waiting, &job->link);
    }
}

void peer_on_timer(void *context, struct wheel_timer *timer)
{
    struct peer *peer = CONTAINER_OF(timer, struct peer, timer);

    (void)context;
    peer_fail(peer, peer->failure != 0 ? peer->failure : UV_ETIMEDOUT);
}
