#include "upstream/sockets.h"

#include "base/assert.h"
#include "upstream/tcp_sent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* Events per system call; the next call takes the rest. */
#define BATCH 128
/* Rounds of a full batch before the loop does other work. */
#define ROUNDS 8
#define FIRST_PLACES 64
/* Time for libcurl within one turn. An event that has begun is finished, so the largest reply comes
 * on top. */
#define TURN_NS UINT64_C(2000000)
/* libcurl 7.88 waits for writability while a vendor allows no stream of HTTP/2 (SETTINGS), and
 * writes nothing: after so many events in a row we look whether it does, */
#define IDLE_WRITES 16
/* and let it try again only after this time. */
#define MUTE_MS 50

/* The state of one descriptor, which is its index in the table. */
struct place {
    void *owner;         /* borrowed */
    uint32_t generation; /* raised when the descriptor gets a new owner, to detect stale events */
    uint8_t wanted;      /* events that libcurl wants */
    uint8_t registered;  /* events registered with epoll; may be more than wanted */
    bool is_ours;        /* made by sockets_open, so we will learn of its end */
    bool is_muted;       /* not registered for the writing that libcurl wants */
    uint8_t idle_writes; /* events in a row that were for writing only */
    uint64_t sent_bytes; /* at the last look */
};

struct sockets {
    int epoll_fd;
    uv_poll_t poll;
    uv_prepare_t prepare; /* the beginning of a turn's poll */
    struct sockets_handlers handlers;
    struct place *places; /* owned */
    size_t place_count;
    uint64_t turn_ns;  /* when the time of this turn began; 0: not yet */
    uv_timer_t unmute; /* active while a socket is muted */
    uint64_t epoll_calls, opened;
    int closed_handles;
    void (*on_closed)(void *context);
    void *closed_context;
};

static struct place *place_of(struct sockets *sockets, int fd)
{
    const size_t index = (size_t)fd;
    if (index >= sockets->place_count) {
        size_t count = sockets->place_count == 0 ? FIRST_PLACES : sockets->place_count;
        while (count <= index)
            count *= 2;
        struct place *places = realloc(sockets->places, count * sizeof *places);
        ASSERT(places != NULL);
        memset(places + sockets->place_count, 0, (count - sockets->place_count) * sizeof *places);
        sockets->places = places;
        sockets->place_count = count;
    }
    return &sockets->places[index];
}

static uint32_t to_epoll(unsigned events)
{
    return (events & SOCKET_READ ? (uint32_t)EPOLLIN : 0) |
           (events & SOCKET_WRITE ? (uint32_t)EPOLLOUT : 0);
}

static int control(struct sockets *sockets, int operation, int fd, unsigned events)
{
    struct epoll_event event = {
        .events = to_epoll(events),
        .data.u64 = (uint64_t)sockets->places[fd].generation << 32 | (uint32_t)fd,
    };
    sockets->epoll_calls++;
    return epoll_ctl(sockets->epoll_fd, operation, fd, &event) == 0 ? 0 : errno;
}

/* Registers with epoll whatever was registered before: the kernel drops a descriptor that libcurl
 * closed without telling us, and libcurl may get its number again. */
static void register_events(struct sockets *sockets, int fd, unsigned events)
{
    struct place *place = &sockets->places[fd];
    int failed =
        control(sockets, place->registered != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
    if (failed == ENOENT)
        failed = control(sockets, EPOLL_CTL_ADD, fd, events);
    else if (failed == EEXIST)
        failed = control(sockets, EPOLL_CTL_MOD, fd, events);
    /* If this fails all the same, the call ends by its timeout. */
    place->registered = failed == 0 ? (uint8_t)events : 0;
}

static void forget(struct sockets *sockets, int fd)
{
    struct place *place = &sockets->places[fd];
    if (place->registered != 0)
        (void)control(sockets, EPOLL_CTL_DEL, fd, 0);
    place->registered = 0;
}

void sockets_want(struct sockets *sockets, int fd, void *owner, unsigned events)
{
    struct place *place = place_of(sockets, fd);
    place->wanted = (uint8_t)events;
    if (events == 0) {
        if (!place->is_ours)
            forget(sockets, fd);
        return;
    }
    place->owner = owner;
    if ((place->registered & events) != events)
        register_events(sockets, fd, events);
}

int sockets_open(struct sockets *sockets, int family, int type, int protocol)
{
    const int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return -1;
    struct place *place = place_of(sockets, fd);
    *place = (struct place){.generation = place->generation + 1, .is_ours = true};
    sockets->opened++;
    return fd;
}

void sockets_shut(struct sockets *sockets, int fd)
{
    struct place *place = place_of(sockets, fd);
    forget(sockets, fd);
    *place = (struct place){.generation = place->generation + 1};
    (void)close(fd);
}

uint64_t sockets_name(struct sockets *sockets, int fd)
{
    return (uint64_t)place_of(sockets, fd)->generation << 32 | (uint32_t)fd;
}

void sockets_hang_up(struct sockets *sockets, uint64_t name)
{
    const int fd = (int)(uint32_t)name;
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    /* Unlike shutdown, this also drops what waits to be read, and resets the peer at once. */
    if (!place_of(sockets, fd)->is_ours || sockets_name(sockets, fd) != name)
        return;
    const int unused = connect(fd, &nowhere, sizeof nowhere);
    (void)unused;
}

/* Unregisters events that woke us without being wanted, since they would wake us for ever: an idle
 * connection that the vendor closed, or writability with nothing to write. */
static void narrow(struct sockets *sockets, int fd)
{
    const struct place *place = &sockets->places[fd];
    if (place->wanted == 0)
        forget(sockets, fd);
    else if (place->registered != place->wanted)
        register_events(sockets, fd, place->wanted);
}

/* ---- writing that writes nothing ---------------------------------------------------------- */

static void on_unmute(uv_timer_t *timer)
{
    struct sockets *sockets = timer->data;
    for (size_t i = 0; i < sockets->place_count; i++) {
        struct place *place = &sockets->places[i];
        if (!place->is_muted)
            continue;
        place->is_muted = false;
        place->idle_writes = IDLE_WRITES - 1; /* a single event tells if this has changed */
        if ((place->registered & place->wanted) != place->wanted)
            register_events(sockets, (int)i, place->wanted);
    }
}

static void mute(struct sockets *sockets, int fd)
{
    struct place *place = &sockets->places[fd];
    place->is_muted = true;
    register_events(sockets, fd, place->wanted & ~SOCKET_WRITE);
    if (!uv_is_active((uv_handle_t *)&sockets->unmute))
        (void)uv_timer_start(&sockets->unmute, on_unmute, MUTE_MS, 0);
}

/* After the owner has handled these events of a socket. */
static void watch_writes(struct sockets *sockets, int fd, uint32_t generation, unsigned events)
{
    struct place *place = &sockets->places[fd];
    if (place->generation != generation)
        return;
    if (events != SOCKET_WRITE || !(place->wanted & SOCKET_WRITE)) {
        place->idle_writes = 0;
        return;
    }
    if (++place->idle_writes < IDLE_WRITES)
        return;
    const uint64_t sent_bytes = tcp_sent_bytes(fd);
    const bool is_idle = sent_bytes != 0 && sent_bytes == place->sent_bytes;
    place->idle_writes = 0;
    place->sent_bytes = sent_bytes;
    if (is_idle)
        mute(sockets, fd);
}

/* ---- events ------------------------------------------------------------------------------- */

static void handle(struct sockets *sockets, const struct epoll_event *event)
{
    const int fd = (int)(uint32_t)event->data.u64;
    const struct place *place = &sockets->places[fd];
    /* An earlier event of this batch may have closed the socket and even opened another with its
     * number. */
    if (place->generation != (uint32_t)(event->data.u64 >> 32))
        return;
    unsigned ready =
        (event->events & EPOLLIN ? SOCKET_READ : 0) | (event->events & EPOLLOUT ? SOCKET_WRITE : 0);
    if (event->events & (EPOLLERR | EPOLLHUP))
        ready |= SOCKET_ERROR | place->wanted;
    const unsigned useful = ready & (place->wanted | SOCKET_ERROR);
    if (place->wanted == 0 || useful == 0) {
        narrow(sockets, fd);
        return;
    }
    const uint32_t generation = place->generation;
    sockets->handlers.on_ready(place->owner, fd, useful);
    watch_writes(sockets, fd, generation, useful); /* the table may have moved */
}

/* A turn lasts from here over the poll and the timers to the idle handles. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct sockets *sockets = prepare->data;
    sockets->turn_ns = 0;
}

bool sockets_is_late(struct sockets *sockets)
{
    const uint64_t now_ns = uv_hrtime();
    if (sockets->turn_ns == 0)
        sockets->turn_ns = now_ns;
    return now_ns - sockets->turn_ns > TURN_NS;
}

bool sockets_drain(struct sockets *sockets)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct epoll_event events[BATCH];
        const int count = epoll_wait(sockets->epoll_fd, events, BATCH, 0);
        int handled = 0;
        while (handled < count && !sockets_is_late(sockets))
            handle(sockets, &events[handled++]);
        if (count > 0)
            sockets->handlers.on_settled(sockets->handlers.context);
        /* epoll reports the sockets that were left out again. */
        if (handled < count)
            return false;
        if (count < BATCH)
            return true;
    }
    return false;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status; /* An epoll descriptor has no errors of its own; epoll_wait would report them. */
    (void)events;
    (void)sockets_drain(poll->data);
}

struct sockets *sockets_new(struct uv_loop_s *loop, const struct sockets_handlers *handlers)
{
    const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        return NULL;
    struct sockets *sockets = calloc(1, sizeof *sockets);
    ASSERT(sockets != NULL);
    sockets->epoll_fd = epoll_fd;
    sockets->handlers = *handlers;
    if (uv_poll_init(loop, &sockets->poll, epoll_fd) != 0) {
        (void)close(epoll_fd);
        free(sockets);
        return NULL;
    }
    sockets->poll.data = sockets;
    const int failed = uv_poll_start(&sockets->poll, UV_READABLE, on_poll);
    ASSERT(failed == 0);
    uv_unref((uv_handle_t *)&sockets->poll);
    sockets->prepare.data = sockets;
    sockets->unmute.data = sockets;
    (void)uv_timer_init(loop, &sockets->unmute);
    uv_unref((uv_handle_t *)&sockets->unmute);
    (void)uv_prepare_init(loop, &sockets->prepare);
    (void)uv_prepare_start(&sockets->prepare, on_prepare);
    uv_unref((uv_handle_t *)&sockets->prepare);
    return sockets;
}

void sockets_hold(struct sockets *sockets, bool is_held)
{
    if (is_held)
        uv_ref((uv_handle_t *)&sockets->poll);
    else
        uv_unref((uv_handle_t *)&sockets->poll);
}

uint64_t sockets_epoll_calls(const struct sockets *sockets)
{
    return sockets->epoll_calls;
}

uint64_t sockets_opened(const struct sockets *sockets)
{
    return sockets->opened;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct sockets *sockets = handle->data;
    if (++sockets->closed_handles < 3)
        return;
    void (*on_closed)(void *context) = sockets->on_closed;
    void *context = sockets->closed_context;
    (void)close(sockets->epoll_fd);
    free(sockets->places);
    free(sockets);
    on_closed(context);
}

void sockets_close(struct sockets *sockets, void (*on_closed)(void *context), void *context)
{
    sockets->on_closed = on_closed;
    sockets->closed_context = context;
    uv_close((uv_handle_t *)&sockets->poll, on_handle_closed);
    uv_close((uv_handle_t *)&sockets->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&sockets->unmute, on_handle_closed);
}
