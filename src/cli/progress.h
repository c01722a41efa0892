/* A line on the terminal that names a pending operation once it takes longer than a second. */
#ifndef SOLVEGATE_CLI_PROGRESS_H
#define SOLVEGATE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* borrowed: the name of the operation; NULL: nothing is shown */
    uint64_t started_ms;
    bool is_shown;
};

/* Milliseconds of a monotonic clock. */
uint64_t progress_now_ms(void);

/* Stays silent if standard error is not a terminal. */
void progress_start(struct progress *progress, const char *what);
/* Call it a few times a second. */
void progress_tick(struct progress *progress);
/* Erases the line, so that the next output begins in the first column. */
void progress_stop(struct progress *progress);

#endif
