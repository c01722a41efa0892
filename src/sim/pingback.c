#include "base/assert.h"
#include "base/buf.h"
#include "sim/peer.h"
#include "sim/pingback_private.h"
#include "sim/text.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUEST_BYTES_MAX (4 << 20)

static void job_free(struct pingback *pingback, struct job *job)
{
    list_unlink(&job->link);
    clock_cancel(pingback->clock, &job->timer);
    if (job->origin != NULL)
        job->origin->jobs--;
    blob_unref(job->bytes);
    free(job);
    pingback->job_count--;
}

void job_finish(struct pingback *pingback, struct job *job, int status)
{
    struct pingback_result result = job->result;

    result.status = status;
    job_free(pingback, job);
    pingback->done(pingback->context, &result);
}

static void on_job_timer(void *context, struct wheel_timer *timer)
{
    struct pingback *pingback = context;
    struct job *job = CONTAINER_OF(timer, struct job, timer);

    list_unlink(&job->link);
    if (job->origin == NULL)
        job_finish(pingback, job, UV_EINVAL);
    else
        peer_dispatch(pingback, job);
}

struct pingback *pingback_new(struct uv_loop_s *loop, struct clock *clock,
                              const struct pingback_style *style, pingback_done done, void *context)
{
    struct pingback *pingback = calloc(1, sizeof *pingback);

    ASSERT(pingback != NULL);
    pingback->loop = loop;
    pingback->clock = clock;
    pingback->style = *style;
    pingback->done = done;
    pingback->context = context;
    list_init(&pingback->delayed);
    list_init(&pingback->peers);
    peer_settings_init(&pingback->settings);
    clock_handle(clock, CLOCK_JOB, on_job_timer, pingback);
    clock_handle(clock, CLOCK_PEER, peer_on_timer, pingback);
    return pingback;
}

struct target {
    struct slice authority;
    struct slice path; /* including its query */
    struct sockaddr_storage address;
};

static bool set_address(struct target *target, struct slice host, int port)
{
    char text[64];

    if (slice_equals_nocase(host, SLICE_OF("localhost")))
        host = SLICE_OF("127.0.0.1");
    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = (struct slice){host.data + 1, host.len - 2};
    if (host.len == 0 || host.len >= sizeof text)
        return false;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    memset(&target->address, 0, sizeof target->address);
    /* Names are never resolved: a simulator must not send tokens to invented host names. */
    return uv_ip4_addr(text, port, (struct sockaddr_in *)&target->address) == 0 ||
           uv_ip6_addr(text, port, (struct sockaddr_in6 *)&target->address) == 0;
}

static bool parse_port(struct slice *host, int *port)
{
    size_t colon = host->len;
    unsigned long long number;

    *port = 80;
    while (colon > 0 && host->data[colon - 1] >= '0' && host->data[colon - 1] <= '9')
        colon--;
    if (colon == 0 || colon == host->len || host->data[colon - 1] != ':')
        return true;
    const struct slice digits = {host->data + colon, host->len - colon};
    host->len = colon - 1;
    if (!slice_to_u64(digits, &number) || number == 0 || number > 65535)
        return false;
    *port = (int)number;
    return true;
}

static bool parse_url(struct slice url, struct target *target)
{
    const struct slice scheme = SLICE_OF("http://");
    size_t end = scheme.len;
    int port;

    if (url.len < scheme.len || !slice_equals_nocase((struct slice){url.data, scheme.len}, scheme))
        return false;
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.data[i] <= ' ' || (unsigned char)url.data[i] >= 0x7f)
            return false;
    const char *hash = memchr(url.data, '#', url.len);
    if (hash != NULL)
        url.len = (size_t)(hash - url.data);
    while (end < url.len && url.data[end] != '/' && url.data[end] != '?')
        end++;
    target->authority = (struct slice){url.data + scheme.len, end - scheme.len};
    target->path = (struct slice){url.data + end, url.len - end};
    struct slice host = target->authority;
    return parse_port(&host, &port) && set_address(target, host, port);
}

static void set_origin(struct origin *origin, const struct target *target)
{
    *origin = (struct origin){.address = target->address, .is_used = true};
    snprintf(origin->authority, sizeof origin->authority, "%.*s", (int)target->authority.len,
             target->authority.data);
    list_init(&origin->waiting);
    list_init(&origin->idle);
}

static struct origin *find_origin(struct pingback *pingback, const struct target *target)
{
    struct origin *spare = NULL;

    if (target->authority.len >= sizeof spare->authority)
        return NULL;
    for (size_t i = 0; i < ORIGINS_MAX; i++) {
        struct origin *origin = &pingback->origins[i];
        if (origin->is_used && slice_equals(slice_from(origin->authority), target->authority))
            return origin;
        if (spare == NULL && (!origin->is_used || origin->jobs == 0) && origin->open == 0)
            spare = origin;
        if (!origin->is_used)
            break;
    }
    if (spare != NULL)
        set_origin(spare, target);
    return spare;
}

static void add_pairs(struct buf *out, const struct pingback_call *call)
{
    buf_add(out, SLICE_OF("id="));
    text_add_url(out, call->id);
    buf_add(out, SLICE_OF("&code="));
    text_add_url(out, call->code);
}

static void add_head(struct buf *out, const char *method, const struct target *target)
{
    buf_add(out, slice_from(method));
    buf_add_char(out, ' ');
    if (target->path.len == 0 || target->path.data[0] != '/')
        buf_add_char(out, '/');
    buf_add(out, target->path);
}

static struct blob *make_request(const struct pingback *pingback, const struct target *target,
                                 const struct pingback_call *call)
{
    struct buf out;
    struct buf form;

    buf_init(&out, REQUEST_BYTES_MAX);
    buf_init(&form, REQUEST_BYTES_MAX);
    add_head(&out, pingback->style.is_post ? "POST" : "GET", target);
    if (pingback->style.is_post) {
        add_pairs(&form, call);
    } else {
        const bool has_query =
            target->path.len > 0 && memchr(target->path.data, '?', target->path.len) != NULL;
        buf_add_char(&out, has_query ? '&' : '?');
        add_pairs(&out, call);
    }
    buf_addf(&out, " HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: solvegate-sim\r\n",
             (int)target->authority.len, target->authority.data);
    if (pingback->style.is_post)
        buf_addf(&out, "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n",
                 form.len);
    buf_add(&out, SLICE_OF("\r\n"));
    buf_add(&out, buf_slice(&form));
    struct blob *request = blob_new(buf_slice(&out));
    buf_close(&out);
    buf_close(&form);
    return request;
}

void pingback_call(struct pingback *pingback, const struct pingback_call *call)
{
    const struct pingback_result result = {
        .task = call->task, .conn = call->conn, .sort = call->sort, .status = UV_ENOBUFS};
    struct target target;

    if (pingback->job_count >= JOBS_MAX) {
        pingback->done(pingback->context, &result);
        return;
    }
    struct job *job = calloc(1, sizeof *job);
    ASSERT(job != NULL);
    pingback->job_count++;
    job->result = result;
    list_init(&job->link);
    wheel_timer_init(&job->timer, CLOCK_JOB);
    if (parse_url(call->url, &target)) {
        job->origin = find_origin(pingback, &target);
        job->bytes = make_request(pingback, &target, call);
    }
    if (job->origin != NULL)
        job->origin->jobs++;
    if (job->origin != NULL && call->delay_ms == 0) {
        peer_dispatch(pingback, job);
        return;
    }
    list_append(&pingback->delayed, &job->link);
    clock_arm(pingback->clock, &job->timer, clock_now_ms(pingback->clock) + call->delay_ms);
}

static void drop_jobs(struct pingback *pingback, struct list *jobs)
{
    LIST_FOR_EACH_SAFE(node, jobs)
        job_free(pingback, CONTAINER_OF(node, struct job, link));
}

void pingback_cancel(struct pingback *pingback)
{
    drop_jobs(pingback, &pingback->delayed);
    for (size_t i = 0; i < ORIGINS_MAX && pingback->origins[i].is_used; i++)
        drop_jobs(pingback, &pingback->origins[i].waiting);
    LIST_FOR_EACH_SAFE(node, &pingback->peers) {
        struct peer *peer = CONTAINER_OF(node, struct peer, all);
        struct job *job = peer->job;
        peer->job = NULL;
        peer_close(peer);
        if (job != NULL)
            job_free(pingback, job);
    }
}

void pingback_close(struct pingback *pingback)
{
    pingback_cancel(pingback);
}

void pingback_free(struct pingback *pingback)
{
    free(pingback);
}
