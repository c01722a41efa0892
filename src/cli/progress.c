#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_AFTER_MS 1000

uint64_t progress_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void progress_start(struct progress *progress, const char *what)
{
    *progress = (struct progress){.what = isatty(STDERR_FILENO) == 1 ? what : NULL,
                                  .started_ms = progress_now_ms()};
}

void progress_tick(struct progress *progress)
{
    const uint64_t spent = progress_now_ms() - progress->started_ms;
    if (progress->what == NULL || spent < SHOWN_AFTER_MS)
        return;
    (void)fprintf(stderr, "\r%s, %u s\x1b[K", progress->what, (unsigned)(spent / 1000));
    (void)fflush(stderr);
    progress->is_shown = true;
}

void progress_stop(struct progress *progress)
{
    if (progress->is_shown)
        (void)fputs("\r\x1b[K", stderr);
    progress->is_shown = false;
}
