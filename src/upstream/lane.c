#include "upstream/lane.h"

#include "base/assert.h"
#include "upstream/sockets.h"
#include "upstream/wire.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <uv.h>

_Static_assert(SOCKET_READ == CURL_POLL_IN && SOCKET_READ == CURL_CSELECT_IN,
               "same bits as libcurl");
_Static_assert(SOCKET_WRITE == CURL_POLL_OUT && SOCKET_WRITE == CURL_CSELECT_OUT,
               "same bits as libcurl");
_Static_assert((SOCKET_READ | SOCKET_WRITE) == CURL_POLL_INOUT, "same bits as libcurl");
_Static_assert(SOCKET_ERROR == CURL_CSELECT_ERR, "same bits as libcurl");

#define NO_DEADLINE UINT64_MAX

struct lane {
    CURLM *multi;
    uv_timer_t timer;
    struct sockets *sockets; /* borrowed */
    struct lane_handlers handlers;
    uint32_t room;
    uint32_t active;
    uint32_t opening;  /* of these, not sent yet */
    bool has_sent;     /* one was, some time */
    bool is_touched;   /* libcurl ran or was not heard to the end, so it may have messages */
    uint64_t due_ms;   /* when libcurl asked to be called */
    uint64_t armed_ms; /* when the timer fires, never later than due_ms */
    void (*on_closed)(void *context);
    void *closed_context;
};

static uint64_t now_ms(const struct lane *lane)
{
    return uv_now(lane->timer.loop);
}

/* ---- what libcurl asks of us -------------------------------------------------------------- */

static int on_want(CURL *easy, curl_socket_t fd, int what, void *context, void *assigned)
{
    struct lane *lane = context;
    (void)easy;
    (void)assigned;
    sockets_want(lane->sockets, fd, lane, what == CURL_POLL_REMOVE ? 0 : (unsigned)what);
    return 0;
}

/* Only stores the time: libcurl calls this from within its own functions, several times per call to
 * the vendor. */
static int on_timer_wish(CURLM *multi, long timeout_ms, void *context)
{
    struct lane *lane = context;
    (void)multi;
    lane->due_ms = timeout_ms < 0 ? NO_DEADLINE : now_ms(lane) + (uint64_t)timeout_ms;
    return 0;
}

/* ---- running ------------------------------------------------------------------------------ */

static void act(struct lane *lane, curl_socket_t fd, int events)
{
    int running = 0;
    const CURLMcode code = curl_multi_socket_action(lane->multi, fd, events, &running);
    /* Any other failure is our own mistake; libcurl may no longer know the socket. */
    ASSERT(code == CURLM_OK || code == CURLM_BAD_SOCKET);
    lane->is_touched = true;
}

void lane_on_ready(void *lane, int fd, unsigned events)
{
    act(lane, fd, (int)events);
}

static void on_timer(uv_timer_t *timer);

/* Leaves a timer that is too early alone, since libcurl cancels most of its timeouts before they
 * are due. */
static void arm(struct lane *lane)
{
    if (lane->due_ms >= lane->armed_ms)
        return;
    const uint64_t now = now_ms(lane);
    lane->armed_ms = lane->due_ms;
    (void)uv_timer_start(&lane->timer, on_timer, lane->due_ms > now ? lane->due_ms - now : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct lane *lane = timer->data;
    lane->armed_ms = NO_DEADLINE;
    /* Reads received bytes first: after a long pause a reply may be waiting whose timeout has
     * passed. */
    const bool is_drained = sockets_drain(lane->sockets);
    const uint64_t now = now_ms(lane);
    if (lane->due_ms > now) {
        arm(lane);
    } else if (is_drained) {
        lane_run(lane);
    } else {
        lane->armed_ms = now + 1;
        (void)uv_timer_start(timer, on_timer, 1, 0);
    }
}

void lane_run(struct lane *lane)
{
    lane->due_ms = NO_DEADLINE;
    act(lane, CURL_SOCKET_TIMEOUT, 0);
    lane_settle(lane);
}

static struct wire *wire_of(CURL *easy)
{
    char *private = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    ASSERT(private != NULL);
    return (struct wire *)(void *)private;
}

void lane_settle(struct lane *lane)
{
    int left = 0;
    lane->is_touched = false;
    for (CURLMsg *news; (news = curl_multi_info_read(lane->multi, &left)) != NULL;) {
        if (news->msg != CURLMSG_DONE)
            continue;
        const bool is_ok = news->data.result == CURLE_OK;
        struct wire *wire = wire_of(news->easy_handle);
        wire->result = (int)news->data.result;
        lane_remove(lane, wire);
        if (!lane->handlers.on_done(lane->handlers.context, wire, is_ok)) {
            lane->is_touched = true;
            break;
        }
    }
    arm(lane);
}

/* ---- transfers ---------------------------------------------------------------------------- */

bool lane_has_room(const struct lane *lane, uint32_t most_opening)
{
    return lane->active < lane->room && lane->opening < most_opening;
}

bool lane_has_sent(const struct lane *lane)
{
    return lane->has_sent;
}

bool lane_is_touched(const struct lane *lane)
{
    return lane->is_touched;
}

void lane_add(struct lane *lane, struct wire *wire)
{
    const CURLMcode code = curl_multi_add_handle(lane->multi, wire->easy);
    ASSERT(code == CURLM_OK);
    wire->lane = lane;
    wire->is_sent = false;
    lane->active++;
    lane->opening++;
    lane->is_touched = true;
}

void lane_note_sent(struct wire *wire)
{
    if (wire->is_sent)
        return;
    struct lane *lane = wire->lane;
    wire->is_sent = true;
    lane->has_sent = true;
    lane->opening--;
    if (lane->handlers.on_opened != NULL)
        lane->handlers.on_opened(lane->handlers.context);
}

void lane_remove(struct lane *lane, struct wire *wire)
{
    ASSERT(wire->lane == lane);
    (void)curl_multi_remove_handle(lane->multi, wire->easy);
    wire->lane = NULL;
    lane->active--;
    lane->opening -= !wire->is_sent;
}

/* ---- life --------------------------------------------------------------------------------- */

#define SET_MULTI(multi, option, value)                                       \
    do {                                                                      \
        const CURLMcode set_failed = curl_multi_setopt(multi, option, value); \
        ASSERT(set_failed == CURLM_OK);                                       \
    } while (0)

struct lane *lane_new(struct uv_loop_s *loop, struct sockets *sockets, uint32_t room,
                      const struct lane_handlers *handlers)
{
    struct lane *lane = calloc(1, sizeof *lane);
    ASSERT(lane != NULL);
    CURLM *multi = curl_multi_init();
    ASSERT(multi != NULL);
    *lane = (struct lane){
        .multi = multi,
        .sockets = sockets,
        .handlers = *handlers,
        .room = room,
        .due_ms = NO_DEADLINE,
        .armed_ms = NO_DEADLINE,
    };
    SET_MULTI(multi, CURLMOPT_SOCKETFUNCTION, on_want);
    SET_MULTI(multi, CURLMOPT_SOCKETDATA, lane);
    SET_MULTI(multi, CURLMOPT_TIMERFUNCTION, on_timer_wish);
    SET_MULTI(multi, CURLMOPT_TIMERDATA, lane);
    /* With HTTP/2 a call joins an open connection but does not wait for one to be established
     * (CURLOPT_PIPEWAIT): that would be a queue inside libcurl, and if the one connection broke,
     * every submit on the wire would be ambiguous at once. */
    SET_MULTI(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    SET_MULTI(multi, CURLMOPT_MAXCONNECTS, (long)room);
    const int failed = uv_timer_init(loop, &lane->timer);
    ASSERT(failed == 0);
    lane->timer.data = lane;
    uv_unref((uv_handle_t *)&lane->timer);
    return lane;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct lane *lane = handle->data;
    void (*on_closed)(void *context) = lane->on_closed;
    void *context = lane->closed_context;
    free(lane);
    on_closed(context);
}

void lane_close(struct lane *lane, void (*on_closed)(void *context), void *context)
{
    ASSERT(lane->active == 0);
    (void)curl_multi_cleanup(lane->multi);
    lane->on_closed = on_closed;
    lane->closed_context = context;
    uv_close((uv_handle_t *)&lane->timer, on_timer_closed);
}
