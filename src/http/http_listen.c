#include "http/http_listen.h"

#include "base/assert.h"
#include "http/http_conn.h"
#include "http/http_private.h"
#include "http/http_reserve.h"
#include "http/http_server.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The kernel limits it to net.core.somaxconn, which is 4096 since Linux 5.4. */
#define BACKLOG 4096
/* Detects peers that vanished silently; held requests end long before. */
#define KEEPALIVE_SECONDS 60
#define SOCKET_MODE 0660
/* Larger than nearly every reply. */
#define UNSENT_IN_KERNEL 65536

/* At the cap we do not take the connection: libuv then keeps the one it accepted and leaves the
 * rest in the kernel's backlog. Without descriptors libuv would silently drop the backlog. */
static void accept_or_pause(struct http_listener *listener)
{
    struct http_server *server = listener->server;
    const bool has_memory = server->conns.used < server->conns.capacity;
    const bool has_room =
        has_memory && (server->cap_used < server->cap || http_reserve_make_room(server));
    const bool has_reserve =
        has_memory && !has_room && server->reserve > 0 &&
        (server->reserve_used < server->reserve || http_reserve_push_out(server));
    listener->has_pending = !has_room && !has_reserve;
    if (!listener->has_pending)
        http_conn_accept(listener, !has_room);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct http_listener *listener = CONTAINER_OF(stream, struct http_listener, uv.stream);
    if (status == 0 && !listener->is_closing)
        accept_or_pause(listener);
}

void http_listen_resume(struct http_server *server)
{
    LIST_FOR_EACH_SAFE(link, &server->listeners) {
        struct http_listener *listener = CONTAINER_OF(link, struct http_listener, link);
        if (listener->has_pending && !listener->is_closing)
            accept_or_pause(listener);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct http_listener *listener = CONTAINER_OF(handle, struct http_listener, uv.handle);
    struct http_server *server = listener->server;
    list_unlink(&listener->link);
    free(listener->path);
    free(listener);
    server->handles--;
    http_server_count_closed(server);
}

/* Leaves the path alone if a successor has already put its own socket there. */
static void remove_path(const struct http_listener *listener)
{
    struct stat found;
    if (listener->path != NULL && lstat(listener->path, &found) == 0 &&
        found.st_dev == listener->device && found.st_ino == listener->inode)
        (void)unlink(listener->path);
}

void http_listen_close(struct http_server *server)
{
    LIST_FOR_EACH_SAFE(link, &server->listeners) {
        struct http_listener *listener = CONTAINER_OF(link, struct http_listener, link);
        if (listener->is_closing)
            continue;
        listener->is_closing = true;
        remove_path(listener);
        uv_close(&listener->uv.handle, on_closed);
    }
}

/* Returns uv's code. */
static int parse_tcp(const char *address, struct sockaddr_storage *out)
{
    char host[HTTP_PEER_TEXT_MAX];
    const bool is_six = address[0] == '[';
    const char *colon = strrchr(address, ':');
    const char *start = is_six ? address + 1 : address;
    const char *end = is_six ? strchr(address, ']') : colon;
    if (colon == NULL || end == NULL || (is_six && colon != end + 1) ||
        (size_t)(end - start) >= sizeof host)
        return UV_EINVAL;
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    unsigned long long port;
    if (!slice_to_u64(slice_from(colon + 1), &port) || port > 65535)
        return UV_EINVAL;
    return is_six ? uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)(void *)out)
                  : uv_ip4_addr(host, (int)port, (struct sockaddr_in *)(void *)out);
}

/* Otherwise the kernel would buffer megabytes for each caller that does not read, and take time to
 * copy them. Bytes in transit do not count, so distant callers stay as fast. */
static int bound_kernel(const struct http_listener *listener)
{
    const int most = UNSENT_IN_KERNEL;
    uv_os_fd_t fd;
    const int err = uv_fileno(&listener->uv.handle, &fd);
    if (err != 0)
        return err;
    return setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most) == 0
               ? 0
               : uv_translate_sys_error(errno);
}

/* Takes a bound socket; *bound becomes its address. */
static int start_tcp(struct http_listener *listener, struct buf *bound)
{
    /* On Linux accepted sockets inherit all three options, which saves three system calls for each. */
    int err = uv_tcp_nodelay(&listener->uv.tcp, 1);
    if (err == 0)
        err = uv_tcp_keepalive(&listener->uv.tcp, 1, KEEPALIVE_SECONDS);
    if (err == 0)
        err = bound_kernel(listener);
    if (err == 0)
        err = uv_listen(&listener->uv.stream, BACKLOG, on_connection);
    struct sockaddr_storage socket = {0};
    int bytes = sizeof socket;
    if (err == 0)
        err = uv_tcp_getsockname(&listener->uv.tcp, (struct sockaddr *)&socket, &bytes);
    if (err != 0)
        return err;
    struct http_address ip;
    char text[HTTP_PEER_TEXT_MAX];
    ASSERT(http_peer_from_socket(&ip, (const struct sockaddr *)&socket));
    (void)http_peer_print(&ip, text);
    const bool is_six = strchr(text, ':') != NULL;
    /* The port has the same offset in both kinds of address. */
    buf_addf(bound, is_six ? "http://[%s]:%u" : "http://%s:%u", text,
             (unsigned)ntohs(((const struct sockaddr_in *)(const void *)&socket)->sin_port));
    return 0;
}

/* libuv has a flag for this since 1.49 only. It asks for SO_REUSEADDR by itself when it binds. */
static int share_port(struct http_listener *listener, int family)
{
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    const int on = 1;
    int err = setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0
                  ? uv_tcp_open(&listener->uv.tcp, fd)
                  : uv_translate_sys_error(errno);
    if (err != 0)
        (void)close(fd);
    return err;
}

static int open_tcp(struct http_listener *listener, const char *address, struct buf *bound)
{
    struct sockaddr_storage socket = {0};
    int err = parse_tcp(address, &socket);
    if (err == 0 && listener->server->options.shares_ports)
        err = share_port(listener, socket.ss_family);
    if (err == 0)
        err = uv_tcp_bind(&listener->uv.tcp, (const struct sockaddr *)&socket, 0);
    return err == 0 ? start_tcp(listener, bound) : err;
}

/* Removes a socket file whose process has died, which refuses connections; a live one must stay. */
static int clear_path(const struct sockaddr_un *name)
{
    struct stat found;
    if (lstat(name->sun_path, &found) != 0)
        return 0;
    if (!S_ISSOCK(found.st_mode))
        return UV_EEXIST;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    const int err = connect(fd, (const struct sockaddr *)name, sizeof *name) == 0 ? 0 : errno;
    (void)close(fd);
    if (err != ECONNREFUSED)
        return UV_EADDRINUSE;
    return unlink(name->sun_path) == 0 ? 0 : uv_translate_sys_error(errno);
}

/* The mode is set before the name exists, so that nobody can connect in between; the second call
 * only restores the bits that the umask removed. */
static int bind_path(int fd, const struct sockaddr_un *name, struct http_listener *listener)
{
    struct stat made;
    if (fchmod(fd, SOCKET_MODE) != 0 ||
        bind(fd, (const struct sockaddr *)name, sizeof *name) != 0 ||
        chmod(name->sun_path, SOCKET_MODE) != 0 || lstat(name->sun_path, &made) != 0)
        return uv_translate_sys_error(errno);
    listener->device = made.st_dev;
    listener->inode = made.st_ino;
    return uv_pipe_open(&listener->uv.pipe, fd);
}

static int open_unix(struct http_listener *listener, const char *path, struct buf *bound)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (*path == '\0' || strlen(path) >= sizeof name.sun_path)
        return UV_ENAMETOOLONG;
    memcpy(name.sun_path, path, strlen(path));
    int err = clear_path(&name);
    if (err != 0)
        return err;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    err = bind_path(fd, &name, listener);
    if (err != 0) {
        (void)close(fd);
        return err;
    }
    buf_addf(bound, "unix:%s", path);
    return uv_listen(&listener->uv.stream, BACKLOG, on_connection);
}

/* Takes a socket from the service manager, which made its path, if it has one, and removes it. */
static int open_passed(struct http_listener *listener, int fd, struct buf *bound)
{
    if (fd < 0)
        return UV_EINVAL;
    if (!listener->is_unix) {
        const int err = uv_tcp_open(&listener->uv.tcp, fd);
        return err == 0 ? start_tcp(listener, bound) : err;
    }
    struct sockaddr_un name = {0};
    socklen_t bytes = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
        return uv_translate_sys_error(errno);
    const int err = uv_pipe_open(&listener->uv.pipe, fd);
    const bool is_abstract = name.sun_path[0] == '\0';
    buf_addf(bound, "unix:%s%.*s", is_abstract ? "@" : "",
             (int)(sizeof name.sun_path - is_abstract), name.sun_path + is_abstract);
    return err == 0 ? uv_listen(&listener->uv.stream, BACKLOG, on_connection) : err;
}

static bool fd_is_unix(int fd)
{
    int domain = 0;
    socklen_t bytes = sizeof domain;
    return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 &&
           domain == AF_UNIX;
}

/* path names a socket file to be made, or is NULL. */
static struct http_listener *listener_new(struct http_server *server, bool is_unix,
                                          const char *path)
{
    struct http_listener *listener = calloc(1, sizeof *listener);
    ASSERT(listener != NULL);
    listener->server = server;
    listener->is_unix = is_unix;
    listener->path = path == NULL ? NULL : strdup(path);
    ASSERT(path == NULL || listener->path != NULL);
    const int err = is_unix ? uv_pipe_init(server->loop, &listener->uv.pipe, 0)
                            : uv_tcp_init(server->loop, &listener->uv.tcp);
    ASSERT(err == 0);
    list_append(&server->listeners, &listener->link);
    server->handles++;
    return listener;
}

static int err_of(int uv_code)
{
    switch (uv_code) {
    case 0:
        return 0;
    case UV_EINVAL:
    case UV_ENAMETOOLONG:
        return ERR_INVALID;
    case UV_EADDRINUSE:
    case UV_EEXIST:
        return ERR_BUSY;
    default:
        return ERR_IO;
    }
}

int http_server_listen(struct http_server *server, const char *address, struct buf *bound,
                       struct buf *mistake)
{
    const char *const path = strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
    unsigned long long passed = 0;
    const struct slice whole = slice_from(address);
    const bool is_passed =
        slice_starts_with(whole, SLICE_OF("fd:")) && slice_to_u64(slice_skip(whole, 3), &passed);
    const int fd = is_passed && passed <= INT_MAX ? (int)passed : -1;
    struct http_listener *listener = listener_new(server, path != NULL || fd_is_unix(fd), path);
    const int code = path != NULL ? open_unix(listener, path, bound)
                     : is_passed  ? open_passed(listener, fd, bound)
                                  : open_tcp(listener, address, bound);
    if (code == 0)
        return 0;
    buf_addf(mistake, "cannot listen on %s: %s", address, uv_strerror(code));
    listener->is_closing = true;
    uv_close(&listener->uv.handle, on_closed);
    return err_of(code);
}
