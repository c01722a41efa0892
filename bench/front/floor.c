/* What a storm costs at least: one send() to each of many connections over loopback, and nothing else.
 *
 *     front-floor COUNT BYTES
 *
 * Prints the milliseconds. Most of them are the kernel's, which also receives here what it sends. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX 4096

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
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

static int listen_here(struct sockaddr_in *address)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    socklen_t len = sizeof(*address);
    *address = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (listener < 0 || bind(listener, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
        listen(listener, 4096) != 0 || getsockname(listener, (struct sockaddr *)address, &len) != 0)
        die("listen");
    return listener;
}

/* The callers: a process of their own, so that each side has its own descriptors. */
static pid_t start_callers(const struct sockaddr_in *address, unsigned count)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    for (unsigned i = 0; i < count; i++) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
            write(fd, "x", 1) != 1)
            die("connect");
    }
    for (;;)
        (void)pause();
}

int main(int argc, char **argv)
{
    static char bytes[BYTES_MAX];
    struct sockaddr_in address;
    const unsigned count = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    const size_t len = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (count == 0 || len == 0 || len > BYTES_MAX) {
        fputs("usage: front-floor COUNT BYTES\n", stderr);
        return 64;
    }
    raise_file_limit();
    const int listener = listen_here(&address);
    const pid_t callers = start_callers(&address, count);
    int *const fds = calloc(count, sizeof(*fds));
    if (callers < 0 || fds == NULL)
        die("fork");
    memset(bytes, 'x', sizeof(bytes));
    for (unsigned i = 0; i < count; i++) {
        char one;
        fds[i] = accept(listener, NULL, NULL);
        if (fds[i] < 0 || read(fds[i], &one, 1) != 1)
            die("accept");
    }
    const double start_ms = now_ms();
    for (unsigned i = 0; i < count; i++)
        if (send(fds[i], bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len)
            die("send");
    printf("%.3f\n", now_ms() - start_ms);
    free(fds);
    (void)kill(callers, SIGKILL);
    (void)waitpid(callers, NULL, 0);
    return 0;
}
