/* Sends one request on each of many connections, waits for all answers and prints when they came.
 *
 *     front-storm PORT COUNT < REQUEST
 *
 * Prints "held" when all are sent, and in the end one line of JSON. Moments are CLOCK_MONOTONIC, so that
 * the caller can compare them with its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX 4096
#define REPLY_MAX 8192
#define EVENTS 512
#define PATIENCE_MS 30000

struct storm {
    int epoll;
    unsigned count;
    unsigned answered;
    unsigned bad;
    int64_t first_ns;
    int64_t last_ns;
    char request[REQUEST_MAX];
    size_t request_bytes;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        die("getrlimit");
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

/* A blocking connect to a listener on this machine is over at once. */
static void open_one(struct storm *storm, const struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
        die("connect");
    if (write(fd, storm->request, storm->request_bytes) != (ssize_t)storm->request_bytes)
        die("write");
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = fd};
    if (epoll_ctl(storm->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

/* Replies are short and come in one piece; anything else counts as bad and would be seen. */
static bool is_whole(char *reply, size_t len)
{
    reply[len] = '\0';
    const char *length = strstr(reply, "Content-Length: ");
    const char *body = strstr(reply, "\r\n\r\n");
    return strncmp(reply, "HTTP/1.1 200 ", 13) == 0 && length != NULL && body != NULL &&
           strtoul(length + 16, NULL, 10) == len - (size_t)(body + 4 - reply);
}

static void read_one(struct storm *storm, int fd)
{
    char reply[REPLY_MAX];
    const ssize_t len = recv(fd, reply, sizeof(reply) - 1, 0);
    storm->last_ns = now_ns();
    if (storm->answered++ == 0)
        storm->first_ns = storm->last_ns;
    if (len <= 0 || !is_whole(reply, (size_t)len))
        storm->bad++;
}

/* Sleeps until the first answer and not after it: to wake us up for each would cost the server more than
 * to send it, and in the real world its callers are ten thousand machines. */
static void read_all(struct storm *storm)
{
    struct epoll_event events[EVENTS];
    while (storm->answered < storm->count) {
        const bool is_begun = storm->answered > 0;
        if (is_begun && now_ns() - storm->first_ns > PATIENCE_MS * INT64_C(1000000))
            return;
        const int ready = epoll_wait(storm->epoll, events, EVENTS, is_begun ? 0 : PATIENCE_MS);
        if (ready < 0 && errno != EINTR)
            die("epoll_wait");
        if (ready == 0 && !is_begun)
            return;
        for (int i = 0; i < ready; i++)
            read_one(storm, events[i].data.fd);
    }
}

int main(int argc, char **argv)
{
    static struct storm storm;
    if (argc != 3) {
        fputs("usage: front-storm PORT COUNT < REQUEST\n", stderr);
        return 64;
    }
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    storm.count = (unsigned)strtoul(argv[2], NULL, 10);
    storm.request_bytes = fread(storm.request, 1, sizeof(storm.request), stdin);
    storm.epoll = epoll_create1(0);
    raise_file_limit();
    for (unsigned i = 0; i < storm.count; i++)
        open_one(&storm, &address);
    puts("held");
    fflush(stdout);
    read_all(&storm);
    printf("{\"answered\": %u, \"bad\": %u, \"first_ns\": %lld, \"last_ns\": %lld}\n",
           storm.answered, storm.bad, (long long)storm.first_ns, (long long)storm.last_ns);
    fflush(stdout);
    /* The caller now reads the server's CPU time; closing is not to be part of it. */
    usleep(200000);
    return 0;
}
