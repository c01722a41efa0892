#include "cli/bench_caller.h"

#include "base/assert.h"
#include "base/list.h"
#include "upstream/lane.h"
#include "upstream/sockets.h"
#include "upstream/trust.h"
#include "upstream/wire.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

#define LANE_ROOM 100U
#define LANES_MAX (BENCH_CONCURRENCY_MAX / LANE_ROOM)
#define REPLY_MAX_BYTES ((size_t)1024 * 1024)
#define URL_MAX_BYTES ((size_t)16 * 1024)
#define UNIX_PREFIX "unix:"

/* One call; kept with its libcurl handle for the next one. */
struct call {
    struct wire wire;
    struct list link; /* among the active or the idle calls */
    struct bench_caller *caller;
    void *job;
    unsigned sends; /* how often libcurl sent it */
    bool is_repeatable;
    struct buf url, body, reply;
};

struct bench_caller {
    uv_loop_t *loop;
    uv_idle_t turn; /* active while a lane has something to start */
    struct bench_caller_setup setup;
    struct curl_slist *headers;
    struct sockets *sockets;
    struct trust *trust;
    struct lane *lanes[LANES_MAX];
    size_t lane_count;
    struct list active, idle;
    bool is_closing;
    size_t closing_parts;
};

/* ---- callbacks of libcurl ---------------------------------------------------------------- */

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct call *const call = context;
    buf_add(&call->reply, (struct slice){.data = data, .len = size * count});
    return call->reply.is_full ? 0 : size * count;
}

/* The address is checked where it is connected to: a name may resolve differently from one second to the next. */
static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    const struct bench_caller *const caller = context;
    (void)purpose;
    if (caller->setup.allows != NULL && !caller->setup.allows(&address->addr))
        return CURL_SOCKET_BAD;
    const int fd =
        sockets_open(caller->sockets, address->family, address->socktype, address->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

/* libcurl calls this right before it sends a request on any connection. If a connection that was used before dies
 * before the reply, it sends the request again by itself, even a POST, and the captcha is paid for twice: so the second
 * send of an ask is refused. */
static int on_before_send(void *context, char *peer, char *local, int peer_port, int local_port)
{
    struct call *const call = context;
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    if (call->sends > 0 && !call->is_repeatable)
        return CURL_PREREQFUNC_ABORT;
    call->sends++;
    return CURL_PREREQFUNC_OK;
}

/* ---- running ----------------------------------------------------------------------------- */

static const char *trouble_of(int result)
{
    switch (result) {
    case CURLE_OK:
        return NULL;
    case CURLE_OPERATION_TIMEDOUT:
        return "bench_timeout";
    case CURLE_COULDNT_CONNECT:
        return "bench_unreachable";
    case CURLE_COULDNT_RESOLVE_HOST:
        return "bench_name_unknown";
    case CURLE_WRITE_ERROR:
        return "bench_reply_too_big";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
        return "bench_tls_failed";
    default:
        return "bench_connection_lost";
    }
}

static bool on_done(void *context, struct wire *wire, bool is_ok)
{
    struct bench_caller *const caller = context;
    struct call *const call = CONTAINER_OF(wire, struct call, wire);
    struct bench_result result = {
        .status = 0, .trouble = trouble_of(wire->result), .sends = call->sends};
    if (is_ok) {
        (void)curl_easy_getinfo(wire->easy, CURLINFO_RESPONSE_CODE, &result.status);
        result.body = buf_slice(&call->reply);
    }
    list_unlink(&call->link);
    caller->setup.on_done(caller->setup.context, call->job, &result);
    list_append(&caller->idle, &call->link);
    return !caller->is_closing;
}

static void on_turn(uv_idle_t *turn)
{
    struct bench_caller *const caller = turn->data;
    (void)uv_idle_stop(turn);
    for (size_t i = 0; i < caller->lane_count && !caller->is_closing; i++)
        if (lane_is_touched(caller->lanes[i]))
            lane_run(caller->lanes[i]);
}

static void on_settled(void *context)
{
    const struct bench_caller *const caller = context;
    for (size_t i = 0; i < caller->lane_count && !caller->is_closing; i++)
        if (lane_is_touched(caller->lanes[i]))
            lane_settle(caller->lanes[i]);
}

/* ---- sending ----------------------------------------------------------------------------- */

static void set_call(const struct bench_caller *caller, struct call *call)
{
    CURL *const easy = call->wire.easy;
    WIRE_SET(easy, CURLOPT_HTTPHEADER, caller->headers);
    WIRE_SET(easy, CURLOPT_USERAGENT, "solvegate-bench/" SOLVEGATE_VERSION);
    WIRE_SET(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    WIRE_SET(easy, CURLOPT_WRITEFUNCTION, on_body);
    WIRE_SET(easy, CURLOPT_WRITEDATA, call);
    WIRE_SET(easy, CURLOPT_PREREQFUNCTION, on_before_send);
    WIRE_SET(easy, CURLOPT_PREREQDATA, call);
    WIRE_SET(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    WIRE_SET(easy, CURLOPT_OPENSOCKETDATA, (void *)(uintptr_t)caller);
    if (strncmp(caller->setup.url, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
        WIRE_SET(easy, CURLOPT_UNIX_SOCKET_PATH, caller->setup.url + strlen(UNIX_PREFIX));
}

static struct call *take_call(struct bench_caller *caller)
{
    struct list *const idle = list_first(&caller->idle);
    if (idle != NULL) {
        list_unlink(idle);
        return CONTAINER_OF(idle, struct call, link);
    }
    struct call *const call = calloc(1, sizeof *call);
    ASSERT(call != NULL);
    wire_init(&call->wire, "http,https", caller->trust, caller->sockets);
    list_init(&call->link);
    buf_init(&call->url, URL_MAX_BYTES);
    buf_init(&call->body, BENCH_MESSAGE_MAX);
    buf_init(&call->reply, REPLY_MAX_BYTES);
    call->caller = caller;
    set_call(caller, call);
    return call;
}

static void write_url(const struct bench_caller *caller, struct buf *url,
                      const struct bench_message *message)
{
    struct slice base = slice_from(caller->setup.url);
    if (slice_starts_with(base, SLICE_OF(UNIX_PREFIX)))
        base = SLICE_OF("http://localhost");
    /* An address copied from a browser ends with a slash. */
    while (base.len > 0 && base.data[base.len - 1] == '/')
        base.len--;
    buf_reset(url);
    buf_add(url, base);
    buf_add(url, buf_slice(&message->path));
    buf_add_char(url, '\0');
}

static void set_message(struct call *call, const struct bench_message *message, unsigned timeout_ms)
{
    CURL *const easy = call->wire.easy;
    call->sends = 0;
    call->is_repeatable = message->is_look;
    write_url(call->caller, &call->url, message);
    WIRE_SET(easy, CURLOPT_URL, call->url.data);
    WIRE_SET(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    if (message->body.len == 0) {
        WIRE_SET(easy, CURLOPT_HTTPGET, 1L);
    } else {
        buf_reset(&call->body);
        buf_add(&call->body, buf_slice(&message->body));
        WIRE_SET(easy, CURLOPT_POST, 1L);
        WIRE_SET(easy, CURLOPT_POSTFIELDS, call->body.data);
        WIRE_SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    }
    buf_reset(&call->reply);
}

/* Fills lanes one after the other, so that connections are used again. */
static struct lane *find_lane(struct bench_caller *caller)
{
    const struct lane_handlers handlers = {.context = caller, .on_done = on_done};
    for (size_t i = 0; i < caller->lane_count; i++)
        if (lane_has_room(caller->lanes[i], UINT32_MAX))
            return caller->lanes[i];
    ASSERT(caller->lane_count < LANES_MAX);
    struct lane *const lane = lane_new(caller->loop, caller->sockets, LANE_ROOM, &handlers);
    caller->lanes[caller->lane_count++] = lane;
    return lane;
}

void bench_caller_send(struct bench_caller *caller, void *job, const struct bench_message *message,
                       unsigned timeout_ms)
{
    struct call *const call = take_call(caller);
    call->job = job;
    set_message(call, message, timeout_ms);
    list_append(&caller->active, &call->link);
    lane_add(find_lane(caller), &call->wire);
    (void)uv_idle_start(&caller->turn, on_turn);
}

/* ---- life -------------------------------------------------------------------------------- */

struct bench_caller *bench_caller_new(struct uv_loop_s *loop,
                                      const struct bench_caller_setup *setup)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return NULL;
    struct bench_caller *const caller = calloc(1, sizeof *caller);
    ASSERT(caller != NULL);
    const struct sockets_handlers handlers = {
        .context = caller, .on_ready = lane_on_ready, .on_settled = on_settled};
    caller->loop = loop;
    caller->setup = *setup;
    list_init(&caller->active);
    list_init(&caller->idle);
    caller->sockets = sockets_new(loop, &handlers);
    if (caller->sockets == NULL) {
        free(caller);
        return NULL;
    }
    sockets_hold(caller->sockets, true);
    if (slice_starts_with(slice_from(setup->url), SLICE_OF("https:")))
        caller->trust = trust_open(NULL);
    for (size_t i = 0; i < setup->header_count; i++)
        caller->headers = wire_add_header(caller->headers, setup->headers[i]);
    (void)uv_idle_init(loop, &caller->turn);
    caller->turn.data = caller;
    return caller;
}

static void free_calls(struct list *calls)
{
    struct list *first;
    while ((first = list_first(calls)) != NULL) {
        struct call *const call = CONTAINER_OF(first, struct call, link);
        list_unlink(first);
        if (call->wire.lane != NULL)
            lane_remove(call->wire.lane, &call->wire);
        wire_close(&call->wire);
        buf_close(&call->url);
        buf_close(&call->body);
        buf_close(&call->reply);
        free(call);
    }
}

static void on_nothing(void *context)
{
    (void)context;
}

static void on_lane_closed(void *context)
{
    struct bench_caller *const caller = context;
    if (--caller->closing_parts == 0)
        sockets_close(caller->sockets, on_nothing, NULL);
}

void bench_caller_close(struct bench_caller *caller)
{
    caller->is_closing = true;
    free_calls(&caller->active);
    free_calls(&caller->idle);
    uv_close((uv_handle_t *)&caller->turn, NULL);
    caller->closing_parts = caller->lane_count + 1;
    for (size_t i = 0; i < caller->lane_count; i++)
        lane_close(caller->lanes[i], on_lane_closed, caller);
    on_lane_closed(caller);
}

void bench_caller_free(struct bench_caller *caller)
{
    curl_slist_free_all(caller->headers);
    trust_close(caller->trust);
    free(caller);
    curl_global_cleanup();
}
