#include "gate/service.h"

#include "config/config_fields.h"
#include "config/config_options.h"
#include "http/http_peer.h"
#include "proto/address.h"
#include "sys/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/* SD_LISTEN_FDS_START: the first descriptor after the three standard ones. */
#define FIRST_FD 3
#define STATUS_MAX 256
#define MESSAGE_MAX (STATUS_MAX + 128)
#define NAMES_MAX 256
/* Time that we need beyond drain_timeout, to write the last answers and close files. */
#define STOP_MARGIN_MS 10000

static struct {
    int fd; /* socket to the service manager; -1: there is none */
    struct sockaddr_un address;
    socklen_t address_bytes;
    uint64_t watchdog_ms; /* interval that the manager expects; 0: no watchdog */
    bool is_watched;      /* the timer is on the loop */
    uv_timer_t timer;
    uint64_t socket_count;
    char names[NAMES_MAX]; /* of the sockets, separated by colons */
    char status[STATUS_MAX];
} service = {.fd = -1};

/* ---- what the manager left in the environment -------------------------------------------- */

static uint64_t env_number(const char *name)
{
    const char *text = getenv(name);
    unsigned long long value = 0;
    return text != NULL && slice_to_u64(slice_from(text), &value) ? value : 0;
}

/* The address is a path, or with '@' as its first byte a name in the abstract namespace. */
static void take_notify_socket(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t len = name == NULL ? 0 : strlen(name);
    if (len < 2 || len >= sizeof service.address.sun_path || (name[0] != '/' && name[0] != '@'))
        return;
    service.address.sun_family = AF_UNIX;
    memcpy(service.address.sun_path, name, len);
    if (name[0] == '@')
        service.address.sun_path[0] = '\0';
    service.address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    service.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    /* A manager that does not read must not block us. */
    const struct timeval second = {.tv_sec = 1};
    if (service.fd >= 0)
        (void)setsockopt(service.fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

/* Half of the allowed time, as sd_watchdog_enabled(3) recommends. */
static void take_watchdog(void)
{
    const uint64_t allowed_us = env_number("WATCHDOG_USEC");
    const bool is_ours =
        getenv("WATCHDOG_PID") == NULL || env_number("WATCHDOG_PID") == (uint64_t)getpid();
    if (allowed_us == 0 || !is_ours || service.fd < 0)
        return;
    service.watchdog_ms = allowed_us / 2000 > 0 ? allowed_us / 2000 : 1;
}

/* Descriptors that were passed to another process (an inherited environment) are left alone. */
static void take_sockets(void)
{
    if (env_number("LISTEN_PID") != (uint64_t)getpid())
        return;
    service.socket_count = env_number("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    (void)snprintf(service.names, sizeof service.names, "%s", names == NULL ? "" : names);
    for (uint64_t i = 0; i < service.socket_count && i < CONFIG_LISTEN_MAX; i++)
        (void)fcntl(FIRST_FD + (int)i, F_SETFD, FD_CLOEXEC);
}

void service_init(void)
{
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                        "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
    take_notify_socket();
    take_watchdog();
    take_sockets();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unsetenv(names[i]);
}

/* ---- sockets ----------------------------------------------------------------------------- */

static int socket_option(int fd, int option)
{
    int value = -1;
    socklen_t bytes = sizeof value;
    return getsockopt(fd, SOL_SOCKET, option, &value, &bytes) == 0 ? value : -1;
}

static bool is_local(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t bytes = sizeof name;
    struct http_address address;
    if (getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
        return false;
    return name.ss_family == AF_UNIX ||
           (http_peer_from_socket(&address, (const struct sockaddr *)&name) &&
            address_is_loopback(address.bytes));
}

/* NULL, or the mistake. The last check is the rule that also applies to `listen`. */
static const char *mistake_of(int fd, const struct config *config)
{
    const int domain = socket_option(fd, SO_DOMAIN);
    if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX)
        return "expected a TCP or unix socket";
    if (socket_option(fd, SO_TYPE) != SOCK_STREAM || socket_option(fd, SO_ACCEPTCONN) != 1)
        return "expected a listening stream socket (ListenStream=, Accept=no)";
    if (config->client_count == 0 && !is_local(fd))
        return "expected a loopback address or a unix socket, since without clients everybody who "
               "reaches it may spend";
    return NULL;
}

static void add_listener(struct config *config, const struct option *listen, int fd)
{
    char text[16];
    char *address = NULL;
    (void)snprintf(text, sizeof text, "fd:%d", fd);
    option_store_text(&address, text);
    option_add_item(listen, config, &address);
}

int service_use_sockets(struct config *config)
{
    if (service.socket_count == 0)
        return 0;
    const struct option *listen = option_find(SLICE_OF(""), SLICE_OF("listen"));
    option_clear(listen, config);
    const char *mistake =
        service.socket_count > CONFIG_LISTEN_MAX ? "expected fewer sockets" : NULL;
    int fd = FIRST_FD;
    for (uint64_t i = 0; i < service.socket_count && mistake == NULL; i++, fd++) {
        mistake = mistake_of(fd, config);
        add_listener(config, listen, fd);
    }
    if (mistake != NULL) {
        LOG(LOG_LEVEL_ERROR, "passed_socket_unusable",
            log_number("count", (int64_t)service.socket_count), log_string("names", service.names),
            log_number("descriptor", fd - 1), log_string("why", mistake));
        return ERR_INVALID;
    }
    LOG(LOG_LEVEL_INFO, "sockets_passed", log_number("count", (int64_t)service.socket_count),
        log_string("names", service.names),
        log_string("meaning", "they are served instead of those in `listen`"));
    return 0;
}

/* ---- words to the manager ---------------------------------------------------------------- */

static void send_text(const char *text, int flags)
{
    if (service.fd >= 0 &&
        sendto(service.fd, text, strlen(text), flags | MSG_NOSIGNAL,
               (const struct sockaddr *)&service.address, service.address_bytes) < 0)
        LOG(LOG_LEVEL_WARN, "service_manager_unreachable", log_string("why", strerror(errno)));
}

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    char text[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_text(text, 0);
}

/* Runs on the loop, so a hung loop sends no sign of life. One that finds no room in the socket may
 * be dropped. */
static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    send_text("WATCHDOG=1", MSG_DONTWAIT);
}

void service_ready(struct uv_loop_s *loop, struct slice status)
{
    const struct slice line = slice_take(&status, '\n');
    (void)snprintf(service.status, sizeof service.status, "%.*s", (int)line.len, line.data);
    tell("READY=1\nSTATUS=%s", service.status);
    if (service.watchdog_ms == 0)
        return;
    uv_timer_init(loop, &service.timer);
    uv_timer_start(&service.timer, on_watchdog, service.watchdog_ms, service.watchdog_ms);
    service.is_watched = true;
}

void service_reloading(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    /* The time tells the manager which reload request this answers (Type=notify-reload). */
    tell("RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\nSTATUS=reloading", us);
}

void service_reloaded(void)
{
    tell("READY=1\nSTATUS=%s", service.status);
}

/* The unit sets the manager's timeout and the configuration ours, so the manager is told how long
 * we need. */
void service_stopping(uint64_t drain_ms)
{
    tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64
         "\nSTATUS=draining: no new requests, those under way are finished",
         (drain_ms + STOP_MARGIN_MS) * 1000);
}

void service_close(void)
{
    if (service.is_watched)
        uv_close((uv_handle_t *)&service.timer, NULL);
    service.is_watched = false;
}
