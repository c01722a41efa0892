/* Views that update repeatedly: a screen that redraws itself, or a snapshot per interval. */
#ifndef SOLVEGATE_CLI_WATCH_H
#define SOLVEGATE_CLI_WATCH_H

#include "cli/remote.h"
#include "cli/term.h"

#define WATCH_FLAGS                                  \
    {.letter = 'n',                                  \
     .name = "count",                                \
     .value_name = "N",                              \
     .help = "leave after this many looks (never)"}, \
        {.name = "interval", .value_name = "DURATION", .help = "time between two looks (1s)"}

struct watch {
    uint64_t interval_ms;
    uint64_t count; /* 0: for ever */
    struct remote *remote;
    void *context;
    /* Fetches from the gateway; returns EX_OK, or on the first call an exit code after telling why
     * on stderr. Later failures are for write to show. */
    int (*update)(void *context, bool is_first);
    /* Writes the view; size.columns is 0 if there is no terminal: then nothing is cut. */
    void (*write)(void *context, struct buf *out, struct term_size size);
    /* A key that is none of the screen's own; true to update at once. May be NULL. */
    bool (*press)(void *context, int key);
};

/* CLI_ARG if the flag is one of ours, CLI_WRONG if its value is invalid, else CLI_END. */
enum cli_result watch_take_flag(const struct command *command, struct watch *watch,
                                const struct cli_arg *arg);

/* Runs until q, a signal or the count; returns the exit code. */
int watch_run(struct watch *watch);

#endif
