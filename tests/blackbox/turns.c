/* Preloaded: measures the turns of the program's loop. $TURNS_FILE begins with two numbers of 64 bits, the processor
 * time in nanoseconds of the longest turn and of all together; whoever writes zeros there begins anew. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct turns {
    uint64_t longest_ns, all_ns;
} *turns;
static uint64_t since_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void open_file(void)
{
    const char *path = getenv("TURNS_FILE");
    const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *shared = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        abort();
    turns = shared;
    (void)close(fd);
}

/* The main thread is the loop's; libcurl and the store have theirs. */
static void end_turn(void)
{
    if (getpid() != (pid_t)syscall(SYS_gettid))
        return;
    if (turns == NULL)
        open_file();
    const uint64_t turn_ns = now_ns() - since_ns;
    turns->all_ns += turn_ns;
    if (turn_ns > turns->longest_ns)
        turns->longest_ns = turn_ns;
}

static void begin_turn(void)
{
    if (getpid() == (pid_t)syscall(SYS_gettid))
        since_ns = now_ns();
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    end_turn();
    const int count = (int)syscall(SYS_epoll_pwait, fd, events, most, timeout, mask, _NSIG / 8);
    begin_turn();
    return count;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    return epoll_pwait(fd, events, most, timeout, NULL);
}
