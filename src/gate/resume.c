#include "gate/resume.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

struct resume {
    uv_poll_t poll;
    int fd;
};

/* timerfd_create(2): a timer of the wall clock with TFD_TIMER_CANCEL_ON_SET becomes readable when
 * that clock jumps against CLOCK_MONOTONIC, as it does when the machine wakes up. The timer itself
 * never expires. */
static bool arm(int fd)
{
    /* The year 2255, which the kernel's nanoseconds can still represent. */
    const struct itimerspec never = {.it_value = {.tv_sec = (time_t)9000000000}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0;
}

/* Only arms the timer again: the turn of the loop that this begins reads the clocks. */
static void on_jump(uv_poll_t *poll, int status, int events)
{
    const struct resume *resume = poll->data;
    uint64_t count;
    (void)events;
    const ssize_t unused = status == 0 ? read(resume->fd, &count, sizeof count) : 0;
    (void)unused;
    if (status != 0 || !arm(resume->fd))
        (void)uv_poll_stop(poll);
}

struct resume *resume_new(struct uv_loop_s *loop)
{
    const int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct resume *resume = calloc(1, sizeof *resume);
    ASSERT(resume != NULL);
    resume->fd = fd;
    const int err = uv_poll_init(loop, &resume->poll, fd);
    ASSERT(err == 0);
    resume->poll.data = resume;
    uv_unref((uv_handle_t *)&resume->poll);
    if (arm(fd))
        (void)uv_poll_start(&resume->poll, UV_READABLE, on_jump);
    return resume;
}

static void on_closed(uv_handle_t *handle)
{
    struct resume *resume = handle->data;
    (void)close(resume->fd);
    free(resume);
}

void resume_close(struct resume *resume)
{
    if (resume != NULL)
        uv_close((uv_handle_t *)&resume->poll, on_closed);
}
