/* A line on the terminal that says what is awaited, once that takes longer than a second. */
#ifndef SOLVEGATE_CLI_PROGRESS_H
#define SOLVEGATE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* borrowed, or NULL: nothing is shown */
    uint64_t started_ms;
    bool is_shown;
};

/* Of a clock that never jumps. */
uint64_t progress_now_ms(void);

/* Silent where standard error is no terminal. */
void progress_start(struct progress *progress, const char *what);
/* To be called a few times a second. */
void progress_tick(struct progress *progress);
/* Takes the line away, so that what follows begins in the first column. */
void progress_stop(struct progress *progress);

#endif
