/* Preloaded: while $HOLD_FILE exists, every thread but the first waits before it reads a file, as on a file system that
 * stalls. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

ssize_t read(int fd, void *bytes, size_t len)
{
    const char *hold = getenv("HOLD_FILE");
    const struct timespec pause = {.tv_nsec = 10000000};
    while (hold != NULL && getpid() != (pid_t)syscall(SYS_gettid) && access(hold, F_OK) == 0)
        (void)nanosleep(&pause, NULL);
    return syscall(SYS_read, fd, bytes, len);
}
