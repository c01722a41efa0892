/* Fires calls over connections that stay open, one at a time on each, until all are answered.
 *
 *     callbacks-load PORT CONNECTIONS callbacks FILE ACKED   each line of FILE: PATH ID; all must be 200
 *     callbacks-load PORT CONNECTIONS forged COUNT SEED      random nonces; all must be 404
 *     callbacks-load PORT CONNECTIONS get COUNT PATH         the same call again and again; all must be 200
 *
 * Prints one line of JSON. Whoever was acknowledged is written to ACKED, also when the other side dies meanwhile. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
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

#define EVENTS 512
#define REQUEST_MAX 1536
#define REPLY_MAX 2048
/* As long as a Turnstile token. */
#define TOKEN_CHARS 500
#define NONCE_CHARS 56
#define STUCK_MS 30000

struct conn {
    int fd;
    uint32_t call; /* which is on it */
    int64_t sent_ns;
    size_t len; /* of what has arrived */
    char reply[REPLY_MAX];
};

struct target {
    char path[128];
    char id[40];
    bool is_acked;
};

struct load {
    int epoll;
    uint32_t connections, open;
    uint32_t count, next, good, bad;
    int wanted;       /* status */
    const char *path; /* of get */
    uint64_t random;
    struct target *targets; /* owned; of callbacks */
    struct conn *conns;     /* owned */
    uint32_t *took_us;      /* owned, by order of arrival */
    char filler[TOKEN_CHARS + 1];
    char first_bad[200];
};

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- what is asked ----------------------------------------------------------------------- */

/* splitmix64: each number costs next to nothing, so that the load is not what is measured. */
static uint64_t draw(struct load *load)
{
    uint64_t z = load->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Three of four look right; the others are too short, too long or empty. */
static int write_forged(struct load *load, char *out)
{
    static const char digits[] = "0123456789abcdef";
    char nonce[2 * NONCE_CHARS + 1];
    const size_t len = draw(load) % 4 != 0 ? NONCE_CHARS : draw(load) % (sizeof(nonce) - 1);
    for (size_t i = 0; i < len; i += 16) {
        uint64_t bits = draw(load);
        for (size_t j = i; j < i + 16 && j < len; j++, bits >>= 4)
            nonce[j] = digits[bits & 15];
    }
    nonce[len] = '\0';
    return snprintf(out, REQUEST_MAX,
                    "GET /pingback/%s?id=%llu&code=FORGED HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    nonce, (unsigned long long)(draw(load) % 1000000000));
}

static int write_callback(const struct load *load, const struct target *target, char *out)
{
    return snprintf(out, REQUEST_MAX,
                    "GET %s?id=%s&code=TOKEN_%s_%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    target->path, target->id, target->id, load->filler);
}

static void send_next(struct load *load, struct conn *conn)
{
    char request[REQUEST_MAX];
    int len;
    conn->call = load->next++;
    conn->len = 0;
    if (load->targets != NULL)
        len = write_callback(load, &load->targets[conn->call], request);
    else if (load->path != NULL)
        len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       load->path);
    else
        len = write_forged(load, request);
    conn->sent_ns = now_ns();
    /* One that was closed meanwhile is noticed when it is read from. */
    const ssize_t sent = send(conn->fd, request, (size_t)len, MSG_NOSIGNAL);
    if (sent >= 0 ? sent != len : errno != EPIPE && errno != ECONNRESET)
        die("send");
}

/* ---- what is answered -------------------------------------------------------------------- */

/* Everybody here announces the length of a reply. */
static bool is_whole(struct conn *conn)
{
    conn->reply[conn->len] = '\0';
    const char *const body = strstr(conn->reply, "\r\n\r\n");
    const char *const length = strcasestr(conn->reply, "\r\ncontent-length:");
    if (body == NULL || length == NULL)
        return false;
    return conn->len - (size_t)(body + 4 - conn->reply) >= strtoul(length + 17, NULL, 10);
}

static void close_conn(struct load *load, struct conn *conn)
{
    (void)close(conn->fd);
    conn->fd = -1;
    load->open--;
}

static void take_reply(struct load *load, struct conn *conn)
{
    load->took_us[load->good + load->bad] = (uint32_t)((now_ns() - conn->sent_ns) / 1000);
    if (strtol(conn->reply + 9, NULL, 10) == load->wanted) {
        load->good++;
        if (load->targets != NULL)
            load->targets[conn->call].is_acked = true;
    } else if (load->bad++ == 0) {
        (void)snprintf(load->first_bad, sizeof(load->first_bad), "%.*s",
                       (int)strcspn(conn->reply, "\r\n\"\\"), conn->reply);
    }
    if (load->next < load->count)
        send_next(load, conn);
    else
        close_conn(load, conn);
}

static void on_readable(struct load *load, struct conn *conn)
{
    const ssize_t len =
        recv(conn->fd, conn->reply + conn->len, REPLY_MAX - 1 - conn->len, MSG_DONTWAIT);
    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0) {
        close_conn(load, conn);
        return;
    }
    conn->len += (size_t)len;
    if (is_whole(conn))
        take_reply(load, conn);
}

/* ---- all of it --------------------------------------------------------------------------- */

static void open_all(struct load *load, uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int on = 1;
    load->epoll = epoll_create1(0);
    load->conns = calloc(load->connections, sizeof(*load->conns));
    if (load->epoll < 0 || load->conns == NULL)
        die("epoll_create1");
    for (; load->open < load->connections; load->open++) {
        struct conn *conn = &load->conns[load->open];
        conn->fd = socket(AF_INET, SOCK_STREAM, 0);
        /* A blocking connect to a listener on this machine is over at once. */
        if (conn->fd < 0 ||
            connect(conn->fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
            setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
            die("connect");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
        if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, conn->fd, &event) != 0)
            die("epoll_ctl");
    }
}

static void fire(struct load *load)
{
    struct epoll_event events[EVENTS];
    for (uint32_t i = 0; i < load->connections; i++)
        send_next(load, &load->conns[i]);
    while (load->open > 0) {
        const int ready = epoll_wait(load->epoll, events, EVENTS, STUCK_MS);
        if (ready == 0) {
            fputs("callbacks-load: nothing was answered for 30 s\n", stderr);
            exit(1);
        }
        if (ready < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < ready; i++)
            on_readable(load, events[i].data.ptr);
    }
}

static int compare_us(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void print_figures(struct load *load, double seconds)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    const uint32_t answered = load->good + load->bad;
    qsort(load->took_us, answered, sizeof(*load->took_us), compare_us);
    printf("{\"sent\": %u, \"good\": %u, \"bad\": %u, \"seconds\": %.6f, \"p50_us\": %u, "
           "\"p99_us\": %u, "
           "\"first_bad\": \"%s\"}\n",
           (unsigned)load->next, (unsigned)load->good, (unsigned)load->bad, seconds,
           answered == 0 ? 0 : (unsigned)load->took_us[answered / 2],
           answered == 0 ? 0 : (unsigned)load->took_us[(uint64_t)answered * 99 / 100],
           load->first_bad);
}

static void read_targets(struct load *load, const char *path)
{
    char line[256];
    uint32_t room = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        die(path);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (load->count == room) {
            room = room == 0 ? 4096 : room * 2;
            struct target *more = realloc(load->targets, room * sizeof(*more));
            if (more == NULL)
                die("realloc");
            load->targets = more;
        }
        struct target *target = &load->targets[load->count++];
        line[strcspn(line, "\n")] = '\0';
        char *const gap = strchr(line, ' ');
        if (gap == NULL || gap - line >= (int)sizeof(target->path) ||
            strlen(gap + 1) >= sizeof(target->id)) {
            fprintf(stderr, "callbacks-load: %s has a line that is not PATH ID\n", path);
            exit(64);
        }
        *gap = '\0';
        target->is_acked = false;
        memcpy(target->path, line, (size_t)(gap - line) + 1);
        memcpy(target->id, gap + 1, strlen(gap + 1) + 1);
    }
    (void)fclose(file);
}

static void write_acked(const struct load *load, const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        die(path);
    for (uint32_t i = 0; i < load->count; i++) {
        if (load->targets[i].is_acked)
            fprintf(file, "%s\n", load->targets[i].id);
    }
    if (fclose(file) != 0)
        die(path);
}

static bool understand(struct load *load, char **words)
{
    load->wanted = 200;
    load->count = (uint32_t)strtoul(words[1], NULL, 10);
    if (strcmp(words[0], "callbacks") == 0) {
        load->count = 0;
        read_targets(load, words[1]);
    } else if (strcmp(words[0], "forged") == 0) {
        load->wanted = 404;
        load->random = strtoull(words[2], NULL, 10);
    } else if (strcmp(words[0], "get") == 0) {
        load->path = words[2];
    } else {
        return false;
    }
    if (load->connections > load->count)
        load->connections = load->count;
    return load->connections > 0;
}

int main(int argc, char **argv)
{
    struct load load = {.epoll = -1};
    if (argc == 6)
        load.connections = (uint32_t)strtoul(argv[2], NULL, 10);
    if (argc != 6 || !understand(&load, argv + 3)) {
        fputs("usage: see the head of bench/callbacks/load.c\n", stderr);
        return 64;
    }
    memset(load.filler, 'x', TOKEN_CHARS);
    load.took_us = calloc(load.count, sizeof(*load.took_us));
    if (load.took_us == NULL)
        die("calloc");
    open_all(&load, (uint16_t)strtoul(argv[1], NULL, 10));
    const int64_t started_ns = now_ns();
    fire(&load);
    print_figures(&load, (double)(now_ns() - started_ns) / 1e9);
    if (load.targets != NULL)
        write_acked(&load, argv[5]);
    free(load.targets);
    free(load.conns);
    free(load.took_us);
    return 0;
}
